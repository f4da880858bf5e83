//! Virtual time, seeded random streams and the latency histogram.
//!
//! Nothing here reads a clock or the operating system's randomness: one seed, one result, to the bit.

pub mod histogram;
pub mod rng;
pub mod sabotage;
pub mod table;
pub mod time;

pub use histogram::LatencyHistogram;
pub use rng::Stream;
pub use table::Table;
pub use time::Nanos;

/// Brings an element of a large table into the processor's cache; a hint that never changes a result.
#[inline]
#[allow(unsafe_code, reason = "the prefetch instruction has no safe form; the index is checked first")]
pub fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if index < table.len() {
        // SAFETY: the address lies inside the slice, and a prefetch does not access memory architecturally.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(table.as_ptr().add(index).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}
