//! The longest that a command may take, from a model's own parameters: family by family, as formulas.
//!
//! # Drives with a log on each die (page map, compressed map)
//!
//! A die does one job at a time. With `s` the share of what flash holds that is valid:
//!
//! ```text
//! owed  = ceil(s / (1 - s)) + 1                copies with each page of the host (paced cleaning)
//! meta  = program + erase                      a page of the journal, and the block that it may need
//! turn  = program + owed copies + erase + meta what lies between two pages of the host on one die
//! round = s pages_per_block copies + erase     a die without room empties a block first
//! ```
//!
//! `s` is the share of the fullest die: spare area of dies differs by chance. Dies of a channel that wait for one another
//! (`programs_per_channel`, the bus) take so many times longer. A write waits until all that was buffered before it, and
//! the commands before it, have been given to dies, which take turns:
//!
//! ```text
//! pages(n) = buffer + n commands' pages
//! write(n) = n (firmware + link) + (pages(n) / dies + 2) turn + round + checkpoint
//! ```
//!
//! Where `partial_units_at_once` limits units that are completed, these follow one another: each takes a read, its turn
//! and the program. A flush is a write of nothing; a trim waits for the commands before it. A read waits for one job of
//! its die, reserved reads, and commands before it; never for a queue of programs:
//!
//! ```text
//! job     = max(program, copies at once, erase, meta)
//! read(n) = n (firmware + link + units reads) + job + processor time of pages that begin
//! ```
//!
//! A page map in flash: whatever is changed takes reads of lines, which anybody may have to wait for on its die, and pages
//! of lines that they push out; the map's log, too, copies before it erases.
//!
//! ```text
//! lines = (1 + owed) units of a page           lines that a turn changes, on any die
//! turn  = ... + lines (read + MAP_COPIES program) + erase
//! read  = ... + reads of the command's own lines + dies (1 + copies at once) units of a page reads
//! ```
//!
//! # Schemes that merge
//!
//! ```text
//! merge    = rows (read + program) + erase
//! rotation = rotation_superblocks merges
//! write    = n (2 merge + rotation)           the merge under way, and the write's own
//! flush    = (groups in the buffer + n) (merge + rotation)
//! ```
//!
//! Reads wait for one row of a merge. A log block that must go takes a merge for every superblock that has units in it.
//!
//! # Hard disks and arrays
//!
//! ```text
//! access = full stroke + settle + 2 revolutions + transfer
//! disk   = 2 (n + cache entries) access + deadline    those that are overdue before, and those beside it
//! array  = member(n pieces) + n (driver + link of the bridge)
//! ```

use drivelab_controller::Op;
use drivelab_drive::Model;

use super::times::{Nanos, Times};

/// Pages of the map's log that are written for each page of changed lines: more than small versions copy, whose log has a
/// block of lines and two beside it. At full size it copies more, which what else a turn is granted covers (tried).
const MAP_COPIES: u64 = 2;

/// What a command meets in the drive.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Commands that may be inside, this one included.
    pub depth: u64,
    /// Bytes of the largest of them.
    pub bytes: u64,
    /// Whether some write only parts of map units.
    pub partial: bool,
    /// Units of which flash holds current data, at most.
    pub valid_units: u64,
    /// Whether there are writes at all.
    pub writes: bool,
}

/// Times of a drive with a log on each die.
pub struct Log<'a>(pub &'a Times);

impl Log<'_> {
    /// Share of the fullest die's flash that is valid: its spare area is less than the mean by chance, twice the
    /// standard deviation of the valid units of a die.
    fn valid_share(&self, load: &Load) -> f64 {
        let times = self.0;
        let per_die = load.valid_units as f64 / times.dies as f64;
        let share = (per_die + 2.0 * per_die.sqrt()) / (times.usable_units as f64 / times.dies as f64);
        share.min(1.0 - 1.0 / times.pages_per_block as f64)
    }

    fn owed(&self, load: &Load) -> u64 {
        let share = self.valid_share(load);
        (share / (1.0 - share)).ceil() as u64 + 1
    }

    fn meta(&self) -> Nanos {
        if self.0.updates_per_page > 0 { self.0.program + self.0.erase } else { 0 }
    }

    /// What a turn's changes of a map in flash take.
    fn lines(&self, load: &Load) -> Nanos {
        let times = self.0;
        if times.map_lines == 0 {
            return 0;
        }
        let changed = (1 + self.owed(load)) * times.units_per_page;
        let pages = changed.div_ceil(times.updates_per_page);
        changed * times.read + pages * MAP_COPIES * (times.read + times.program) + times.erase
    }

    /// Reads of a map in flash that a command of so many units may meet, its own among them.
    fn map_reads(&self, depth: u64, units: u64) -> Nanos {
        let times = self.0;
        if times.map_lines == 0 {
            return 0;
        }
        let begun = times.dies * (1 + times.copies_at_once) * times.units_per_page;
        (depth * units + begun) * times.read
    }

    /// How many times longer dies take that share a channel.
    fn sharing(&self) -> u64 {
        self.0.dies_per_channel.div_ceil(self.0.tokens)
    }

    fn turn(&self, load: &Load) -> Nanos {
        let times = self.0;
        let alone =
            times.program + self.owed(load) * times.copy() + times.erase + self.meta() + self.lines(load);
        let bus = times.bus * (2 + self.owed(load) * (1 + times.units_per_page));
        (self.sharing() * alone).max(times.dies_per_channel * bus).max(times.dies * times.page_firmware)
    }

    fn round(&self, load: &Load) -> Nanos {
        let times = self.0;
        let pages = (self.valid_share(load) * times.pages_per_block as f64).ceil() as u64;
        self.sharing() * (pages * times.copy() + times.erase)
    }

    fn checkpoint(&self) -> Nanos {
        self.sharing() * self.0.checkpoint_pages.div_ceil(self.0.dies) * (self.0.program + self.0.erase)
    }

    fn commands(&self, load: &Load) -> Nanos {
        let slowest = self.0.firmware.iter().max().copied().unwrap_or(0);
        load.depth * (slowest + self.0.link(load.bytes))
    }

    pub fn write(&self, load: &Load) -> Nanos {
        let times = self.0;
        let units = load.depth * (load.bytes / 512).div_ceil(times.unit_sectors) + load.depth;
        let pages = times.buffer_pages + units.div_ceil(if load.partial { 1 } else { times.units_per_page });
        let turns = (pages.div_ceil(times.dies) + 2) * self.turn(load);
        let partial = if load.partial && times.partial_at_once > 0 {
            let each = times.read + times.partial_firmware + self.turn(load) + times.program;
            units.div_ceil(times.partial_at_once) * each
        } else {
            units * u64::from(load.partial) * (times.read + times.partial_firmware) / times.dies.min(4)
        };
        let held = times.governor_interval * load.depth;
        let waits = self.checkpoint() + partial + held + times.hold + self.map_reads(load.depth, 2);
        self.commands(load) + turns + self.round(load) + waits
    }

    pub fn read(&self, load: &Load) -> Nanos {
        let times = self.0;
        let cleans = if load.valid_units > 0 { times.copies_at_once * times.copy() } else { 0 };
        let job = times.program.max(cleans).max(times.erase).max(self.meta());
        let units = (load.bytes / 512).div_ceil(times.unit_sectors) + 1;
        let reads = load.depth * units * times.read * if times.dies_per_channel > 1 { 2 } else { 1 };
        // What was written before may still leave the buffer.
        let pages = times.dies * times.page_firmware;
        let partial = if load.partial { load.depth * times.partial_firmware } else { 0 };
        let reads = reads + self.map_reads(load.depth, units);
        self.commands(load) + reads + job + times.dies_per_channel * times.bus + pages + partial
    }
}

