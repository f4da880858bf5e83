//! Things that happen at times that are known before, in order of time.

use std::collections::VecDeque;

use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;
use serde::{Deserialize, Serialize};

/// A queue in order of time. When the first of it is due stands beside it: that is asked at every event of a drive,
/// several times more often than anything changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timeline<T> {
    next_ns: Nanos,
    queue: VecDeque<(Nanos, T)>,
}

impl<T> Timeline<T> {
    /// Nothing yet; never allocates below `capacity` items.
    pub(crate) fn with_capacity(capacity: u32) -> Self {
        Self { next_ns: NEVER, queue: VecDeque::with_capacity(capacity as usize) }
    }

    /// When the first item is due; `NEVER`: there is none.
    #[inline]
    pub(crate) fn next_ns(&self) -> Nanos {
        self.next_ns
    }

    /// An item that is not due before any other.
    #[inline]
    pub(crate) fn push(&mut self, time: Nanos, item: T) {
        debug_assert!(self.queue.back().is_none_or(|&(last, _)| last <= time));
        self.next_ns = self.next_ns.min(time);
        self.queue.push_back((time, item));
    }

    /// An item that may be due before others: behind those of the same time.
    #[inline]
    pub(crate) fn insert(&mut self, time: Nanos, item: T) {
        let later = self.queue.iter().rev().take_while(|&&(other, _)| other > time).count();
        self.next_ns = self.next_ns.min(time);
        if later == 0 {
            self.queue.push_back((time, item));
        } else {
            self.queue.insert(self.queue.len() - later, (time, item));
        }
    }

    /// An item that goes before all others, whatever its time: for drives that are broken on purpose.
    pub(crate) fn put_first(&mut self, time: Nanos, item: T) {
        self.next_ns = time;
        self.queue.push_front((time, item));
    }

    /// The first item.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let (_, item) = self.queue.pop_front()?;
        self.next_ns = self.queue.front().map_or(NEVER, |&(time, _)| time);
        Some(item)
    }

    /// The first item, if it is due.
    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<T> {
        if self.next_ns <= now { self.pop() } else { None }
    }

    /// Items.
    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// All items, the first first.
    pub(crate) fn items(&self) -> impl Iterator<Item = &T> {
        self.queue.iter().map(|(_, item)| item)
    }

    /// Nothing is to happen any more.
    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.next_ns = NEVER;
    }

    /// Whether items are in order of time.
    pub(crate) fn is_sound(&self) -> bool {
        self.queue.iter().is_sorted_by_key(|&(time, _)| time)
            && self.next_ns == self.queue.front().map_or(NEVER, |&(time, _)| time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_come_in_order_of_time_and_then_as_they_came(
            steps in prop::collection::vec((0u64..20, any::<bool>()), 1..200)
        ) {
            let mut timeline = Timeline::with_capacity(4);
            let mut plain: Vec<(u64, usize)> = Vec::new();
            for (number, (time, takes)) in steps.into_iter().enumerate() {
                timeline.insert(time, number);
                plain.push((time, number));
                plain.sort_by_key(|&(time, _)| time);
                prop_assert!(timeline.is_sound());
                if takes {
                    let (first, number) = plain.remove(0);
                    prop_assert_eq!(timeline.next_ns(), first);
                    prop_assert_eq!(first.checked_sub(1).and_then(|before| timeline.take(before)), None);
                    prop_assert_eq!(timeline.take(first), Some(number));
                }
                prop_assert_eq!(timeline.len(), plain.len());
            }
        }
    }
}
