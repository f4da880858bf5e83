//! A firmware's limit on how many commands it works on in a second.

use drivelab_sim::Nanos;
use drivelab_sim::time::SECOND;

use crate::config::GovernorConfig;

/// A token bucket, kept as the time at which it would be full again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Governor {
    /// Between two commands at the sustained rate; 0: no limit.
    interval_ns: Nanos,
    /// Credit, as time at the sustained rate.
    burst_ns: Nanos,
    full_again_ns: Nanos,
}

impl Governor {
    pub(crate) fn new(config: GovernorConfig) -> Self {
        let interval_ns = match config.commands_per_s {
            0 => 0,
            rate => SECOND / u64::from(rate),
        };
        Self { interval_ns, burst_ns: interval_ns * u64::from(config.burst_commands), full_again_ns: 0 }
    }

    /// When a command that could begin at `ready` may begin; takes its token.
    #[inline]
    pub(crate) fn admit(&mut self, ready: Nanos) -> Nanos {
        if self.interval_ns == 0 {
            return ready;
        }
        let start = ready.max(self.full_again_ns.saturating_sub(self.burst_ns));
        self.full_again_ns = self.full_again_ns.max(start) + self.interval_ns;
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_then_the_sustained_rate_holds() {
        let mut governor = Governor::new(GovernorConfig { commands_per_s: 1000, burst_commands: 10 });
        let starts: Vec<_> = (0..21).map(|_| governor.admit(0)).collect();
        assert!(starts[..11].iter().all(|&start| start == 0));
        assert_eq!(starts[20], 10 * 1_000_000);
        // A second of rest fills the credit again.
        assert_eq!(governor.admit(SECOND + starts[20]), SECOND + starts[20]);
        assert_eq!((0..9).map(|_| governor.admit(SECOND + starts[20])).max(), Some(SECOND + starts[20]));
    }

    #[test]
    fn no_limit_delays_nothing() {
        let mut governor = Governor::new(GovernorConfig::default());
        assert_eq!((0..5).map(|_| governor.admit(7)).max(), Some(7));
    }
}
