//! A host that looks after every step: completions, order, progress, books and backlogs, all along the way.

use std::collections::BTreeMap;

use drivelab_controller::{Backlog, Command, Completion, Content, Device, Op};
use drivelab_drive::Drive;

use super::times::Nanos;

/// What a drive must keep to, at any step.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The longest of a read, and of anything else.
    pub read_ns: Nanos,
    pub other_ns: Nanos,
    /// Firmware's time of a read, a write, a trim, a flush; 0: not known.
    pub firmware_ns: [Nanos; 4],
    /// Writes are done in the order in which they came.
    pub writes_in_order: bool,
    pub metadata_pages: u64,
    pub owed_copies: u64,
    pub cleaning_dies: u64,
    pub buffered_sectors: u64,
    /// Units that trims have not freed, of firmware that defers or loses some: also after a rest.
    pub trimmed_units: u64,
}

/// What a run showed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub longest_read_ns: Nanos,
    pub longest_other_ns: Nanos,
    pub metadata_pages: u64,
    pub owed_copies: u64,
}

/// Hands a drive commands and looks at it after every event.
pub struct Host<'a> {
    drive: &'a mut Drive,
    limits: Limits,
    inside: BTreeMap<u32, (Command, Nanos)>,
    writes: std::collections::VecDeque<u32>,
    next_tag: u32,
    last_done_ns: Nanos,
    done: Vec<Completion>,
    /// Looks inside after every so many events.
    every: u64,
    events: u64,
    contents: Contents,
    pub seen: Seen,
}

/// What a host writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    Random,
    /// Random data, such that take half as much when they are compressed, copies of one another, and zeros.
    Mixed,
}

impl Contents {
    fn of(self, number: u32) -> Content {
        match (self, number % 5) {
            (Self::Random, _) | (Self::Mixed, 0 | 3) => Content { seed: number, ..Content::RANDOM },
            (Self::Mixed, 1) => Content { compressed_permille: 500, seed: number, ..Content::RANDOM },
            (Self::Mixed, 2) => Content { duplicate_permille: 300, pool: 4, seed: number, ..Content::RANDOM },
            (Self::Mixed, _) => Content::ZEROS,
        }
    }
}

impl<'a> Host<'a> {
    /// One that looks inside after every event.
    pub fn new(drive: &'a mut Drive, limits: Limits) -> Self {
        Self::looking_after(1, drive, limits)
    }

    /// One that looks inside after every so many events, which takes as long as there are dies, commands and buffered
    /// units; to completions it listens always.
    pub fn looking_after(every: u64, drive: &'a mut Drive, limits: Limits) -> Self {
        let last_done_ns = drive.now_ns();
        let (inside, writes) = Default::default();
        Self {
            every,
            events: 0,
            contents: Contents::Random,
            drive,
            limits,
            inside,
            writes,
            next_tag: 0,
            last_done_ns,
            done: Vec::new(),
            seen: Seen::default(),
        }
    }

    /// The same, which writes this.
    pub fn writing(mut self, contents: Contents) -> Self {
        self.contents = contents;
        self
    }

    /// Runs `count` commands, `depth` at once.
    ///
    /// # Errors
    /// The first promise that is broken, in words.
    pub fn run(
        &mut self,
        depth: u32,
        count: u32,
        mut next: impl FnMut(u32) -> (Op, u64, u32),
    ) -> Result<(), String> {
        let depth = depth.min(self.drive.queue_depth()) as usize;
        for number in 0..count {
            while self.inside.len() >= depth {
                self.step()?;
            }
            let (op, lba, sectors) = next(number);
            self.submit(op, lba, sectors)?;
        }
        while !self.inside.is_empty() {
            self.step()?;
        }
        Ok(())
    }

    pub fn submit(&mut self, op: Op, lba: u64, sectors: u32) -> Result<(), String> {
        let content = self.contents.of(self.next_tag);
        let command = Command { content, ..Command::new(self.next_tag, op, lba, sectors) };
        self.next_tag += 1;
        let now = self.drive.now_ns();
        self.drive.submit(now, command).map_err(|error| format!("{error}"))?;
        if self.inside.is_empty() {
            self.last_done_ns = now;
        }
        self.inside.insert(command.tag, (command, now));
        if op == Op::Write {
            self.writes.push_back(command.tag);
        }
        Ok(())
    }

    /// Lets the next thing happen.
    fn step(&mut self) -> Result<(), String> {
        let before = self.drive.now_ns();
        let Some(next) = self.drive.next_event() else {
            return Err(format!(
                "{} commands are inside and nothing will happen any more",
                self.inside.len()
            ));
        };
        if next < before {
            return Err(format!("the next event lies {} ns in the past", before - next));
        }
        self.drive.advance(next, &mut self.done);
        self.look()
    }

