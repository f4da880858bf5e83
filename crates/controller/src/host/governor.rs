//! A firmware's limits on writes: how many it works on in a second, and how evenly it lets them into the buffer.
//!
//! A write above the limit waits in front of the firmware's processor, in order; everything else passes it.
//!
//! Write credits: flash frees the buffer a word line at a time, and not at all while a die erases. Firmware that wants
//! writes at saturation to take the same time, all of them, gives that space back evenly. Space of w units that is withheld
//! is given back at a rate of w / T units a second, a unit at a time, with T = `credit_ns`. So w comes to T times the rate of flash, and
//! what lies below that time is smoothed; the rate is that of flash, whatever cleaning leaves of it.

use drivelab_sim::Nanos;
use drivelab_sim::time::SECOND;
use serde::{Deserialize, Serialize};

use crate::config::GovernorConfig;
use crate::timeline::Timeline;

/// A token bucket, kept as the time at which it would be full again, and the writes that wait for a token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Governor {
    /// Between two writes at the sustained rate; 0: no limit.
    interval_ns: Nanos,
    /// Credit, as time at the sustained rate.
    burst_ns: Nanos,
    full_again_ns: Nanos,
    /// Slots of the writes that wait, by when each has its token; or [`CREDIT`].
    held: Timeline<u32>,
    credit_ns: Nanos,
    /// Units of the buffer's space that are withheld.
    withheld: u32,
}

/// In place of a slot: a unit of withheld space goes back.
const CREDIT: u32 = u32::MAX;

/// What a governor lets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// A write has its token; its slot.
    Write(u32),
    /// A unit of space goes back to writes that wait for it.
    Credit,
}

impl Governor {
    /// A governor with all its credit; at most `queue_depth` writes wait.
    pub(crate) fn new(config: GovernorConfig, queue_depth: u32) -> Self {
        let interval_ns = match config.commands_per_s {
            0 => 0,
            rate => SECOND / u64::from(rate),
        };
        let depth = if interval_ns == 0 { 0 } else { queue_depth };
        Self {
            interval_ns,
            burst_ns: interval_ns * u64::from(config.burst_commands),
            full_again_ns: 0,
            held: Timeline::with_capacity(depth),
            credit_ns: config.credit_ns,
            withheld: 0,
        }
    }

    /// Whether space that becomes free is withheld for a while.
    #[inline]
    pub(crate) fn gives_credit(&self) -> bool {
        self.credit_ns > 0
    }

    /// Space of so many units has become free while writes wait for it, and is withheld.
    pub(crate) fn withhold(&mut self, units: u32, now: Nanos) {
        self.withheld += units;
        self.set_credit(now);
    }

    /// The next unit goes back when the amount that is withheld says so, or when it was to go before.
    fn set_credit(&mut self, now: Nanos) {
        let next = now + self.credit_ns / u64::from(self.withheld.max(1));
        let next = next.min(self.held.next_ns());
        self.held.clear();
        if self.withheld > 0 {
            self.held.push(next, CREDIT);
        }
    }

    /// A unit has gone back. Writes `wait` for more, or all goes back: how many units.
    pub(crate) fn credit(&mut self, waits: bool, now: Nanos) -> u32 {
        let units = if waits { 1 } else { self.withheld };
        self.withheld -= units;
        self.set_credit(now);
        units
    }

    /// Units of space that are withheld.
    pub(crate) fn withheld(&self) -> u32 {
        self.withheld
    }

    /// When a write that came at `now` has a token; takes it.
    #[inline]
    fn admit(&mut self, now: Nanos) -> Nanos {
        let start = now.max(self.full_again_ns.saturating_sub(self.burst_ns));
        self.full_again_ns = self.full_again_ns.max(start) + self.interval_ns;
        start
    }

    /// A write comes. `true`: it must wait, behind those that wait already.
    #[inline]
    pub(crate) fn holds(&mut self, slot: u32, now: Nanos) -> bool {
        if self.interval_ns == 0 {
            return false;
        }
        let start = self.admit(now);
        let waits = start > now || !self.held.is_empty();
        if waits {
            self.held.push(start, slot);
        }
        waits
    }

