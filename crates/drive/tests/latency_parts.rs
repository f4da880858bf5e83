//! Where the time of commands went, on every shipped model: the parts are what their names say. They add up to the
//! latency though none of them is computed from it; firmware and link have what the parameters give them, to the
//! nanosecond; flash and arm never more than one command can need of them.

use crate::shipped;
use drivelab_controller::{
    Command, Completion, ControllerConfig, Device, LinkConfig, Op, SECTOR_BYTES, Scheduled, SolidStateDrive,
};
use drivelab_drive::{Drive, Engine, HardDisk, by_kind};
use drivelab_sim::Stream;

/// Sectors of the part of the drive that is used: enough for many blocks, a moment to write.
const AREA: u64 = 192 * 2048;

/// What the parameters of a drive allow a command's parts to be.
struct Limits {
    /// Firmware of a read, a write, a flush, a trim: exactly.
    firmware_ns: [u64; 4],
    /// Members, if it is an array: the link is theirs, and its own.
    link: LinkConfig,
    array_link: Option<LinkConfig>,
    is_array: bool,
    /// Most that flash (arm and media) works for a read, or for a write or flush that waits for it; and for one
    /// sector more.
    read_ns: u64,
    write_ns: u64,
    per_sector_ns: u64,
    /// Pieces of a read of flash, so long each, may have to come one after another.
    sectors_per_piece: Option<u64>,
    /// An acknowledged write needs neither flash nor arm.
    is_written_back: bool,
    cleans: bool,
}

impl Limits {
    fn of(engine: &Engine) -> Self {
        by_kind!(engine,
        flash => Self::of_flash(flash),
        disk => Self::of_disk(disk),
        array => {
            let members: Vec<_> = array.members().map(|member| Self::of(member.device())).collect();
            let driver_ns = array.config().driver_ns;
            Self {
                firmware_ns: members[0].firmware_ns.map(|member_ns| member_ns + driver_ns),
                array_link: array.config().link,
                is_array: true,
                read_ns: members.iter().map(|member| member.read_ns).max().unwrap(),
                write_ns: members.iter().map(|member| member.write_ns).max().unwrap(),
                ..members.into_iter().next().unwrap()
            }
        })
    }

    fn of_flash<M: Scheduled>(drive: &SolidStateDrive<M>) -> Self {
        let ControllerConfig { timing, scheduling, buffer, link, firmware, word_lines, .. } = *drive.config();
        let layout = drive.mapping().layout();
        let geometry = &layout.geometry;
        let planes = u64::from(geometry.fused_planes());
        let page_bus_ns = timing.bus_ns(u64::from(geometry.page_bytes + geometry.oob_bytes) * planes);
        let pages = u64::from(layout.pages_per_unit);
        // A page, or the pages of a unit, and before it a part of the map; then past error correction.
        let path_ns = drivelab_sim::time::transfer_ns(
            pages * u64::from(geometry.program_bytes()),
            scheduling.read_path_bytes_per_s,
        );
        let write_path_ns = drivelab_sim::time::transfer_ns(
            u64::from(geometry.program_bytes()),
            scheduling.write_path_bytes_per_s,
        );
        // A word line is sensed page by page, each kind on so many planes at once.
        let sense_ns = word_lines.map_or(timing.read_ns, |lines| {
            let times = u64::from(lines.page_types * lines.planes.div_ceil(lines.planes_at_once));
            times * (lines.read_ns.iter().max().unwrap() + timing.decode_ns)
        });
        let ops = [Op::Read, Op::Write, Op::Flush, Op::Trim];
        Self {
            firmware_ns: ops.map(|op| firmware.command_ns(op) + firmware.pipeline_ns),
            link,
            array_link: None,
            is_array: false,
            read_ns: (pages + 1) * (sense_ns + page_bus_ns) + path_ns,
            write_ns: pages * (page_bus_ns.max(write_path_ns) + timing.program_slow_ns),
            per_sector_ns: 0,
            sectors_per_piece: Some(u64::from(layout.sectors_per_unit)),
            is_written_back: buffer.write_back || buffer.capacitor,
            cleans: true,
        }
    }

