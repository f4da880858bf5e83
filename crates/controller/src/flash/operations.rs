//! Reads of the host in front of what their die does: programs and erases that are suspended for them, and planes that
//! read each by itself. Only drives whose word lines are told apart ([`WordLineConfig`]) have these books.
//!
//! An operation that is suspended leaves a gap. Reads that come while it lasts join it; then the operation goes on,
//! `resume_ns` later. All that moves is the end of that operation, which is always the last thing that its die is
//! reserved for: where a read is reserved behind an operation, that operation moves no more.

use drivelab_nand::DieIndex;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use super::held_lines::Passes;
use crate::config::WordLineConfig;

/// What a die does that reads may come in front of.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Operation {
    /// It ends then, as far as is known.
    until_ns: Nanos,
    /// It runs, or goes on, from here on.
    runs_from_ns: Nanos,
    /// Reads may have its die from here to where it runs: the end of its data's way over the bus, or of its suspend.
    gap_from_ns: Nanos,
    /// Reads have its die up to here.
    gap_until_ns: Nanos,
    /// For how long it was kept from running so far, and may be.
    kept_ns: Nanos,
    kept_max_ns: Nanos,
    /// From a read's wish to its beginning; `None`: it can't be suspended.
    suspend_ns: Option<Nanos>,
    suspends: u32,
    is_cleaning: bool,
}

/// Where a read goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Place {
    /// Behind all that its die is reserved for, or beside it, on a plane that has nothing to do.
    Behind,
    /// Before the operation runs, or goes on.
    InGap,
    /// The operation stops for it at this time.
    Suspending(Nanos),
}

/// An operation that begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Program,
    Erase,
}

/// What every die does, and until when every plane reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Operations {
    pub config: WordLineConfig,
    dies: Vec<Operation>,
    /// Word lines between two passes, of drives that program in two.
    pub passes: Option<Box<Passes>>,
    /// Planes of the dies, one after the other.
    planes_until_ns: Vec<Nanos>,
    /// No operation ends later than was said when it began.
    ends_are_final: bool,
}

impl Operations {
    /// Dies with nothing to do.
    pub(super) fn new(config: WordLineConfig, dies: u32) -> Self {
        Self {
            config,
            dies: vec![Operation::default(); dies as usize],
            passes: config.passes.map(|passes| Box::new(Passes::new(passes, dies))),
            planes_until_ns: vec![0; (dies * config.planes) as usize],
            ends_are_final: false,
        }
    }

    /// An operation runs from `from` to `until`, the last that its die is reserved for.
    pub(super) fn begin(
        &mut self,
        die: DieIndex,
        kind: Kind,
        (from, until): (Nanos, Nanos),
        is_cleaning: bool,
    ) {
        let suspension = self.config.suspension;
        let suspend_ns = suspension.and_then(|suspension| match kind {
            Kind::Program => suspension.program_ns,
            Kind::Erase => suspension.erase_ns,
        });
        self.dies[die.0 as usize] = Operation {
            until_ns: until,
            runs_from_ns: from,
            gap_from_ns: from,
            gap_until_ns: from,
            kept_ns: 0,
            kept_max_ns: suspension
                .map_or(0, |suspension| (until - from) * Nanos::from(suspension.suspended_max_percent) / 100),
            suspend_ns,
            suspends: 0,
            is_cleaning,
        };
    }

    /// When the operation of a die ends, if it has not.
    pub(super) fn until(&self, die: DieIndex, now: Nanos) -> Option<Nanos> {
        if self.ends_are_final {
            // What the die does by now is not the operation that was asked for, but what is reserved behind it: a page
            // of the log of the map.
            return None;
        }
        Some(self.dies[die.0 as usize].until_ns).filter(|&until| until > now)
    }

    /// Whether what keeps reads of a die waiting is an operation of cleaning.
    pub(super) fn is_cleaning(&self, die: DieIndex) -> bool {
        self.dies[die.0 as usize].is_cleaning
    }

