//! What dies are reserved for.

use drivelab_nand::DieIndex;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

/// What a die has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DieWork {
    /// It is reserved up to here: a time that has passed for a die with nothing to do.
    pub busy_until_ns: Nanos,
    /// For how long it has been reserved since power came or it was erased securely, what has not begun included.
    pub busy_ns: Nanos,
}

/// One die.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Die {
    /// Operations are reserved up to here.
    busy_until_ns: Nanos,
    /// The last stretch of them that belongs to cleaning: its beginning and its end.
    cleaning_from_ns: Nanos,
    cleaning_until_ns: Nanos,
    /// All of them so far.
    busy_ns: Nanos,
}

impl Die {
    /// How long an operation that arrives now waits because of cleaning.
    #[inline]
    fn wait_for_cleaning(&self, now: Nanos) -> Nanos {
        self.cleaning_until_ns.saturating_sub(self.cleaning_from_ns.max(now))
    }

    /// It has something to do up to `end`, after all that it had.
    #[inline]
    fn occupy(&mut self, begin: Nanos, end: Nanos, is_cleaning: bool, all: &mut BusyTime) {
        let goes_on = self.cleaning_until_ns == self.busy_until_ns;
        self.busy_until_ns = end;
        self.busy_ns += end - begin;
        if is_cleaning {
            if !goes_on {
                self.cleaning_from_ns = begin;
            }
            self.cleaning_until_ns = end;
            all.cleaning_ns += end - begin;
        } else {
            all.host_ns += end - begin;
        }
    }
}

/// Busy time of all dies together, by what they were busy with.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BusyTime {
    /// Work that the host asked for.
    pub host_ns: Nanos,
    /// Cleaning and wear levelling.
    pub cleaning_ns: Nanos,
}

/// What all dies are reserved for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Dies {
    dies: Vec<Die>,
    /// Busy time so far.
    pub busy: BusyTime,
}

impl Dies {
    /// Dies with nothing to do.
    pub(super) fn new(count: u32) -> Self {
        Self { dies: vec![Die::default(); count as usize], busy: BusyTime::default() }
    }

    /// When a die is free, from this time on.
    #[inline]
    pub(super) fn free_from(&self, die: DieIndex, from: Nanos) -> Nanos {
        self.dies[die.0 as usize].busy_until_ns.max(from)
    }

    /// Every die, to look at.
    pub(super) fn work(&self) -> impl Iterator<Item = DieWork> + '_ {
        self.dies.iter().map(|die| DieWork { busy_until_ns: die.busy_until_ns, busy_ns: die.busy_ns })
    }

    /// How long an operation that arrives now waits for a die because of cleaning.
    #[inline]
    pub(super) fn wait_for_cleaning(&self, die: DieIndex, now: Nanos) -> Nanos {
        self.dies[die.0 as usize].wait_for_cleaning(now)
    }

    /// An operation that arrives at `from` has a die from when it is free, up to what `until` makes of that; how long it
    /// waits because of cleaning, and when it ends.
    #[allow(clippy::inline_always, reason = "hot, and called by too many to be inlined otherwise")]
    #[inline(always)]
    pub(super) fn reserve(
        &mut self,
        die: DieIndex,
        from: Nanos,
        is_cleaning: bool,
        until: impl FnOnce(Nanos) -> Nanos,
    ) -> (Nanos, Nanos) {
        let die = &mut self.dies[die.0 as usize];
        let for_cleaning = die.wait_for_cleaning(from);
        let begin = die.busy_until_ns.max(from);
        let end = until(begin);
        die.occupy(begin, end, is_cleaning, &mut self.busy);
        (for_cleaning, end)
    }

    /// Whether every die's cleaning ends with its work at the latest.
    pub(super) fn are_sound(&self) -> bool {
        self.dies.iter().all(|die| {
            die.cleaning_from_ns <= die.cleaning_until_ns && die.cleaning_until_ns <= die.busy_until_ns
        })
    }

    /// What a die does ends later by so much, because reads of the host came in front of it.
    pub(super) fn put_off(&mut self, die: DieIndex, later: Nanos) {
        let die = &mut self.dies[die.0 as usize];
        if die.cleaning_until_ns == die.busy_until_ns {
            die.cleaning_until_ns += later;
        }
        die.busy_until_ns += later;
        die.busy_ns += later;
        self.busy.host_ns += later;
    }

    /// A die has something to do up to `end`, after all that it had.
    #[inline]
    pub(super) fn occupy(&mut self, die: DieIndex, begin: Nanos, end: Nanos, is_cleaning: bool) {
        self.dies[die.0 as usize].occupy(begin, end, is_cleaning, &mut self.busy);
    }
}
