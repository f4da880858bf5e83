//! Where the time of a served drive comes from: the one place in which virtual time meets the wall clock.
#![allow(clippy::disallowed_methods, reason = "a server answers at the model's speed, in real time")]

use std::time::{Duration, Instant};

/// How a drive's time passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// As fast as the clock on the wall.
    Real,
    /// So many seconds of the drive in one second on the wall; 2 makes a drive twice as fast.
    Scaled(f64),
    /// The drive waits for nothing: time passes only while it has requests, as far as they need.
    Instant,
}

impl Clock {
    /// What is wrong with it, in one line: key, value, limit.
    ///
    /// # Errors
    /// A scale outside of 1e-6 to 1e6.
    pub fn validate(self) -> Result<(), String> {
        match self {
            Self::Scaled(scale) if !(1e-6..=1e6).contains(&scale) => {
                Err(format!("clock: {scale}; a scale from 0.000001 to 1000000"))
            }
            _ => Ok(()),
        }
    }
}

/// Tells the time of the drive and of the wall.
pub(crate) struct Timekeeper {
    /// Drive seconds per wall second; `None`: time passes only as it is needed.
    scale: Option<f64>,
    started: Instant,
    instant_ns: u64,
}

impl Timekeeper {
    pub(crate) fn new(clock: Clock) -> Self {
        let scale = match clock {
            Clock::Real => Some(1.0),
            Clock::Scaled(scale) => Some(scale),
            Clock::Instant => None,
        };
        Self { scale, started: Instant::now(), instant_ns: 0 }
    }

    /// Time passes only as requests need it.
    pub(crate) fn is_instant(&self) -> bool {
        self.scale.is_none()
    }

    /// Time on the wall since the start.
    pub(crate) fn wall(&self) -> Duration {
        self.started.elapsed()
    }

    /// The drive's time.
    pub(crate) fn now_ns(&self) -> u64 {
        match self.scale {
            None => self.instant_ns,
            Some(1.0) => u64::try_from(self.wall().as_nanos()).unwrap_or(u64::MAX),
            Some(scale) => (self.wall().as_secs_f64() * scale * 1e9) as u64,
        }
    }

    /// Moves the drive's time on to that of an event, if it passes only as it is needed.
    pub(crate) fn reach(&mut self, event_ns: u64) -> u64 {
        self.instant_ns = self.instant_ns.max(event_ns);
        self.instant_ns
    }

    /// How long to wait on the wall for a moment of the drive.
    pub(crate) fn until(&self, event_ns: u64) -> Duration {
        let left_ns = event_ns.saturating_sub(self.now_ns());
        match self.scale {
            None => Duration::ZERO,
            Some(1.0) => Duration::from_nanos(left_ns),
            Some(scale) => Duration::from_secs_f64((left_ns as f64 / scale / 1e9).min(1e6)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scaled_clock_runs_faster_and_an_instant_one_only_when_asked() {
        let scaled = Timekeeper::new(Clock::Scaled(1000.0));
        std::thread::sleep(Duration::from_millis(2));
        assert!(scaled.now_ns() >= 2_000_000_000);
        assert!(scaled.until(scaled.now_ns() + 1_000_000_000) <= Duration::from_millis(1));
        let mut instant = Timekeeper::new(Clock::Instant);
        assert_eq!(instant.now_ns(), 0);
        assert_eq!(instant.reach(500), 500);
        assert_eq!(instant.reach(400), 500);
    }

    #[test]
    fn a_scale_that_is_no_speed_is_refused() {
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Clock::Scaled(scale).validate().is_err(), "{scale}");
        }
        assert_eq!(Clock::Scaled(10.0).validate(), Ok(()));
    }
}
