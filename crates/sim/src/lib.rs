//! Virtual time, seeded random streams and the latency histogram.
//!
//! Nothing here reads a clock or the operating system's randomness: one seed, one result, to the bit.

pub mod histogram;
pub mod rng;
pub mod time;

pub use histogram::LatencyHistogram;
pub use rng::Stream;
pub use time::Nanos;