    /// Lets time pass without commands.
    ///
    /// # Errors
    /// As [`Self::run`]; or something is left to do at the end.
    pub fn idle(&mut self, duration_ns: Nanos) -> Result<(), String> {
        let until = self.drive.now_ns() + duration_ns;
        let mut events = 0u64;
        while let Some(next) = self.drive.next_event().filter(|&next| next <= until) {
            self.drive.advance(next, &mut self.done);
            self.look()?;
            events += 1;
            if events > 50_000_000 {
                return Err("a drive that is left alone does not come to rest".to_owned());
            }
        }
        self.drive.advance(until, &mut self.done);
        self.look()?;
        self.look_inside()?;
        let backlog = Backlog { trimmed_units: 0, ..self.drive.engine().backlog() };
        if backlog.is_empty() {
            return Ok(());
        }
        Err(format!("after {duration_ns} ns of rest: {backlog:?}"))
    }

    fn look(&mut self) -> Result<(), String> {
        let now = self.drive.now_ns();
        for index in 0..self.done.len() {
            let done = self.done[index];
            self.heard(&done, now)?;
        }
        self.done.clear();
        if self.drive.engine().outstanding() as usize != self.inside.len() {
            let (says, has) = (self.drive.engine().outstanding(), self.inside.len());
            return Err(format!("{has} commands are inside, the drive says {says}"));
        }
        let longest = self.limits.read_ns.max(self.limits.other_ns);
        if !self.inside.is_empty() && now - self.last_done_ns > longest {
            return Err(format!(
                "nothing was completed for {} us; {} us is the longest that one thing may take",
                (now - self.last_done_ns) / 1000,
                longest / 1000
            ));
        }
        self.events += 1;
        if self.events.is_multiple_of(self.every) { self.look_inside() } else { Ok(()) }
    }

    fn look_inside(&mut self) -> Result<(), String> {
        let limits = &self.limits;
        let backlog = self.drive.engine().backlog();
        self.seen.metadata_pages = self.seen.metadata_pages.max(backlog.metadata_pages);
        self.seen.owed_copies = self.seen.owed_copies.max(backlog.owed_copies);
        for (what, found, limit) in [
            ("pages of metadata are due", backlog.metadata_pages, limits.metadata_pages),
            ("copies are owed", backlog.owed_copies, limits.owed_copies),
            ("dies are being cleaned", backlog.cleaning_dies, limits.cleaning_dies),
            ("sectors are buffered", backlog.buffered_sectors, limits.buffered_sectors),
            ("trimmed units hold space", backlog.trimmed_units, limits.trimmed_units),
        ] {
            if found > limit {
                return Err(format!("{found} {what}, at most {limit} may be"));
            }
        }
        self.drive.engine().check_step()
    }

    fn heard(&mut self, done: &Completion, now: Nanos) -> Result<(), String> {
        let Some((command, submitted)) = self.inside.remove(&done.tag) else {
            return Err(format!("command {} is completed, but it is not inside", done.tag));
        };
        if (done.op, done.sector_count, done.submitted_ns) != (command.op, command.sector_count, submitted) {
            return Err(format!("{done:?} is not the end of {command:?}"));
        }
        if done.completed_ns < self.last_done_ns || done.completed_ns > now {
            return Err(format!(
                "a completion of {} ns comes after one of {} ns, at {now} ns",
                done.completed_ns, self.last_done_ns
            ));
        }
        self.last_done_ns = done.completed_ns;
        if done.op == Op::Write && self.limits.writes_in_order && self.writes.front() != Some(&done.tag) {
            return Err(format!("write {} is done before {:?}", done.tag, self.writes.front()));
        }
        self.writes.retain(|&tag| tag != done.tag);
        let latency = done.completed_ns - done.submitted_ns;
        let split = done.split;
        if split.total_ns() != latency {
            return Err(format!("parts of {} ns make {latency} ns: {split:?}", split.total_ns()));
        }
        let firmware = self.limits.firmware_ns[op_index(done.op)];
        if firmware > 0 && split.firmware_ns != firmware {
            return Err(format!("{} ns of firmware instead of {firmware}: {done:?}", split.firmware_ns));
        }
        let (longest, limit) = match done.op {
            Op::Read => (&mut self.seen.longest_read_ns, self.limits.read_ns),
            _ => (&mut self.seen.longest_other_ns, self.limits.other_ns),
        };
        *longest = (*longest).max(latency);
        if latency > limit {
            return Err(format!(
                "a {:?} takes {} us; {} us is the longest that it may: {split:?}",
                done.op,
                latency / 1000,
                limit / 1000
            ));
        }
        Ok(())
    }
}

fn op_index(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Flush => 3,
    }
}
