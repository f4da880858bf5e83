//! One drive's life: every state, and in each of them every kind of command, with the limits that hold there.

use drivelab_controller::{Device, Op};
use drivelab_drive::{Drive, Family};
use drivelab_sim::Stream;

use super::bounds::{self, Load};
use super::host::{Contents, Host, Limits, Seen};
use super::probes::{PROBES, Probe};
use super::times::{Nanos, Times};

const SECTORS_4K: u32 = 8;
const SECTORS_128K: u32 = 256;
/// More is not filled: of hard disks, which have one state.
const MOST_SECTORS: u64 = if cfg!(debug_assertions) { 1 << 23 } else { 1 << 40 };
/// Rest after which nothing may be left to do, beside what the drive's own delays take: as much as states have.
const REST_NS: Nanos = 60_000_000_000;

/// Drives of full size are looked into after every so many events while all of them is written or trimmed: a prime, so that
/// no rhythm of theirs hides anything.
const EVERY_AT_FULL_SIZE: u64 = 251;
/// A run of so few commands is looked into after every event.
const FEW: u32 = 1000;

/// What was worst where.
#[derive(Clone, Debug)]
pub struct Worst {
    pub state: &'static str,
    pub probe: &'static str,
    pub seen: Seen,
    pub limits: Limits,
}

/// A drive with what is known of it.
pub struct Life {
    pub drive: Drive,
    times: Times,
    merges: bool,
    random: Stream,
    state: &'static str,
    /// While all of the drive is written or trimmed.
    every: u64,
    pub contents: Contents,
    pub worst: Vec<Worst>,
}

impl Life {
    /// A drive that has just been made, of full size or small.
    pub fn new(drive: Drive, at_full_size: bool) -> Self {
        // Of an array, those of a member.
        let single = drive.model().members().first().map_or(drive.model(), |member| member.as_ref());
        let times = Times::of(single);
        let merges = matches!(single.family(), Family::SuperblockMap | Family::LogBlockMap);
        let every = if at_full_size { EVERY_AT_FULL_SIZE } else { 1 };
        Self {
            drive,
            times,
            merges,
            random: Stream::new(11, 3),
            state: "new",
            every,
            contents: Contents::Random,
            worst: Vec::new(),
        }
    }

    /// Map units of the host, of an array's member.
    pub fn user_units(&self) -> u64 {
        self.times.user_units
    }

    fn sectors(&self) -> u64 {
        self.drive.capacity_sectors()
    }

    fn limits(&self, load: &Load) -> Limits {
        let model = self.drive.model();
        match model.family() {
            Family::HardDisk => {
                let longest = bounds::disk(model, load);
                let buffer = model.optional_integer("write_buffer.size_bytes").unwrap_or(0);
                Limits {
                    read_ns: longest,
                    other_ns: longest + longest,
                    // Commands bring their data when there is room for all of it.
                    buffered_sectors: buffer / 512 + u64::from(SECTORS_128K),
                    ..Limits::default()
                }
            }
            Family::Raid0 => {
                // Pieces of all commands may be one member's.
                let count = model.members().len() as u64;
                let single = self.flash_limits(load);
                // A member that takes one command at a time lets reads wait for writes.
                let turns = load.depth.div_ceil(self.times.queue_depth.max(1));
                let before = if load.writes && turns > 1 { turns * single.other_ns } else { 0 };
                Limits {
                    read_ns: bounds::array(model, single.read_ns + before, load),
                    other_ns: bounds::array(model, single.other_ns, load),
                    firmware_ns: [0; 4],
                    writes_in_order: false,
                    metadata_pages: count * single.metadata_pages,
                    owed_copies: count * single.owed_copies,
                    cleaning_dies: count * single.cleaning_dies,
                    buffered_sectors: count * single.buffered_sectors,
                    trimmed_units: count * single.trimmed_units,
                }
            }
            _ => self.flash_limits(load),
        }
    }

    fn flash_limits(&self, load: &Load) -> Limits {
        let times = &self.times;
        let bound = |op| bounds::flash(times, self.merges, op, load);
        let other = [Op::Write, Op::Flush, Op::Trim].map(bound).into_iter().max().unwrap_or(0);
        Limits {
            read_ns: bound(Op::Read),
            other_ns: if load.writes { other } else { bound(Op::Read) },
            firmware_ns: times.firmware,
            writes_in_order: true,
            metadata_pages: self.metadata_pages(),
            owed_copies: times.dies * 2 * times.pages_per_block,
            cleaning_dies: times.dies,
            buffered_sectors: self.buffered_units(load) * times.unit_sectors,
            trimmed_units: times.unfreed_units,
        }
    }

