//! What dies and buses did when, for whoever wants to look at it.

use drivelab_nand::{DieIndex, FlashTiming};
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use super::calendar::Calendar;

/// What a die did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Sensed a page, and kept it until it had left over the bus.
    Read,
    /// Took a page over the bus, and programmed it.
    Program,
    /// Erased a block.
    Erase,
}

/// One operation of a die.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Stretch {
    /// What it was.
    pub work: Work,
    /// Whose.
    pub die: DieIndex,
    /// Whether it was for cleaning, or for wear levelling.
    pub is_cleaning: bool,
    /// The die is busy from here on.
    pub begin_ns: Nanos,
    /// Its bus is taken from here on.
    pub bus_begin_ns: Nanos,
    /// The bus is free again.
    pub bus_end_ns: Nanos,
    /// The die is free again.
    pub end_ns: Nanos,
}

/// Operations that begin within a time, as many as there is room for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recording {
    from_ns: Nanos,
    until_ns: Nanos,
    most: usize,
    /// In the order in which they were reserved.
    pub stretches: Vec<Stretch>,
    /// Operations of this time that found no room.
    pub left_out: u64,
}

impl Recording {
    /// Operations that begin from `from_ns` on and before `until_ns`, the first `most` of them.
    #[must_use]
    pub fn new(from_ns: Nanos, until_ns: Nanos, most: usize) -> Self {
        Self { from_ns, until_ns, most, stretches: Vec::new(), left_out: 0 }
    }

    /// What a die programs or erases up to `end_ns` ends later by so much, because reads came in front of it.
    pub(super) fn put_off(&mut self, die: DieIndex, end_ns: Nanos, later_ns: Nanos) {
        let mut operations = self
            .stretches
            .iter_mut()
            .rev()
            .filter(|stretch| stretch.die == die && stretch.work != Work::Read);
        // The last that is noted may be one of before.
        if let Some(stretch) = operations.next().filter(|stretch| stretch.end_ns == end_ns) {
            stretch.end_ns += later_ns;
        }
    }

    /// Out of line: nobody pays for it who doesn't record.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&mut self, stretch: Stretch) {
        if !(self.from_ns..self.until_ns).contains(&stretch.begin_ns) {
            return;
        }
        if self.stretches.len() < self.most {
            self.stretches.push(stretch);
        } else {
            self.left_out += 1;
        }
    }
}

/// Reserves the bus for a page that is sensed from `begin` on, and while it is, if it is held; notes it, if somebody wants
/// to look. When the page moves.
#[cold]
#[inline(never)]
pub(super) fn reserve_carefully(
    channel: &mut Calendar,
    recording: Option<&mut Recording>,
    timing: &FlashTiming,
    (die, is_cleaning): (DieIndex, bool),
    (begin_ns, bus_ns, now): (Nanos, Nanos, Nanos),
) -> Nanos {
    let read_ns = timing.read_ns;
    let (bus_begin_ns, bus_start) = if timing.hold_bus_while_reading {
        let held = channel.reserve(now, begin_ns, read_ns + bus_ns);
        (held, held + read_ns)
    } else {
        let start = channel.reserve(now, begin_ns + read_ns, bus_ns);
        (start, start)
    };
    if let Some(recording) = recording {
        let (work, end_ns) = (Work::Read, bus_start + bus_ns);
        let bus_end_ns = end_ns;
        recording.note(Stretch { work, die, is_cleaning, begin_ns, bus_begin_ns, bus_end_ns, end_ns });
    }
    bus_start
}