    /// Writes that wait.
    pub(crate) fn held(&self) -> usize {
        if self.credit_ns == 0 { self.held.len() } else { 0 }
    }

    /// When the next write that waits has its token; `NEVER`: none waits.
    #[inline]
    pub(crate) fn next_release_ns(&self) -> Nanos {
        self.held.next_ns()
    }

    /// What may go now.
    pub(crate) fn release(&mut self, now: Nanos) -> Option<Release> {
        self.held.take(now).map(|slot| if slot == CREDIT { Release::Credit } else { Release::Write(slot) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_sim::time::NEVER;

    fn limit(burst_commands: u32) -> GovernorConfig {
        GovernorConfig { commands_per_s: 1000, burst_commands, credit_ns: 0 }
    }

    #[test]
    fn withheld_space_goes_back_evenly_and_as_fast_as_it_comes() {
        let mut governor = Governor::new(GovernorConfig { credit_ns: 10_000_000, ..limit(0) }, 4);
        // 48 units every 400 us are 120,000 a second: 1200 of them are withheld in the end.
        let (mut given, mut gaps) = (0u32, Vec::new());
        let mut last = 0;
        for page in 1..1000u64 {
            let now = page * 400_000;
            while governor.next_release_ns() < now {
                let at = governor.next_release_ns();
                assert_eq!(governor.release(at), Some(Release::Credit));
                given += governor.credit(true, at);
                if page > 500 {
                    gaps.push(at - last);
                }
                last = at;
            }
            governor.withhold(48, now);
        }
        assert!((1150..1300).contains(&governor.withheld()), "{} withheld", governor.withheld());
        assert_eq!(given + governor.withheld(), 999 * 48);
        let (least, most) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
        assert!(*least > 7900 && *most < 8800, "gaps of {least} to {most} ns, on average 8333");
        // Nobody waits: all goes back.
        let at = governor.next_release_ns();
        assert_eq!(governor.release(at), Some(Release::Credit));
        assert!(governor.credit(false, at) > 1000);
        assert_eq!((governor.withheld(), governor.next_release_ns()), (0, NEVER));
    }

    #[test]
    fn a_burst_passes_then_the_sustained_rate_holds() {
        let mut governor = Governor::new(limit(10), 32);
        let starts: Vec<_> = (0..21).map(|_| governor.admit(0)).collect();
        assert!(starts[..11].iter().all(|&start| start == 0));
        assert_eq!(starts[20], 10 * 1_000_000);
        // A second of rest fills the credit again.
        assert_eq!(governor.admit(SECOND + starts[20]), SECOND + starts[20]);
        assert_eq!((0..9).map(|_| governor.admit(SECOND + starts[20])).max(), Some(SECOND + starts[20]));
    }

    #[test]
    fn writes_that_wait_are_released_in_order_one_an_interval() {
        let mut governor = Governor::new(limit(0), 4);
        assert!(!governor.holds(7, 500), "the first has its token");
        assert!(governor.holds(3, 500) && governor.holds(1, 600));
        assert_eq!(governor.next_release_ns(), 500 + 1_000_000);
        assert_eq!(governor.release(1_000_499), None);
        assert_eq!(governor.release(1_000_500), Some(Release::Write(3)));
        // One that comes at the very time of the next token comes behind the one that has waited for it.
        assert!(governor.holds(2, 2_000_500));
        assert_eq!(governor.release(2_000_500), Some(Release::Write(1)));
        assert_eq!(governor.release(3_000_500), Some(Release::Write(2)));
        assert_eq!(governor.next_release_ns(), NEVER);
    }

    #[test]
    fn no_limit_holds_nothing() {
        let mut governor = Governor::new(GovernorConfig::default(), 4);
        assert!((0..5).all(|slot| !governor.holds(slot, 7)));
        assert_eq!(governor.next_release_ns(), NEVER);
    }
}