    /// No operation is suspended any more: their ends are final when they begin.
    pub(super) fn suspend_none(&mut self) {
        self.config.suspension = None;
        self.ends_are_final = true;
    }

    fn planes_of(&self, die: DieIndex) -> std::ops::Range<usize> {
        let first = die.0 as usize * self.config.planes as usize;
        first..first + self.config.planes as usize
    }

    /// When all planes in the mask have read what they are asked for.
    fn planes_until(&self, die: DieIndex, planes: u64) -> Nanos {
        let all = self.planes_until_ns[self.planes_of(die)].iter().enumerate();
        all.filter(|&(plane, _)| planes >> plane & 1 != 0).map(|(_, &until)| until).max().unwrap_or(0)
    }

    /// When a read of some planes that comes at `at` begins, on a die that is reserved up to `busy_until`, and where that is.
    pub(super) fn place(
        &self,
        die: DieIndex,
        planes: u64,
        (at, busy_until): (Nanos, Nanos),
        is_cleaning: bool,
    ) -> (Nanos, Place) {
        let operation = &self.dies[die.0 as usize];
        let behind = if self.config.independent_planes {
            operation.until_ns.max(self.planes_until(die, planes)).max(at)
        } else {
            busy_until.max(at)
        };
        if is_cleaning || at >= operation.until_ns || operation.until_ns < busy_until {
            return (behind, Place::Behind);
        }
        let Some(suspension) = self.config.suspension else { return (behind, Place::Behind) };
        let is_kept_enough = operation.kept_ns >= operation.kept_max_ns;
        if at < operation.runs_from_ns {
            if is_kept_enough || operation.suspend_ns.is_none() {
                return (behind, Place::Behind);
            }
            let free = if self.config.independent_planes {
                operation.gap_from_ns.max(self.planes_until(die, planes))
            } else {
                operation.gap_until_ns
            };
            return (free.max(at), Place::InGap);
        }
        let has_suspends = suspension.most == 0 || operation.suspends < suspension.most;
        if let Some(cost_ns) = operation.suspend_ns.filter(|_| has_suspends && !is_kept_enough) {
            let stop = at.max(operation.runs_from_ns + suspension.slice_ns);
            if stop + cost_ns.max(suspension.finish_ns) < operation.until_ns {
                return (stop + cost_ns, Place::Suspending(stop));
            }
        }
        (behind, Place::Behind)
    }

    /// A read is reserved from `begin` to `end` where [`Self::place`] said; by how much the operation ends later.
    pub(super) fn take(
        &mut self,
        die: DieIndex,
        planes: u64,
        place: Place,
        (begin, end): (Nanos, Nanos),
    ) -> Nanos {
        for plane in self.planes_of(die) {
            if planes >> (plane % self.config.planes as usize) & 1 != 0 {
                self.planes_until_ns[plane] = end;
            }
        }
        let resume_ns = self.config.suspension.map_or(0, |suspension| suspension.resume_ns);
        let operation = &mut self.dies[die.0 as usize];
        let later = match place {
            Place::Behind => 0,
            Place::InGap => end.saturating_sub(operation.gap_until_ns),
            Place::Suspending(stop) => {
                operation.suspends += 1;
                operation.gap_from_ns = begin;
                operation.runs_from_ns = stop;
                end + resume_ns - stop
            }
        };
        if place != Place::Behind {
            operation.gap_until_ns = operation.gap_until_ns.max(end);
            operation.runs_from_ns += later;
            operation.until_ns += later;
            operation.kept_ns += later;
        }
        later
    }

    /// Whether every operation that has not ended is the last that its die is reserved for, or moves no more.
    pub(super) fn are_sound(&self, busy_until: impl Iterator<Item = Nanos>) -> bool {
        self.dies.iter().zip(busy_until).all(|(operation, busy_until)| {
            operation.gap_from_ns <= operation.gap_until_ns
                && operation.gap_until_ns <= operation.runs_from_ns
                && operation.runs_from_ns <= operation.until_ns
                && operation.until_ns <= busy_until
        })
    }
}
