//! Reservations of a shared resource, with gaps that later requests may fill.
//!
//! A read reserves its bus transfer for when sensing will be done; meanwhile another die may use the bus.

use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

/// Intervals above which those that have passed are looked for where nothing else would find them.
const MOST: usize = 32;

/// Busy intervals of one channel's bus, in order, not overlapping.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Calendar {
    busy: Vec<(Nanos, Nanos)>,
}

impl Calendar {
    /// Reserves `duration` at the earliest time from `ready` on that is free; what has passed `now`, which `ready` is not
    /// before, may be forgotten. Gives the start.
    #[inline]
    pub fn reserve(&mut self, now: Nanos, ready: Nanos, duration: Nanos) -> Nanos {
        debug_assert!(ready >= now, "in the past, of which not all is known");
        let end = ready + duration;
        match self.busy.last_mut() {
            Some((_, last)) if *last > ready => return self.reserve_between(now, ready, duration),
            // Behind all that there is, as most are.
            Some((_, last)) if *last == ready => *last = end,
            Some((_, last)) => {
                if *last <= now {
                    self.busy.clear();
                } else if self.busy.len() >= MOST {
                    self.forget_before(now);
                }
                self.busy.push((ready, end));
            }
            None => self.busy.push((ready, end)),
        }
        ready
    }

    /// Intervals that have passed.
    #[inline]
    fn forget_before(&mut self, now: Nanos) {
        let old = self.busy.iter().take_while(|&&(_, end)| end <= now).count();
        self.busy.drain(..old);
    }

    /// The same where something is reserved later than `ready`.
    fn reserve_between(&mut self, now: Nanos, ready: Nanos, duration: Nanos) -> Nanos {
        if self.busy.len() >= MOST {
            self.forget_before(now);
        }
        let mut start = ready;
        // Nearly everything lies before: what ends later is sought from the end.
        let mut at = self.busy.len() - self.busy.iter().rev().take_while(|&&(_, end)| end > ready).count();
        while at < self.busy.len() {
            let (begin, end) = self.busy[at];
            if start + duration <= begin {
                break;
            }
            start = start.max(end);
            at += 1;
        }
        if at > 0 && self.busy[at - 1].1 == start {
            self.busy[at - 1].1 = start + duration;
            if at < self.busy.len() && self.busy[at].0 == start + duration {
                self.busy[at - 1].1 = self.busy[at].1;
                self.busy.remove(at);
            }
        } else {
            self.busy.insert(at, (start, start + duration));
        }
        start
    }

    /// Nothing is reserved from here on; a time that has passed where nothing is.
    #[inline]
    pub(crate) fn until(&self) -> Nanos {
        self.busy.last().map_or(0, |&(_, end)| end)
    }

    /// Whether intervals are in order and apart.
    pub(crate) fn is_sound(&self) -> bool {
        self.busy.iter().all(|(begin, end)| begin <= end)
            && self.busy.windows(2).all(|pair| pair[0].1 <= pair[1].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gaps_are_filled() {
        let mut bus = Calendar::default();
        assert_eq!(bus.reserve(0, 100, 50), 100);
        assert_eq!(bus.reserve(0, 0, 100), 0);
        assert_eq!(bus.reserve(0, 0, 10), 150);
        assert_eq!(bus.reserve(0, 400, 10), 400);
        assert_eq!(bus.reserve(0, 100, 20), 160);
    }

    #[test]
    fn intervals_that_have_passed_are_forgotten_however_many_there_were() {
        let mut bus = Calendar::default();
        for ahead in (1..=40).rev() {
            bus.reserve(0, 1000 + 10 * ahead, 5);
        }
        for time in 200..2000 {
            bus.reserve(10 * time, 10 * time + 8, 5);
            assert!(bus.busy.len() <= 40 + MOST);
        }
        assert!(bus.busy.len() <= MOST);
    }

    proptest! {
        #[test]
        fn never_two_at_once_never_too_early(requests in prop::collection::vec((0u64..50, 0u64..200, 1u64..60), 1..200)) {
            let mut bus = Calendar::default();
            let mut now = 0;
            let mut granted: Vec<(u64, u64)> = Vec::new();
            for (step, later, duration) in requests {
                now += step;
                let ready = now + later;
                let start = bus.reserve(now, ready, duration);
                prop_assert!(start >= ready);
                prop_assert!(granted.iter().all(|&(begin, end)| start + duration <= begin || end <= start));
                // Earliest: every earlier start would have collided with something.
                for earlier in ready..start {
                    prop_assert!(granted.iter().any(|&(begin, end)| earlier < end && begin < earlier + duration));
                }
                granted.push((start, start + duration));
            }
        }
    }
}