    fn of_disk(disk: &HardDisk) -> Self {
        let config = disk.config();
        let arm = &config.arm;
        let revolution_ns = disk.geometry().revolution_ns();
        let sectors_min = disk.geometry().zones().iter().map(|zone| zone.sectors_per_track).min().unwrap();
        let move_ns = arm.full_stroke_ns + arm.head_switch_ns + arm.write_settle_ns;
        // It may begin and end in the middle of a track; of a long write every piece is reached on its own.
        let track_ns = move_ns + 2 * revolution_ns;
        let ops = [Op::Read, Op::Write, Op::Flush, Op::Trim];
        Self {
            firmware_ns: ops.map(|op| config.firmware.command_ns(op)),
            link: config.link,
            array_link: None,
            is_array: false,
            read_ns: 2 * track_ns,
            write_ns: 2 * track_ns,
            per_sector_ns: 2 * track_ns / u64::from(sectors_min.min(256)) + 1,
            sectors_per_piece: None,
            is_written_back: config.write_cache.write_back,
            cleans: false,
        }
    }

    /// What is wrong with the parts of a completion.
    fn fault(&self, completion: &Completion, fua: bool) -> Option<String> {
        let split = &completion.split;
        let (op, sectors) = (completion.op, u64::from(completion.sector_count));
        let of_op = [Op::Read, Op::Write, Op::Flush, Op::Trim].iter().position(|&other| other == op).unwrap();
        let moved = if matches!(op, Op::Read | Op::Write) { sectors * SECTOR_BYTES } else { 0 };
        let waits_for_flash = match op {
            Op::Read | Op::Flush => true,
            Op::Write => fua || !self.is_written_back,
            Op::Trim => false,
        };
        // One that begins and ends in the middle of a piece needs one more.
        let pieces = 1 + self.sectors_per_piece.map_or(0, |piece| sectors.saturating_sub(1).div_ceil(piece));
        let work_ns = if op == Op::Read { pieces * self.read_ns } else { self.write_ns };
        let most_ns = if waits_for_flash { work_ns + sectors * self.per_sector_ns } else { 0 };
        let link_ns = self.link.command_ns(moved);
        let own_link_ns = self.array_link.map_or(0, |link| link.command_ns(moved));
        // A trim that an array does not pass on is its driver's alone.
        let is_dropped = self.is_array && op == Op::Trim;
        let wrong = [
            ("the sum", split.total_ns() != completion.completed_ns - completion.submitted_ns),
            ("firmware", split.firmware_ns != self.firmware_ns[of_op] && !is_dropped),
            ("link, too long", split.link_ns > link_ns + own_link_ns),
            ("link, too short", split.link_ns < link_ns && !self.is_array),
            ("flash", split.flash_ns > most_ns),
            ("cleaning", split.cleaning_ns > 0 && !self.cleans),
        ];
        let (name, _) = wrong.into_iter().find(|&(_, is_wrong)| is_wrong)?;
        Some(format!("{name}: {completion:?}, flash at most {most_ns}, link {link_ns} + {own_link_ns}"))
    }
}

/// Random commands; every completion, and whether it was forced to flash.
fn random_commands(drive: &mut Drive, seed: u64, count: u32) -> Vec<(Completion, bool)> {
    let mut random = Stream::new(seed, 1);
    let mut between = |low: u64, high: u64| low + random.below(high - low + 1);
    let area = AREA.min(drive.capacity_sectors());
    let mut forced = Vec::new();
    let mut done = Vec::new();
    let mut inside = 0;
    let mut depth = 1;
    for tag in 0..count {
        if tag.is_multiple_of(200) {
            depth = between(1, u64::from(drive.queue_depth()).min(32)) as usize;
        }
        let longest = [1, 8, 8, 64, 512][between(0, 4) as usize];
        let sectors = between(1, longest.min(area));
        let mut lba = between(0, area - sectors);
        if between(0, 3) > 0 {
            lba = lba / 8 * 8;
        }
        let command = match between(0, 99) {
            0..=44 => Command::new(tag, Op::Read, lba, sectors as u32),
            45..=93 => {
                Command { fua: between(0, 19) == 0, ..Command::new(tag, Op::Write, lba, sectors as u32) }
            }
            94..=96 => Command::new(tag, Op::Trim, lba, sectors as u32),
            _ => Command::new(tag, Op::Flush, 0, 0),
        };
        while inside + 1 > depth {
            let before = done.len();
            drive.advance_to_completion(u64::MAX, &mut done);
            drive.engine().check_step().unwrap();
            inside -= done.len() - before;
        }
        let later_ns = if between(0, 9) == 0 { between(0, 3_000_000) } else { 0 };
        drive.submit(drive.now_ns() + later_ns, command).unwrap();
        forced.push(command.fua);
        inside += 1;
    }
    while inside > 0 {
        let before = done.len();
        drive.advance_to_completion(u64::MAX, &mut done);
        inside -= done.len() - before;
    }
    done.into_iter().map(|completion| (completion, forced[completion.tag as usize])).collect()
}

