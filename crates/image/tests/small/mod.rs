//! A small drive, commands for it, and what they should leave.

use std::collections::BTreeMap;

use drivelab_controller::{Command, Completion, Op};
use drivelab_image::{HostData, ImageDrive, ModelTexts};
use drivelab_sim::Stream;

/// Sectors of the small drive.
pub const SECTORS: u64 = 512;
/// Bytes of a sector.
pub const SECTOR: usize = 512;

/// A page map over two dies; `overrides` change it.
pub fn texts(overrides: &[(&str, &str)]) -> ModelTexts {
    let text = "
        name = 'small'
        title = 'Small drive'
        user_capacity_bytes = 262144
        [flash]
        channel_count = 2
        dies_per_channel = 1
        planes_per_die = 1
        blocks_per_plane = 12
        pages_per_block = 8
        page_bytes = 4096
        read_ns = 50000
        program_ns = 250000
        erase_ns = 1500000
        bus_bytes_per_s = 40000000
        [ftl]
        map_unit_bytes = 4096
        [link]
        bytes_per_s = 250000000
        [write_buffer]
        size_bytes = 32768
    ";
    let mut texts = ModelTexts::default();
    texts.layers.push((text.to_owned(), "small.toml".to_owned()));
    let pairs = overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
    texts.overrides.extend(pairs);
    texts
}

/// What makes it one with an SLC cache, a part of which is always of it.
pub const SLC_CACHE: &[(&str, &str)] = &[
    ("flash.cell", "mlc"),
    ("flash.one_shot", "true"),
    ("flash.slc_read_ns", "20000"),
    ("flash.slc_program_ns", "100000"),
    ("slc_cache.max_bytes", "98304"),
    ("slc_cache.static_bytes", "32768"),
];

/// Data of commands on their way, by tag.
#[derive(Clone, Default)]
pub struct Host {
    data: BTreeMap<u32, Vec<u8>>,
}

impl Host {
    /// A write's data, or a place for a read's.
    pub fn submitted(&mut self, command: &Command, data: Vec<u8>) {
        self.data.insert(command.tag, data);
    }

    /// A command is done.
    pub fn completed(&mut self, tag: u32) -> Vec<u8> {
        self.data.remove(&tag).unwrap_or_default()
    }
}

fn range(offset: u32, count: u32) -> std::ops::Range<usize> {
    offset as usize * SECTOR..(offset + count) as usize * SECTOR
}

impl HostData for Host {
    fn written(&self, tag: u32, offset: u32, count: u32) -> Option<&[u8]> {
        self.data.get(&tag)?.get(range(offset, count))
    }

    fn to_read(&mut self, tag: u32, offset: u32, count: u32) -> Option<&mut [u8]> {
        self.data.get_mut(&tag)?.get_mut(range(offset, count))
    }
}

/// Sectors that each say which one they are, and of which version.
pub fn sectors(lba: u64, count: u32, version: u64) -> Vec<u8> {
    let sector = |lba: u64| {
        let mut sector = [version as u8; SECTOR];
        sector[..8].copy_from_slice(&lba.to_le_bytes());
        sector[8..16].copy_from_slice(&version.to_le_bytes());
        sector
    };
    (lba..lba + u64::from(count)).flat_map(sector).collect()
}

/// The version that a sector says it is; 0: zeros. Panics if it is torn, or another sector.
pub fn version(lba: u64, sector: &[u8]) -> u64 {
    if sector.iter().all(|&byte| byte == 0) {
        return 0;
    }
    let version = u64::from_le_bytes(sector[8..16].try_into().unwrap());
    assert_eq!(sector, sectors(lba, 1, version), "sector {lba} is torn, or another one");
    version
}

/// Random commands, all kinds, of versions from 1 on.
pub fn commands(seed: u64, count: u32) -> Vec<Command> {
    let mut random = Stream::new(seed, 1);
    (1..=count)
        .map(|tag| {
            let lba = random.below(SECTORS);
            let sectors = (1 + random.below(20)).min(SECTORS - lba) as u32;
            match random.below(16) {
                0..=9 => Command::new(tag, Op::Write, lba, sectors),
                10 => Command { fua: true, ..Command::new(tag, Op::Write, lba, sectors) },
                11 => Command::new(tag, Op::Trim, lba, (SECTORS - lba).min(64) as u32),
                12 | 13 => Command::new(tag, Op::Flush, 0, 0),
                _ => Command::new(tag, Op::Read, lba, sectors),
            }
        })
        .collect()
}

/// Carries out one command and waits for it; gives a read's data.
pub fn run(drive: &mut ImageDrive, host: &mut Host, command: Command) -> Vec<u8> {
    let data = match command.op {
        Op::Write => sectors(command.lba, command.sector_count, u64::from(command.tag)),
        Op::Read => vec![0xEE; command.sector_count as usize * SECTOR],
        Op::Flush | Op::Trim => Vec::new(),
    };
    host.submitted(&command, data);
    let now_ns = drive.drive_now_ns();
    let written = host.written(command.tag, 0, command.sector_count).unwrap_or(&[]).to_vec();
    drive.submit(now_ns, command, &written).unwrap();
    let mut done: Vec<Completion> = Vec::new();
    while done.is_empty() {
        let event_ns = drive.next_event().expect("the drive answers");
        drive.advance(event_ns, host, &mut done).unwrap();
    }
    assert_eq!((done.len(), done[0].tag), (1, command.tag));
    host.completed(command.tag)
}

/// All sectors of a drive.
pub fn read_all(drive: &mut ImageDrive) -> Vec<u8> {
    let host = &mut Host::default();
    let read = |lba: u64| run(drive, host, Command::new(0, Op::Read, lba, 64));
    (0..SECTORS).step_by(64).flat_map(read).collect()
}
