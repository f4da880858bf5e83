//! What happens inside a drive next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use drivelab_nand::DieIndex;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

/// Something that happens inside a drive at a time that is known before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// The job of a die (or bank) is done.
    JobDone(DieIndex),
    /// A page of the map's log is in flash.
    LogPageDone,
    /// The data of a bank's row is in the page registers.
    RowInRegister(DieIndex),
    /// The data of a read is ready for the link; its slot.
    ReadReady(u32),
}

impl Event {
    const KIND_BITS: u32 = 2;
    const NUMBER_BITS: u32 = u32::BITS - Self::KIND_BITS;

    /// The event in one word; words are in the order of the events.
    #[inline]
    fn word(self) -> u32 {
        let (kind, number) = match self {
            Self::JobDone(die) => (0, die.0),
            Self::LogPageDone => (1, 0),
            Self::RowInRegister(bank) => (2, bank.0),
            Self::ReadReady(slot) => (3, slot),
        };
        kind << Self::NUMBER_BITS | number
    }

    #[inline]
    fn of_word(word: u32) -> Self {
        let number = word & (u32::MAX >> Self::KIND_BITS);
        match word >> Self::NUMBER_BITS {
            0 => Self::JobDone(DieIndex(number)),
            1 => Self::LogPageDone,
            2 => Self::RowInRegister(DieIndex(number)),
            _ => Self::ReadReady(number),
        }
    }
}

/// Events in order of time, those of one instant by kind and number. Time and event are one word, time above:
/// a heap compares words at half the cost of pairs, several times per event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<u128>>,
}

impl EventQueue {
    /// An empty queue that never allocates below `capacity` events.
    pub(crate) fn with_capacity(capacity: u32) -> Self {
        Self { heap: BinaryHeap::with_capacity(capacity as usize) }
    }

    /// An event happens at this time.
    #[inline]
    pub(crate) fn push(&mut self, time: Nanos, event: Event) {
        self.heap.push(Reverse(u128::from(time) << 32 | u128::from(event.word())));
    }

    /// When the next event happens; `u64::MAX`: there is none.
    #[inline]
    pub(crate) fn next_ns(&self) -> Nanos {
        self.heap.peek().map_or(Nanos::MAX, |&Reverse(word)| (word >> 32) as Nanos)
    }

    /// The next event, if it happens now.
    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Event> {
        if self.next_ns() != now {
            return None;
        }
        self.heap.pop().map(|Reverse(word)| Event::of_word(word as u32))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }

    /// How often this is to happen.
    pub(crate) fn count(&self, event: Event) -> usize {
        self.heap.iter().filter(|&&Reverse(word)| word as u32 == event.word()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event() -> impl Strategy<Value = Event> {
        (0u32..4, 0u32..1 << 30).prop_map(|(kind, number)| match kind {
            0 => Event::JobDone(DieIndex(number)),
            1 => Event::LogPageDone,
            2 => Event::RowInRegister(DieIndex(number)),
            _ => Event::ReadReady(number),
        })
    }

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_then_of_kind_and_number(
            steps in prop::collection::vec((0u64..40, event(), any::<bool>()), 1..300)
        ) {
            let mut queue = EventQueue::with_capacity(4);
            let mut plain: Vec<(u64, Event)> = Vec::new();
            let late = 1u64 << 63;
            for (time, event, takes) in steps {
                queue.push(late + time, event);
                plain.push((late + time, event));
                plain.sort_unstable();
                prop_assert_eq!(queue.next_ns(), plain[0].0);
                prop_assert_eq!(queue.take(plain[0].0 - 1), None);
                if takes {
                    let (first, event) = plain.remove(0);
                    prop_assert_eq!(queue.take(first), Some(event));
                }
                prop_assert_eq!(queue.is_empty(), plain.is_empty());
            }
        }
    }
}
