//! What arrays of the oracle are made of: flash drives, arrays, a device that does one thing at a time.

use drivelab_controller::{
    BufferConfig, BufferEviction, CleaningPace, Command, CommandError, Completion, ControllerConfig, Device,
    DieAllocation, FirmwareConfig, GovernorConfig, LatencySplit, LinkConfig, Op, Outcome, PowerConfig,
    SchedulingConfig, SolidStateDrive, SubmissionConfig,
};
use drivelab_drive::Raid0;
use drivelab_ftl::{CleaningMode, FtlConfig, PageMap, VictimSelection};
use drivelab_nand::{FlashTiming, Geometry, UnitLayout};
use drivelab_sim::Nanos;

/// Does one thing at a time, each in the same time per sector, and remembers what it was asked for.
#[derive(Clone, Debug)]
pub struct Plain {
    stamps: Vec<u64>,
    sector_ns: Nanos,
    depth: u32,
    now_ns: Nanos,
    free_ns: Nanos,
    inside: Vec<Completion>,
    read: Vec<(u32, Vec<u64>)>,
    pub asked: Vec<Command>,
}

impl Plain {
    pub fn new(sectors: usize, sector_ns: Nanos, depth: u32) -> Self {
        let (inside, read, asked) = (Vec::new(), Vec::new(), Vec::new());
        Self { stamps: vec![0; sectors], sector_ns, depth, now_ns: 0, free_ns: 0, inside, read, asked }
    }
}

impl Device for Plain {
    fn capacity_sectors(&self) -> u64 {
        self.stamps.len() as u64
    }

    fn queue_depth(&self) -> u32 {
        self.depth
    }

    fn now_ns(&self) -> Nanos {
        self.now_ns
    }

    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        assert!(now_ns >= self.now_ns, "time runs back");
        assert!((self.inside.len() as u32) < self.depth, "queue full");
        assert!(command.lba + u64::from(command.sector_count) <= self.capacity_sectors());
        self.now_ns = now_ns;
        let range = command.lba as usize..(command.lba + u64::from(command.sector_count)) as usize;
        match command.op {
            Op::Read => self.read.push((command.tag, self.stamps[range].to_vec())),
            Op::Write => {
                self.stamps[range].iter_mut().zip(command.stamp..).for_each(|(place, stamp)| *place = stamp);
            }
            Op::Trim => self.stamps[range].fill(0),
            Op::Flush => {}
        }
        let flash_ns = self.sector_ns * u64::from(command.sector_count);
        let begun_ns = self.free_ns.max(now_ns);
        self.free_ns = begun_ns + flash_ns;
        self.inside.push(Completion {
            tag: command.tag,
            op: command.op,
            outcome: Outcome::Done,
            sector_count: command.sector_count,
            submitted_ns: now_ns,
            completed_ns: self.free_ns,
            split: LatencySplit { flash_ns, queueing_ns: begun_ns - now_ns, ..LatencySplit::default() },
        });
        self.asked.push(command);
        Ok(())
    }

    fn next_event(&mut self) -> Option<Nanos> {
        self.inside.first().map(|first| first.completed_ns)
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        let count = self.inside.iter().take_while(|entry| entry.completed_ns <= until_ns).count();
        done.extend(self.inside.drain(..count));
        self.now_ns = self.now_ns.max(until_ns);
    }
}

/// A member of any kind.
#[derive(Clone, Debug)]
pub enum Member {
    Plain(Plain),
    Flash(Box<SolidStateDrive<PageMap>>),
    Array(Box<Raid0<Member>>),
}

impl Member {
    pub fn keep_stamps(&mut self) {
        match self {
            Self::Plain(_) => {}
            Self::Flash(ssd) => ssd.keep_stamps(),
            Self::Array(array) => array.keep_member_stamps(Self::keep_stamps),
        }
    }

    pub fn take_read_stamps(&mut self) -> Vec<(u32, Vec<u64>)> {
        match self {
            Self::Plain(plain) => std::mem::take(&mut plain.read),
            Self::Flash(ssd) => ssd.take_read_stamps(),
            Self::Array(array) => array.take_member_stamps(Self::take_read_stamps),
        }
    }

    pub fn secure_erase(&mut self) {
        match self {
            Self::Plain(plain) => plain.stamps.fill(0),
            Self::Flash(ssd) => assert_eq!(ssd.secure_erase(), []),
            Self::Array(array) => assert_eq!(array.erase_members(Self::secure_erase), []),
        }
    }

