//! How far a run has come, readable from another thread, and the way to stop it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between the thread that runs a workload and one that watches it.
#[derive(Debug, Default)]
pub struct Progress {
    fraction_bits: AtomicU64,
    cancelled: AtomicBool,
}

impl Progress {
    /// Nothing done yet, not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Share of the run that is done, 0 to 1.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        f64::from_bits(self.fraction_bits.load(Ordering::Relaxed))
    }

    /// Sets the share that is done; clamped to 0 to 1.
    pub fn set_fraction(&self, fraction: f64) {
        let clamped = if fraction > 0.0 { fraction.min(1.0) } else { 0.0 };
        self.fraction_bits.store(clamped.to_bits(), Ordering::Relaxed);
    }

    /// Asks the run to stop; it does so within a few thousand requests, with the error `Cancelled`.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::cancel`] was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
