//! What a drive has promised, sector by sector: every value that a read may find after a power cut at this moment.
//!
//! A sector has versions: the host's writes and trims of it, and what it held before. A version is gone for good when a
//! later one (submitted after this one was acknowledged) is durable. Until then any of them may be found: commands that
//! are inside at the same time have no order, and what is not durable may be there or not. Durable is what was
//! acknowledged with FUA, or before a flush that was acknowledged was sent, or by a drive that acknowledges only what
//! outlives the power. So every promise is one rule, and the oracle knows nothing of how a drive keeps it.

use super::cells::{FREED, TORN};

/// Never.
const NEVER: u64 = u64::MAX;
/// Bits of a stamp that say which sector it was written to.
const LBA_BITS: u32 = 20;

/// Stamp of a sector that a write of this number wrote.
pub fn stamp(version: u64, lba: u64) -> u64 {
    version << LBA_BITS | lba
}

/// What was found that may not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Zeros in place of data.
    Lost,
    /// Older data than was promised.
    Stale,
    /// A sector of a program that did not end.
    Torn,
    /// Data that was trimmed or erased for good.
    Resurrected,
    /// Data of another sector.
    Misplaced,
    /// Bytes that were given back.
    Freed,
    /// Data that nobody wrote.
    Invented,
    /// The drive's books contradict one another.
    Books,
    /// The drive doesn't come up.
    Unmountable,
    /// The drive asks its flash for what flash can't do, or breaks a rule of the stream.
    Broken,
    /// Commands that never end.
    Stuck,
    /// Commands that end without being done.
    Refused,
    /// The program gave up.
    Panic,
    /// Nothing is wrong: the session has ended with a power cut.
    Over,
}

/// What went wrong, and where.
#[derive(Clone, Debug)]
pub struct Failure {
    pub class: Class,
    pub text: String,
}

impl Failure {
    pub fn new(class: Class, text: impl Into<String>) -> Self {
        Self { class, text: text.into() }
    }
}

#[derive(Clone, Copy, Debug)]
struct Version {
    stamp: u64,
    submitted: u64,
    acknowledged: u64,
    /// A later version was acknowledged: new reads don't find this one any more.
    is_hidden: bool,
}

/// A command that changes sectors and is not durable yet.
#[derive(Clone, Copy, Debug)]
struct Change {
    tag: u32,
    first: u64,
    end: u64,
    submitted: u64,
    acknowledged: u64,
    /// Durable as soon as it is acknowledged.
    forced: bool,
}

#[derive(Clone, Debug)]
struct Read {
    tag: u32,
    first: u64,
    allowed: Vec<Vec<u64>>,
}

/// The oracle.
#[derive(Clone, Debug)]
pub struct Oracle {
    sectors: Vec<Vec<Version>>,
    changes: Vec<Change>,
    flushes: Vec<(u32, u64)>,
    reads: Vec<Read>,
    now: u64,
    next_version: u64,
    promises: Promises,
}

/// What a drive promises beyond FUA and flush.
#[derive(Clone, Copy, Debug)]
pub struct Promises {
    /// Writes that are acknowledged are durable.
    pub durable_writes: bool,
    /// So are trims.
    pub durable_trims: bool,
}

impl Oracle {
    pub fn new(sectors: u64, promises: Promises) -> Self {
        let zero = Version { stamp: 0, submitted: 0, acknowledged: 0, is_hidden: false };
        Self {
            sectors: vec![vec![zero]; sectors as usize],
            changes: Vec::new(),
            flushes: Vec::new(),
            reads: Vec::new(),
            now: 1,
            next_version: 1,
            promises,
        }
    }

    pub fn capacity(&self) -> u64 {
        self.sectors.len() as u64
    }

    fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// A write is handed over. Gives the number of its version.
    pub fn write(&mut self, tag: u32, first: u64, end: u64, fua: bool) -> u64 {
        self.change(tag, first, end, fua || self.promises.durable_writes, false)
    }

    /// A trim is handed over; `first` and `end` bound what it drops.
    pub fn trim(&mut self, tag: u32, first: u64, end: u64) {
        self.change(tag, first, end.max(first), self.promises.durable_trims, true);
    }

    fn change(&mut self, tag: u32, first: u64, end: u64, forced: bool, is_trim: bool) -> u64 {
        let submitted = self.tick();
        let version = self.next_version;
        self.next_version += 1;
        for lba in first..end {
            let stamp = if is_trim { 0 } else { stamp(version, lba) };
            self.sectors[lba as usize].push(Version {
                stamp,
                submitted,
                acknowledged: NEVER,
                is_hidden: false,
            });
            for read in &mut self.reads {
                if let Some(allowed) =
                    lba.checked_sub(read.first).and_then(|at| read.allowed.get_mut(at as usize))
                {
                    allowed.push(stamp);
                }
            }
        }
        self.changes.push(Change { tag, first, end, submitted, acknowledged: NEVER, forced });
        version
    }

    pub fn flush(&mut self, tag: u32) {
        let now = self.tick();
        self.flushes.push((tag, now));
    }

    pub fn read(&mut self, tag: u32, first: u64, end: u64) {
        self.tick();
        let seen = |versions: &Vec<Version>| {
            versions.iter().filter(|version| !version.is_hidden).map(|version| version.stamp).collect()
        };
        // Of a drive that has just come up nothing is known yet.
        let Some(sectors) = self.sectors.get(first as usize..end as usize) else { return };
        let allowed = sectors.iter().map(seen).collect();
        self.reads.push(Read { tag, first, allowed });
    }

