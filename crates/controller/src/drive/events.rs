//! What happens inside a drive next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use drivelab_nand::DieIndex;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use crate::timeline::Timeline;

/// Something that happens inside a drive at a time that is known before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The job of a die (or bank) is done.
    JobDone(DieIndex),
    /// A page of the map's log is in flash.
    LogPageDone,
    /// The data of a bank's row is in the page registers.
    RowInRegister(DieIndex),
    /// The data of a read is ready for the link; its slot. The last kind: of one instant, reads come behind all else.
    ReadReady(u32),
}

/// How many items are kept in order of time, at most: what nearly all drives have at once. The rest is only sorted as far
/// as a heap is, so that what goes in before others moves no more than these.
const MOST_NEAR: usize = 64;

/// Items in order of time, those of one instant by themselves.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Ord + Copy + Serialize", deserialize = "T: Ord + Deserialize<'de>"))]
struct Ordered<T: Ord> {
    /// The first ones; empty only if there are none at all.
    near: Timeline<T>,
    /// None of them is before any that is near.
    far: BinaryHeap<Reverse<(Nanos, T)>>,
}

impl<T: Ord + Copy> Ordered<T> {
    fn with_capacity(capacity: u32) -> Self {
        Self {
            near: Timeline::with_capacity(capacity.min(2 * MOST_NEAR as u32)),
            far: BinaryHeap::with_capacity(capacity as usize),
        }
    }

    #[inline]
    fn push(&mut self, time: Nanos, item: T) {
        if self.far.peek().is_some_and(|&Reverse(first)| first <= (time, item)) {
            self.far.push(Reverse((time, item)));
            return;
        }
        self.near.insert_before(time, item, |other| other > item);
        if self.near.len() > MOST_NEAR {
            self.spread();
        }
    }

    #[inline]
    fn take(&mut self, now: Nanos) -> Option<T> {
        let item = self.near.take(now)?;
        if self.near.is_empty() {
            self.gather();
        }
        Some(item)
    }

    /// The last half of what is near goes to the rest.
    #[cold]
    fn spread(&mut self) {
        self.far.extend(self.near.split_off(MOST_NEAR / 2).map(Reverse));
    }

    /// The first of the rest come near.
    #[inline(never)]
    fn gather(&mut self) {
        for _ in 0..MOST_NEAR / 2 {
            let Some(Reverse((time, item))) = self.far.pop() else { return };
            self.near.push(time, item);
        }
    }

    fn items(&self) -> impl Iterator<Item = T> {
        let far = self.far.iter().map(|Reverse((_, item))| item);
        self.near.items().chain(far).copied()
    }

    fn is_sound(&self) -> bool {
        let (near, far) = (self.near.rest(), self.far.peek().map(|Reverse(first)| first));
        let ends_before = far.is_none_or(|first| near.last().is_some_and(|last| last <= first));
        self.near.is_sound() && near.is_sorted() && near.len() <= MOST_NEAR && ends_before
    }

    fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
    }
}

/// Events in order of time, those of one instant by kind and number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EventQueue {
    /// Everything but reads.
    jobs: Ordered<Event>,
    /// Reads that are ready, by slot; apart, because they are soon, and would go in before the jobs of all dies.
    reads: Ordered<u32>,
}

impl EventQueue {
    /// An empty queue that never allocates below so many jobs and reads.
    pub(crate) fn with_capacity(jobs: u32, reads: u32) -> Self {
        Self { jobs: Ordered::with_capacity(jobs), reads: Ordered::with_capacity(reads) }
    }

    /// An event happens at this time.
    #[inline]
    pub(crate) fn push(&mut self, time: Nanos, event: Event) {
        match event {
            Event::ReadReady(slot) => self.reads.push(time, slot),
            job => self.jobs.push(time, job),
        }
    }

    /// When the next event happens; `u64::MAX`: there is none.
    #[inline]
    pub(crate) fn next_ns(&self) -> Nanos {
        self.jobs.near.next_ns().min(self.reads.near.next_ns())
    }

    /// The next event, if it happens now.
    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Event> {
        debug_assert!(self.next_ns() >= now, "something was due before");
        self.jobs.take(now).or_else(|| self.reads.take(now).map(Event::ReadReady))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.near.is_empty() && self.reads.near.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.jobs.clear();
        self.reads.clear();
    }

    /// Whether events are in order of time.
    pub(crate) fn are_sound(&self) -> bool {
        self.jobs.is_sound() && self.reads.is_sound()
    }

    /// All that is to happen, in no order.
    pub(crate) fn items(&self) -> impl Iterator<Item = Event> {
        self.jobs.items().chain(self.reads.items().map(Event::ReadReady))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event() -> impl Strategy<Value = Event> {
        (0u32..4, 0u32..20).prop_map(|(kind, number)| match kind {
            0 => Event::JobDone(DieIndex(number)),
            1 => Event::LogPageDone,
            2 => Event::RowInRegister(DieIndex(number)),
            _ => Event::ReadReady(number),
        })
    }

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_then_of_kind_and_number(
            // Filled far beyond what is near, and emptied again, several times.
            phases in prop::collection::vec(
                (prop::collection::vec((0u64..9, event()), 1..300), 0usize..400), 1..6
            )
        ) {
            let mut queue = EventQueue::with_capacity(4, 4);
            let mut plain: Vec<(u64, Event)> = Vec::new();
            let late = 1u64 << 63;
            for (pushed, takes) in phases {
                for (time, event) in pushed {
                    queue.push(late + time, event);
                    plain.push((late + time, event));
                    let count = plain.iter().filter(|&&(_, other)| other == event).count();
                    prop_assert_eq!(queue.items().filter(|&other| other == event).count(), count);
                    prop_assert!(queue.are_sound());
                }
                plain.sort_unstable();
                prop_assert_eq!(queue.next_ns(), plain[0].0);
                prop_assert_eq!(queue.take(plain[0].0 - 1), None);
                for _ in 0..takes.min(plain.len()) {
                    let (first, event) = plain.remove(0);
                    prop_assert_eq!(queue.take(first), Some(event));
                    prop_assert!(queue.are_sound());
                }
                prop_assert_eq!(queue.is_empty(), plain.is_empty());
            }
        }
    }
}
