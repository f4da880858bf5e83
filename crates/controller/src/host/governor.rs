//! A firmware's limit on how many writes it works on in a second.
//!
//! A write above the limit waits in front of the firmware's processor, in order; everything else passes it.

use drivelab_sim::Nanos;
use drivelab_sim::time::SECOND;

use crate::config::GovernorConfig;
use crate::timeline::Timeline;

/// A token bucket, kept as the time at which it would be full again, and the writes that wait for a token.
#[derive(Clone, Debug)]
pub(crate) struct Governor {
    /// Between two writes at the sustained rate; 0: no limit.
    interval_ns: Nanos,
    /// Credit, as time at the sustained rate.
    burst_ns: Nanos,
    full_again_ns: Nanos,
    /// Slots of the writes that wait, by when each has its token.
    held: Timeline<u32>,
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
        }
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
        self.held.len()
    }

    /// When the next write that waits has its token; `NEVER`: none waits.
    #[inline]
    pub(crate) fn next_release_ns(&self) -> Nanos {
        self.held.next_ns()
    }

    /// The write that has its token now.
    pub(crate) fn release(&mut self, now: Nanos) -> Option<u32> {
        self.held.take(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_sim::time::NEVER;

    #[test]
    fn a_burst_passes_then_the_sustained_rate_holds() {
        let mut governor = Governor::new(GovernorConfig { commands_per_s: 1000, burst_commands: 10 }, 32);
        let starts: Vec<_> = (0..21).map(|_| governor.admit(0)).collect();
        assert!(starts[..11].iter().all(|&start| start == 0));
        assert_eq!(starts[20], 10 * 1_000_000);
        // A second of rest fills the credit again.
        assert_eq!(governor.admit(SECOND + starts[20]), SECOND + starts[20]);
        assert_eq!((0..9).map(|_| governor.admit(SECOND + starts[20])).max(), Some(SECOND + starts[20]));
    }

    #[test]
    fn writes_that_wait_are_released_in_order_one_an_interval() {
        let mut governor = Governor::new(GovernorConfig { commands_per_s: 1000, burst_commands: 0 }, 4);
        assert!(!governor.holds(7, 500), "the first has its token");
        assert!(governor.holds(3, 500) && governor.holds(1, 600));
        assert_eq!(governor.next_release_ns(), 500 + 1_000_000);
        assert_eq!(governor.release(1_000_499), None);
        assert_eq!(governor.release(1_000_500), Some(3));
        // One that comes at the very time of the next token comes behind the one that has waited for it.
        assert!(governor.holds(2, 2_000_500));
        assert_eq!(governor.release(2_000_500), Some(1));
        assert_eq!(governor.release(3_000_500), Some(2));
        assert_eq!(governor.next_release_ns(), NEVER);
    }

    #[test]
    fn no_limit_holds_nothing() {
        let mut governor = Governor::new(GovernorConfig::default(), 4);
        assert!((0..5).all(|slot| !governor.holds(slot, 7)));
        assert_eq!(governor.next_release_ns(), NEVER);
    }
}
