//! Things that happen at times that are known before, in order of time.

use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;
use serde::{Deserialize, Serialize};

/// A queue in order of time. When the first of it is due stands beside it: that is asked at every event of a drive,
/// several times more often than anything changes.
///
/// Most items go behind all others, or nearly so, and the first ones leave: a plain row, sorted as it grows. Written down
/// are those that have not left.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Vec<(Nanos, T)>", into = "Vec<(Nanos, T)>")]
#[serde(bound(serialize = "T: Copy + Serialize", deserialize = "T: Deserialize<'de>"))]
pub(crate) struct Timeline<T> {
    next_ns: Nanos,
    /// In order of time. Those before `first` have left.
    items: Vec<(Nanos, T)>,
    first: usize,
}

impl<T> From<Vec<(Nanos, T)>> for Timeline<T> {
    fn from(items: Vec<(Nanos, T)>) -> Self {
        Self { next_ns: items.first().map_or(NEVER, |&(time, _)| time), items, first: 0 }
    }
}

impl<T: Copy> From<Timeline<T>> for Vec<(Nanos, T)> {
    fn from(timeline: Timeline<T>) -> Self {
        timeline.rest().to_vec()
    }
}

/// Places of items that have left are used again when they are half of all, and at least so many: each item is moved once.
const LEAST_LEFT: usize = 64;

impl<T: Copy> Timeline<T> {
    /// Nothing yet; never allocates below `capacity` items.
    pub(crate) fn with_capacity(capacity: u32) -> Self {
        Self { next_ns: NEVER, items: Vec::with_capacity(2 * capacity as usize + LEAST_LEFT), first: 0 }
    }

    /// When the first item is due; `NEVER`: there is none.
    #[inline]
    pub(crate) fn next_ns(&self) -> Nanos {
        self.next_ns
    }

    /// An item that is not due before any other.
    #[inline]
    pub(crate) fn push(&mut self, time: Nanos, item: T) {
        debug_assert!(self.rest().last().is_none_or(|&(last, _)| last <= time));
        self.next_ns = self.next_ns.min(time);
        self.append(time, item);
    }

    /// An item that may be due before others: behind those of the same time.
    #[inline]
    pub(crate) fn insert(&mut self, time: Nanos, item: T) {
        self.insert_before(time, item, |_| false);
    }

    /// An item that may be due before others. Of those of the same time it goes before the last ones, as long as `is_later`
    /// says that they are.
    #[inline]
    pub(crate) fn insert_before(&mut self, time: Nanos, item: T, is_later: impl Fn(T) -> bool) {
        self.next_ns = self.next_ns.min(time);
        self.append(time, item);
        let Some((mut place, before)) = self.items[self.first..].split_last_mut() else { return };
        for other in before.iter_mut().rev() {
            let goes_behind = other.0 > time || (other.0 == time && is_later(other.1));
            if !goes_behind {
                break;
            }
            *place = *other;
            place = other;
        }
        *place = (time, item);
    }

    /// An item that goes before all others, whatever its time: for drives that are broken on purpose.
    pub(crate) fn put_first(&mut self, time: Nanos, item: T) {
        self.next_ns = time;
        self.items.insert(self.first, (time, item));
    }

    /// Behind all others.
    #[inline]
    fn append(&mut self, time: Nanos, item: T) {
        if self.first >= LEAST_LEFT && 2 * self.first >= self.items.len() {
            self.items.drain(..self.first);
            self.first = 0;
        }
        self.items.push((time, item));
    }

    /// The first item.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let &(_, item) = self.items.get(self.first)?;
        self.first += 1;
        if let Some(&(time, _)) = self.items.get(self.first) {
            self.next_ns = time;
        } else {
            self.clear();
        }
        Some(item)
    }

    /// The first item, if it is due.
    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<T> {
        if self.next_ns <= now { self.pop() } else { None }
    }

    /// Takes all but the first `count` items, at least one, with their times.
    pub(crate) fn split_off(&mut self, count: usize) -> impl Iterator<Item = (Nanos, T)> + '_ {
        debug_assert!(count > 0, "what is due next would be another");
        self.items.drain(self.first + count..)
    }

    /// Items.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.rest().len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All items, the first first.
    pub(crate) fn items(&self) -> impl Iterator<Item = &T> {
        self.rest().iter().map(|(_, item)| item)
    }

    /// Nothing is to happen any more.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.first = 0;
        self.next_ns = NEVER;
    }

    /// Whether items are in order of time.
    pub(crate) fn is_sound(&self) -> bool {
        self.rest().is_sorted_by_key(|&(time, _)| time)
            && self.next_ns == self.rest().first().map_or(NEVER, |&(time, _)| time)
            && self.rest().is_empty() == self.items.is_empty()
    }

    /// What has not left, with its times.
    pub(crate) fn rest(&self) -> &[(Nanos, T)] {
        &self.items[self.first..]
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

    proptest! {
        #[test]
        fn what_has_left_takes_no_room(most in 1usize..300, steps in prop::collection::vec(0usize..400, 1..40)) {
            let mut timeline = Timeline::with_capacity(most as u32);
            let room = timeline.items.capacity();
            let mut time = 0;
            for (number, wanted) in steps.into_iter().cycle().take(2000).enumerate() {
                let wanted = wanted.min(most);
                while timeline.len() < wanted {
                    time += 1;
                    timeline.insert(time - number as u64 % 3 % time, number);
                }
                while timeline.len() > wanted {
                    timeline.pop();
                }
                prop_assert!(timeline.items.len() <= 2 * most + LEAST_LEFT);
            }
            prop_assert_eq!(timeline.items.capacity(), room);
        }

        #[test]
        fn what_is_written_down_is_what_has_not_left(times in prop::collection::vec(0u64..20, 1..50), takes in 0usize..50) {
            let mut timeline = Timeline::with_capacity(4);
            for &time in &times {
                timeline.insert(time, time);
            }
            for _ in 0..takes {
                timeline.pop();
            }
            let kept: Timeline<u64> = Vec::from(timeline.clone()).into();
            prop_assert!(kept.is_sound());
            prop_assert_eq!(kept.rest(), timeline.rest());
            prop_assert_eq!(kept.next_ns(), timeline.next_ns());
        }
    }
}