    pub fn check(&self) {
        match self {
            Self::Plain(_) => {}
            Self::Flash(ssd) => ssd.check().unwrap(),
            Self::Array(array) => array.members().for_each(Self::check),
        }
    }
}

macro_rules! each {
    ($self:expr, $device:ident => $value:expr) => {
        match $self {
            Member::Plain($device) => $value,
            Member::Flash($device) => $value,
            Member::Array($device) => $value,
        }
    };
}

impl Device for Member {
    fn capacity_sectors(&self) -> u64 {
        each!(self, device => device.capacity_sectors())
    }

    fn queue_depth(&self) -> u32 {
        each!(self, device => device.queue_depth())
    }

    fn now_ns(&self) -> Nanos {
        each!(self, device => device.now_ns())
    }

    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        each!(self, device => device.submit(now_ns, command))
    }

    fn next_event(&mut self) -> Option<Nanos> {
        each!(self, device => device.next_event())
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        each!(self, device => device.advance(until_ns, done));
    }

    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        each!(self, device => device.advance_to_completion(until_ns, done));
    }
}

pub fn flash(unit_bytes: u32, write_back: bool) -> SolidStateDrive<PageMap> {
    let geometry = Geometry {
        channel_count: 2,
        dies_per_channel: 1,
        planes_per_die: 2,
        blocks_per_plane: 9,
        pages_per_block: 8,
        page_bytes: 4096,
        oob_bytes: 128,
        two_plane: false,
    };
    let layout = UnitLayout::new(geometry, unit_bytes).unwrap();
    let ftl = FtlConfig {
        user_units: layout.unit_count() * 3 / 10,
        victim_selection: VictimSelection::Greedy,
        choices: 2,
        window_blocks: 4,
        placement: drivelab_ftl::Placement::HostAndCleaning,
        hot_writes: 4,
        hint_streams: 5,
        cleaning_mode: CleaningMode::Relocate,
        superblock_blocks: 1,
        parity_stripe_pages: 0,
        held_word_lines: 0,
        cleaning_start_blocks: 2,
        cleaning_stop_blocks: 3,
        trim_supported: true,
        idle_cleaning_blocks: 4,
        wear_spread_limit: 4,
        journal_updates_per_page: 9,
        checkpoint_updates: 50,
        checkpoint_pages: 3,
        slc_cache: None,
        seed: 7,
    };
    let config = ControllerConfig {
        queue_depth: 4,
        submission: SubmissionConfig::default(),
        link: link(300_000_000),
        firmware: FirmwareConfig {
            cores: 1,
            read_ns: 10_000,
            write_ns: 12_000,
            trim_ns: 5_000,
            flush_ns: 1_000,
            pipeline_ns: 0,
            write_governor: GovernorConfig::default(),
        },
        buffer: BufferConfig {
            units: 20,
            write_back,
            coalesce: true,
            hold_ns: 500_000,
            capacitor: false,
            eviction: BufferEviction::Oldest,
            one_group: false,
        },
        scheduling: SchedulingConfig {
            die_allocation: DieAllocation::EarliestFree,
            programs_per_channel: 0,
            cleaning_pace: CleaningPace::Paced,
            cleaning_copies_at_once: 1,
            in_order: false,
            idle_delay_ns: 1_000_000,
            program_firmware_ns: 0,
            partial_unit_firmware_ns: 0,
            partial_units_at_once: 0,
            read_path_bytes_per_s: 0,
            write_path_bytes_per_s: 0,
            read_ahead_bytes: 0,
        },
        timing: FlashTiming {
            read_ns: 50_000,
            program_fast_ns: 300_000,
            program_slow_ns: 1_500_000,
            erase_ns: 2_000_000,
            command_ns: 4_000,
            decode_ns: 0,
            bus_bytes_per_s: 40_000_000,
            lockstep_channels: 1,
            hold_bus_while_reading: false,
        },
        word_lines: None,
        power: PowerConfig::default(),
    };
    SolidStateDrive::new(PageMap::new(layout, ftl).unwrap(), config).unwrap()
}

pub fn link(bytes_per_s: u64) -> LinkConfig {
    let link = LinkConfig { bytes_per_s, frame_bytes: 8192, ..LinkConfig::default() };
    LinkConfig { frame_overhead_ns: 2000, command_overhead_ns: 900, ..link }
}