    /// Pages of metadata that may be due at once: a checkpoint; two for every die, as long as cleaning comes first; what
    /// pages of the buffer change; and what every die has begun when more are due.
    fn metadata_pages(&self) -> u64 {
        let times = &self.times;
        if times.map_lines > 0 {
            // Dies write the map before anything else when as many lines wait as memory holds; what they have begun meanwhile
            // adds what it changes.
            let begun = times.dies * (1 + times.copies_at_once) * times.updates_per_program;
            return (times.map_lines.max(times.updates_per_page) + begun).div_ceil(times.updates_per_page);
        }
        let begun = (1 + times.copies_at_once) * times.units_per_page;
        let begun = begun.checked_div(times.updates_per_page).map_or(0, |pages| pages + 1);
        times.checkpoint_pages + (2 + begun) * times.dies + times.buffer_pages
    }

    /// Map units that the buffer holds at most, counted whole. Of schemes that merge: what has moved to the registers of
    /// the banks gives its room to others, and units of which the host has written part take the room of that part.
    fn buffered_units(&self, load: &Load) -> u64 {
        let times = &self.times;
        match (self.merges, load.partial) {
            (false, _) => times.buffer_units + times.units_per_page,
            (true, false) => times.buffer_units + 2 * times.dies * times.units_per_page,
            (true, true) => times.buffer_units * times.unit_sectors + 2 * times.dies * times.units_per_page,
        }
    }

    fn valid_units(&self) -> u64 {
        self.drive.counters()["valid_units"].as_u64().unwrap_or(0)
    }

    /// Everything that a host does, in the state that the drive is in.
    fn probe(&mut self, state: &'static str) -> Result<(), String> {
        self.state = state;
        for probe in PROBES {
            self.run(probe, |_, random, places, odd| {
                let lba = random.below(places) * u64::from(SECTORS_4K) + odd;
                (lba, random.below(2) == 0)
            })?;
        }
        self.mixture()
    }

    /// Small writes one after another leave together where a page that is not full waits for more.
    fn gather(&mut self) -> Result<(), String> {
        let times = &self.times;
        if times.hold == 0 || times.units_per_page == 1 || self.merges || self.times.unit_sectors > 8 {
            return Ok(());
        }
        let padded = |drive: &Drive| drive.counters()["units_padded"].as_u64().unwrap_or(0);
        let before = padded(&self.drive);
        self.run(&PROBES[0], |number, _, _, _| (u64::from(number) * u64::from(SECTORS_4K), true))?;
        let (found, written) = (padded(&self.drive) - before, u64::from(PROBES[0].count));
        if found * 4 > written {
            return Err(format!("{}: {found} units of padding for {written} small writes", self.state));
        }
        Ok(())
    }

    fn run(
        &mut self,
        probe: &Probe,
        mut choose: impl FnMut(u32, &mut Stream, u64, u64) -> (u64, bool),
    ) -> Result<(), String> {
        let depth = probe.depth.min(self.drive.queue_depth());
        let load = self.load(depth, probe.bytes, probe.partial, probe.writes);
        let sectors = (probe.bytes / 512) as u32;
        let places = (self.sectors() - u64::from(sectors) - 8) / u64::from(SECTORS_4K);
        let mut random = self.random.clone();
        let limits = self.limits(&load);
        let every = if probe.count > FEW { self.every } else { 1 };
        let mut host = Host::looking_after(every, &mut self.drive, limits.clone()).writing(self.contents);
        let outcome = host.run(probe.depth, probe.count, |number| {
            let (lba, coin) = choose(number, &mut random, places, u64::from(probe.partial));
            let op = if probe.writes && (!probe.reads || coin) { Op::Write } else { Op::Read };
            (op, lba, sectors)
        });
        let seen = host.seen;
        self.random = random;
        self.note(probe.name, seen, limits, outcome)
    }

    fn load(&self, depth: u32, bytes: u64, partial: bool, writes: bool) -> Load {
        let unit_bytes = self.times.unit_sectors * 512;
        // A small write of coarse units completes them; large ones have an odd unit at each end.
        let partial = partial || bytes < unit_bytes || (writes && unit_bytes > 4096);
        let valid_units = (self.valid_units() + self.times.buffer_units).min(self.times.user_units);
        Load { depth: u64::from(depth), bytes, partial, valid_units, writes }
    }

