//! What hosts do: writes of odd sizes, FUA, flushes, trims, rest, secure erase; many of them in few places.

use drivelab_controller::{Content, Op};

use super::subject::Subject;
use crate::random_models::values::Random;

/// A step of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A command; it is handed over when there is room for it.
    Command { op: Op, lba: u64, sectors: u32, fua: bool, content: Content },
    /// Waits until so many commands are left inside.
    Drain(u32),
    /// Time passes.
    Idle(u64),
    /// The drive goes to rest.
    Standby,
    /// Everything is erased.
    SecureErase,
}

/// A kind of host.
pub struct Host {
    pub depth: u32,
    span: (u64, u64),
    longest: u64,
    unit: u64,
    /// Out of 100.
    fua: u64,
    flush: u64,
    trim: u64,
    erases: bool,
    compresses: bool,
    /// Shares of copies among what is written.
    copies: [u16; 3],
}

impl Host {
    /// A host that a drive may have.
    pub fn of(random: &mut Random, subject: &Subject, queue_depth: u32) -> Self {
        Self::new(random, subject.sectors, subject.unit(), queue_depth, subject.compresses())
    }

    fn new(random: &mut Random, sectors: u64, unit: u64, queue_depth: u32, compresses: bool) -> Self {
        let unit = unit.clamp(1, sectors);
        // Few places make a drive overwrite its buffer and its blocks; many make it clean and merge.
        let span = match random.between(0, 3) {
            0 => sectors,
            1 => (unit * random.between(1, 3)).min(sectors),
            _ => random.between(1, sectors),
        };
        let first = random.between(0, sectors - span);
        Self {
            depth: (random.between(1, 8) as u32).min(queue_depth),
            span: (first, span),
            longest: random.one(&[unit, 4 * unit, 12 * unit]).min(span),
            unit,
            fua: random.one(&[0, 10, 50]),
            flush: random.one(&[0, 8, 25]),
            trim: random.one(&[0, 10, 25]),
            erases: random.chance(0.15),
            compresses,
            copies: random.one(&[[0, 0, 0], [0, 300, 1000], [300, 900, 1000]]),
        }
    }

    /// Fills some of the drive, or all of it, or none, and writes some of that again.
    pub fn past(&self, random: &mut Random, sectors: u64) -> Vec<Step> {
        let filled = random.one(&[0, sectors / 2, sectors, sectors]);
        let long = (16 * self.unit).min(sectors);
        let mut steps = Vec::new();
        let mut lba = 0;
        while lba < filled {
            let count = long.min(filled - lba);
            steps.push(self.write(random, lba, count, false));
            lba += count;
        }
        if filled > 0 {
            for _ in 0..random.between(0, 2 * sectors / long + 8) {
                let lba = random.between(0, sectors - 1);
                let count = random.between(1, long.min(sectors - lba));
                steps.push(self.write(random, lba, count, false));
            }
        }
        steps
    }

    fn write(&self, random: &mut Random, lba: u64, sectors: u64, fua: bool) -> Step {
        let content = if self.compresses {
            Content {
                compressed_permille: random.one(&[0, 1, 250, 500, 999, 1000]),
                duplicate_permille: random.one(&self.copies),
                pool: random.between(1, 4) as u16,
                seed: random.between(0, 5000) as u32,
            }
        } else {
            Content::RANDOM
        };
        Step::Command { op: Op::Write, lba, sectors: sectors as u32, fua, content }
    }

    /// The next step.
    pub fn step(&self, random: &mut Random) -> Step {
        let (first, span) = self.span;
        let lba = first + random.between(0, span - 1);
        let most = self.longest.min(first + span - lba);
        let mut range = (lba, random.between(1, most));
        if random.chance(0.5) {
            // Whole units.
            let begin = lba / self.unit * self.unit;
            let end = (lba + range.1).next_multiple_of(self.unit);
            if end <= first + span {
                range = (begin, end - begin);
            }
        }
        let (lba, sectors) = range;
        let bare =
            |op| Step::Command { op, lba, sectors: sectors as u32, fua: false, content: Content::RANDOM };
        let draw = random.between(0, 99);
        if draw < self.flush {
            return Step::Command { op: Op::Flush, lba: 0, sectors: 0, fua: false, content: Content::RANDOM };
        }
        if draw < self.flush + self.trim {
            return bare(Op::Trim);
        }
        match random.between(0, 99) {
            0..=5 => Step::Idle(random.between(0, 6_000_000)),
            6..=9 => Step::Drain(0),
            10..=13 => bare(Op::Read),
            14..=16 => Step::Standby,
            17 if self.erases => Step::SecureErase,
            _ => {
                let fua = random.between(0, 99) < self.fua;
                self.write(random, lba, sectors, fua)
            }
        }
    }
}