/// Times of a scheme that merges.
pub struct Merging<'a>(pub &'a Times);

impl Merging<'_> {
    fn merge(&self) -> Nanos {
        self.0.pages_per_block * self.0.copy() + self.0.erase
    }

    fn with_rotation(&self) -> Nanos {
        self.merge() * (1 + self.0.rotation) + self.merge()
    }

    pub fn write(&self, load: &Load) -> Nanos {
        let units = (load.bytes / 512).div_ceil(self.0.unit_sectors) + 1;
        let rows = units.div_ceil(self.0.units_per_page) + 1;
        let commands = load.depth * (self.0.firmware[1] + self.0.link(load.bytes) + rows * self.0.program);
        commands + (load.depth + 1) * self.with_rotation() + self.0.hold
    }

    pub fn flush(&self, load: &Load) -> Nanos {
        let groups = self.0.buffer_units.min(self.0.superblocks);
        self.write(load) + groups * self.with_rotation()
    }

    pub fn read(&self, load: &Load) -> Nanos {
        let times = self.0;
        let units = (load.bytes / 512).div_ceil(times.unit_sectors) + 1;
        let slowest = times.firmware.iter().max().copied().unwrap_or(0);
        load.depth * (slowest + times.link(load.bytes) + units * times.read) + 2 * times.copy() + times.erase
    }
}

/// The longest access of a hard disk.
fn access(model: &Model, bytes: u64) -> Nanos {
    let number = |key: &str| model.optional_integer(key).unwrap_or(0);
    let revolution = 60_000_000_000 / number("disk.rpm").max(1);
    let inner_track = number("disk.outer_track_bytes") * 1000 / number("disk.zone_ratio_permille").max(1000);
    let tracks = bytes.div_ceil(inner_track) + 1;
    let head = number("disk.head_switch_ns").max(number("disk.track_to_track_ns"));
    number("disk.full_stroke_ns") + number("disk.write_settle_ns") + (tracks + 1) * (revolution + head)
}

/// The longest that a command of a hard disk may take.
pub fn disk(model: &Model, load: &Load) -> Nanos {
    let number = |key: &str| model.optional_integer(key).unwrap_or(0);
    let firmware = number("controller.write_firmware_ns").max(number("controller.read_firmware_ns"));
    let waiting = load.depth + number("write_buffer.entries");
    2 * waiting * (access(model, load.bytes) + firmware) + number("controller.deadline_ns")
}

/// The longest that a command of an array may take of which a member would take so long.
pub fn array(model: &Model, member: Nanos, load: &Load) -> Nanos {
    let number = |key: &str| model.optional_integer(key).unwrap_or(0);
    let frames = load.bytes.div_ceil(number("link.frame_bytes").max(1)) + 2;
    let link = match number("link.bytes_per_s") {
        0 => 0,
        rate => load.bytes * 1_000_000_000 / rate,
    };
    let bridge = link + frames * number("link.frame_overhead_ns") + number("link.command_overhead_ns");
    member + (load.depth + 2) * (number("array.command_ns") + bridge)
}

/// The longest that a command of a flash drive may take.
pub fn flash(times: &Times, merges: bool, op: Op, load: &Load) -> Nanos {
    match (merges, op) {
        (false, Op::Read) if times.in_order => Log(times).read(load) + Log(times).write(load),
        (false, Op::Read) => Log(times).read(load),
        (false, _) => Log(times).write(load),
        (true, Op::Read) => Merging(times).read(load),
        (true, Op::Write) => Merging(times).write(load),
        (true, Op::Flush | Op::Trim) => Merging(times).flush(load),
    }
}