    /// Writes, reads, trims of pieces and flushes, one after another.
    fn mixture(&mut self) -> Result<(), String> {
        let load = self.load(4.min(self.drive.queue_depth()), 1 << 17, true, true);
        let limits = self.limits(&load);
        let mut random = self.random.clone();
        let places = (self.sectors() - u64::from(SECTORS_128K)) / u64::from(SECTORS_4K);
        let mut host = Host::new(&mut self.drive, limits.clone()).writing(self.contents);
        let outcome = host.run(4, 200, |number| {
            let lba = random.below(places) * u64::from(SECTORS_4K);
            match number % 10 {
                3 => (Op::Trim, lba, SECTORS_128K),
                6 => (Op::Flush, 0, 0),
                9 => (Op::Write, lba, SECTORS_128K),
                2 | 5 => (Op::Read, lba, SECTORS_4K),
                _ => (Op::Write, lba, SECTORS_4K),
            }
        });
        let seen = host.seen;
        self.random = random;
        self.note("mixture, 4", seen, limits, outcome)
    }

    fn note(
        &mut self,
        probe: &'static str,
        seen: Seen,
        limits: Limits,
        outcome: Result<(), String>,
    ) -> Result<(), String> {
        let state = self.state;
        self.worst.push(Worst { state, probe, seen, limits });
        outcome.map_err(|error| format!("{state}, {probe}: {error}"))
    }

    /// A piece of the whole drive in order, by commands of 128 KiB.
    fn sweep(&mut self, op: Op, from: u64, to: u64, sectors: u32) -> Result<(), String> {
        let load = self.load(4.min(self.drive.queue_depth()), u64::from(sectors) * 512, true, true);
        // Meanwhile the drive fills.
        let limits = self.limits(&Load { bytes: 1 << 17, valid_units: self.times.user_units, ..load });
        let mut host =
            Host::looking_after(self.every, &mut self.drive, limits.clone()).writing(self.contents);
        let count = ((to - from) / u64::from(sectors)) as u32;
        let outcome =
            host.run(4, count, |number| (op, from + u64::from(number) * u64::from(sectors), sectors));
        let seen = host.seen;
        let probe = if op == Op::Write { "fill" } else { "trim" };
        self.note(probe, seen, limits, outcome)
    }

    /// So many 4 KiB writes anywhere, 32 at once.
    fn scatter(&mut self, count: u32) -> Result<(), String> {
        let probe = Probe {
            name: "scatter",
            depth: 32,
            count,
            bytes: 4096,
            writes: true,
            reads: false,
            partial: false,
        };
        self.run(&probe, |_, random, places, _| (random.below(places) * u64::from(SECTORS_4K), true))
    }

    fn rest(&mut self, state: &'static str) -> Result<(), String> {
        self.state = state;
        let load = self.load(32, 4096, true, true);
        let limits = self.limits(&load);
        // What an SLC cache holds is folded meanwhile, a block of a die as long as a native one at most.
        let blocks = self.drive.engine().backlog().folding_blocks.div_ceil(self.times.fold_dies.max(1));
        let folding = blocks * (self.times.pages_per_block * self.times.copy() + self.times.erase);
        let mut host =
            Host::looking_after(self.every, &mut self.drive, limits.clone()).writing(self.contents);
        // Dies that clean go on until they have room, as a write would have waited for it.
        let begun = folding + limits.other_ns;
        let outcome = host.idle(REST_NS + begun + self.times.hold + self.times.idle_delay);
        let seen = host.seen;
        self.note("rest", seen, limits, outcome)?;
        self.drive.engine().check().map_err(|error| format!("{state}: {error}"))
    }

    /// All states, one after another.
    ///
    /// # Errors
    /// State, command, and the promise that is broken.
    pub fn live(&mut self, scattered: u32) -> Result<(), String> {
        let sectors = self.sectors().min(MOST_SECTORS) / u64::from(SECTORS_128K) * u64::from(SECTORS_128K);
        self.probe("new")?;
        self.rest("new, at rest")?;
        self.gather()?;
        self.state = "filling";
        self.sweep(Op::Write, 0, sectors, SECTORS_128K)?;
        self.probe("full")?;
        self.state = "aging";
        self.scatter(scattered)?;
        self.probe("used")?;
        self.rest("used, at rest")?;
        self.probe("used, after rest")?;
        self.state = "trimming pieces";
        let length = (sectors / 128).next_multiple_of(1 << 13).min(1 << 16);
        for piece in (0..sectors).step_by(2 * length as usize) {
            let end = (piece + length).min(sectors);
            self.sweep(Op::Trim, piece, end, (end - piece) as u32)?;
        }
        self.probe("half trimmed")?;
        self.rest("half trimmed, at rest")?;
        self.state = "trimming all";
        let largest = sectors.min(1 << 16) as u32;
        self.sweep(Op::Trim, 0, sectors / u64::from(largest) * u64::from(largest), largest)?;
        self.probe("trimmed")?;
        self.rest("trimmed, at rest")?;
        self.state = "filling again";
        self.sweep(Op::Write, 0, sectors, SECTORS_128K)?;
        self.drive.secure_erase();
        self.probe("erased")?;
        self.rest("erased, at rest")
    }
}