    /// The host hears that a command is done.
    pub fn acknowledge(&mut self, tag: u32) {
        let now = self.tick();
        if let Some(index) = self.flushes.iter().position(|&(flush, _)| flush == tag) {
            let (_, sent) = self.flushes.swap_remove(index);
            self.settle(|change| change.acknowledged < sent);
        }
        let Some(index) = self.changes.iter().position(|change| change.tag == tag) else { return };
        self.changes[index].acknowledged = now;
        let change = self.changes[index];
        for versions in &mut self.sectors[change.first as usize..change.end as usize] {
            for version in versions {
                if version.submitted == change.submitted {
                    version.acknowledged = now;
                } else if version.acknowledged < change.submitted {
                    version.is_hidden = true;
                }
            }
        }
        if change.forced {
            self.settle(|change| change.tag == tag);
        }
    }

    /// The host hears that a command was not done, or not all of it: what it wrote may be found until something newer
    /// has been written.
    pub fn fail(&mut self, tag: u32) {
        let now = self.tick();
        self.flushes.retain(|&(flush, _)| flush != tag);
        let Some(index) = self.changes.iter().position(|change| change.tag == tag) else { return };
        let change = self.changes.swap_remove(index);
        for versions in &mut self.sectors[change.first as usize..change.end as usize] {
            let failed = versions.iter_mut().find(|version| version.submitted == change.submitted);
            if let Some(failed) = failed {
                failed.acknowledged = now;
            }
        }
    }

    /// Changes become durable.
    fn settle(&mut self, durable: impl Fn(&Change) -> bool) {
        let sectors = &mut self.sectors;
        self.changes.retain(|change| {
            if !durable(change) {
                return true;
            }
            for versions in &mut sectors[change.first as usize..change.end as usize] {
                versions.retain(|version| version.acknowledged >= change.submitted);
            }
            false
        });
    }

    /// The drive has gone to rest: all that was acknowledged is durable.
    pub fn rested(&mut self) {
        self.settle(|change| change.acknowledged != NEVER);
    }

    /// A secure erase begins: zeros from now on, or what was there.
    pub fn begin_erase(&mut self) {
        let submitted = self.tick();
        let zero = Version { stamp: 0, submitted, acknowledged: NEVER, is_hidden: false };
        self.sectors.iter_mut().for_each(|versions| versions.push(zero));
    }

    /// A secure erase is done.
    pub fn erased(&mut self) {
        let capacity = self.capacity();
        *self = Self { now: self.now, next_version: self.next_version, ..Self::new(capacity, self.promises) };
    }

    /// What a read found while the power stayed on.
    pub fn check_read(&mut self, tag: u32, found: &[u64]) -> Result<(), Failure> {
        let Some(index) = self.reads.iter().position(|read| read.tag == tag) else { return Ok(()) };
        let read = self.reads.swap_remove(index);
        for ((lba, &found), allowed) in (read.first..).zip(found).zip(&read.allowed) {
            if !allowed.contains(&found) {
                return Err(Self::wrong(lba, found, allowed, "read"));
            }
        }
        Ok(())
    }

    /// What was found after a power cut: the whole drive.
    pub fn check(&self, found: &[u64]) -> Result<(), Failure> {
        for ((lba, &found), versions) in (0u64..).zip(found).zip(&self.sectors) {
            if !versions.iter().any(|version| version.stamp == found) {
                let allowed: Vec<u64> = versions.iter().map(|version| version.stamp).collect();
                return Err(Self::wrong(lba, found, &allowed, "after the cut"));
            }
        }
        Ok(())
    }

    fn wrong(lba: u64, found: u64, allowed: &[u64], when: &str) -> Failure {
        let written_to = found & ((1 << LBA_BITS) - 1);
        let newest = allowed.iter().max().copied().unwrap_or(0);
        let class = match found {
            TORN => Class::Torn,
            FREED => Class::Freed,
            0 => Class::Lost,
            _ if written_to != lba => Class::Misplaced,
            _ if found > newest && newest > 0 => Class::Invented,
            _ if newest == 0 => Class::Resurrected,
            _ => Class::Stale,
        };
        let name = |stamp: u64| match stamp {
            0 => "zeros".to_owned(),
            TORN => "torn bytes".to_owned(),
            FREED => "freed bytes".to_owned(),
            _ => format!("write {} (of sector {})", stamp >> LBA_BITS, stamp & ((1 << LBA_BITS) - 1)),
        };
        let allowed: Vec<String> = allowed.iter().map(|&stamp| name(stamp)).collect();
        Failure::new(
            class,
            format!("{when}, sector {lba} holds {}; allowed: {}", name(found), allowed.join(", ")),
        )
    }

    /// After a cut: what was found is what there is, for good. Nothing is under way any more.
    pub fn restart(&mut self, found: &[u64]) {
        for (versions, &stamp) in self.sectors.iter_mut().zip(found) {
            versions.clear();
            versions.push(Version { stamp, submitted: 0, acknowledged: 0, is_hidden: false });
        }
        self.changes.clear();
        self.flushes.clear();
        self.reads.clear();
    }
}