#[test]
fn the_parts_of_every_latency_are_what_their_names_say() {
    for (name, _) in shipped::models() {
        let mut drive = shipped::drive(&name, &[]);
        let limits = Limits::of(drive.engine());
        for (completion, fua) in random_commands(&mut drive, 1, 3000) {
            if let Some(fault) = limits.fault(&completion, fua) {
                panic!("{name}: {fault}");
            }
        }
    }
}

#[test]
fn nobody_waits_on_a_drive_at_rest() {
    for (name, _) in shipped::models() {
        let mut drive = shipped::drive(&name, &[]);
        random_commands(&mut drive, 2, 500);
        // To the members of an array, what a command is cut into are commands.
        let is_array = matches!(drive.engine(), Engine::Raid0(_));
        let reads = [(0, 1), (4096, 1), (AREA / 2, 1), (1027, 16), (2048, 256), (9001, 2048)];
        for &(lba, sectors) in &reads[..if is_array { 3 } else { reads.len() }] {
            drive.idle(600_000_000_000);
            let sectors = sectors.min(drive.capacity_sectors() / 2);
            let lba = lba % (drive.capacity_sectors() - sectors);
            drive.submit(drive.now_ns(), Command::new(0, Op::Read, lba, sectors as u32)).unwrap();
            let mut done = Vec::new();
            drive.advance_to_completion(u64::MAX, &mut done);
            let split = &done[0].split;
            assert_eq!(split.queueing_ns + split.cleaning_ns, 0, "{name}: {:?}", done[0]);
        }
    }
}

#[test]
fn a_read_doesn_t_wait_for_its_own_map() {
    for name in ["wd-black-sn770-1tb", "intel-660p-1tb"] {
        let mut drive = shipped::drive(name, &[("scale_divisor", "64")]);
        let (step, mut done) = (2048, Vec::new());
        for lba in (0..drive.capacity_sectors() - step).step_by(step as usize) {
            drive.submit(drive.now_ns(), Command::new(0, Op::Write, lba, step as u32)).unwrap();
            drive.advance_to_completion(u64::MAX, &mut done);
        }
        let mut fetched = false;
        for lba in [8 * step, drive.capacity_sectors() / 3, drive.capacity_sectors() / 2 + 1027] {
            drive.idle(600_000_000_000);
            let before = drive.counters()["read_bytes_map"].as_u64();
            done.clear();
            drive.submit(drive.now_ns(), Command::new(0, Op::Read, lba, step as u32)).unwrap();
            drive.advance_to_completion(u64::MAX, &mut done);
            fetched |= drive.counters()["read_bytes_map"].as_u64() > before;
            assert_eq!(done[0].split.queueing_ns, 0, "{name}: {:?}", done[0]);
        }
        assert!(fetched, "{name}: its whole map is in memory");
    }
}

#[test]
fn a_part_counted_twice_or_under_another_name_is_noticed() {
    for name in ["intel-x25-m-g2-80gb", "ocz-vertex-2-100gb", "jmicron-jmf602b-64gb", "wd-velociraptor-300gb"]
    {
        let mut drive = shipped::drive(name, &[]);
        let limits = Limits::of(drive.engine());
        let mut tried = [0u32; 6];
        for (completion, fua) in random_commands(&mut drive, 3, 2000) {
            let changed = |change: fn(&mut Completion)| {
                let mut changed = completion;
                change(&mut changed);
                changed
            };
            let twice = [
                changed(|done| done.split.queueing_ns *= 2),
                changed(|done| done.split.link_ns *= 2),
                changed(|done| done.split.firmware_ns *= 2),
                changed(|done| done.split.flash_ns *= 2),
                changed(|done| done.split.cleaning_ns *= 2),
                // Waiting for the firmware told as its work.
                changed(|done| {
                    done.split.firmware_ns += std::mem::take(&mut done.split.queueing_ns);
                }),
            ];
            for (count, sabotaged) in tried.iter_mut().zip(twice) {
                if sabotaged != completion {
                    *count += 1;
                    assert!(limits.fault(&sabotaged, fua).is_some(), "{name}: {sabotaged:?}");
                }
            }
        }
        // Cleaning has little to do on an almost new drive.
        tried[4] = u32::MAX;
        assert!(tried.iter().all(|&count| count > 100), "{name}: {tried:?}");
    }
}
