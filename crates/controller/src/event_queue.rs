//! What happens inside a drive next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use drivelab_sim::Nanos;

/// Events in order of time, those of one instant in order of their numbers. Time and number are one word, time above:
/// a heap compares words at half the cost of pairs, several times per event.
#[derive(Clone, Debug)]
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
    pub(crate) fn push(&mut self, time: Nanos, number: u32) {
        self.heap.push(Reverse(u128::from(time) << 32 | u128::from(number)));
    }

    /// When the next event happens; `u64::MAX`: there is none.
    #[inline]
    pub(crate) fn next_ns(&self) -> Nanos {
        self.heap.peek().map_or(Nanos::MAX, |&Reverse(word)| (word >> 32) as Nanos)
    }

    /// The next event, if it happens now.
    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<u32> {
        if self.next_ns() != now {
            return None;
        }
        self.heap.pop().map(|Reverse(word)| word as u32)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }

    /// How many events have this number.
    pub(crate) fn count(&self, number: u32) -> usize {
        self.heap.iter().filter(|&&Reverse(word)| word as u32 == number).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_then_of_number(
            steps in prop::collection::vec((0u64..40, any::<u32>(), any::<bool>()), 1..300)
        ) {
            let mut queue = EventQueue::with_capacity(4);
            let mut plain: Vec<(u64, u32)> = Vec::new();
            let late = 1u64 << 63;
            for (time, number, takes) in steps {
                queue.push(late + time, number);
                plain.push((late + time, number));
                plain.sort_unstable();
                prop_assert_eq!(queue.next_ns(), plain[0].0);
                prop_assert_eq!(queue.take(plain[0].0 - 1), None);
                if takes {
                    let (first, number) = plain.remove(0);
                    prop_assert_eq!(queue.take(first), Some(number));
                }
                prop_assert_eq!(queue.is_empty(), plain.is_empty());
            }
        }
    }
}
