//! Bins of times, 32 to each octave: those of a bin differ by one part in 32.

use drivelab_sim::Nanos;

const LOG2: u32 = 5;

/// How many bins there are.
pub const COUNT: usize = (u64::BITS as usize) << LOG2;

/// Empty bins, made where they stay: they are too many for the stack.
///
/// # Panics
/// Never: as many are made as fit.
#[must_use]
pub fn empty<T: Clone + Default, const N: usize>() -> Box<[T; N]> {
    let bins = vec![T::default(); N].into_boxed_slice().try_into();
    bins.unwrap_or_else(|_| unreachable!("{N} bins were made"))
}

/// The bin of a time: its highest bit, and those after it. Less than [`COUNT`].
#[inline]
#[must_use]
pub const fn of(time_ns: Nanos) -> usize {
    let octave = (time_ns | 1).ilog2();
    // The highest bit and the five after it, also of times that have fewer.
    let scaled = ((time_ns as u128) << LOG2 >> octave) as usize;
    ((octave as usize) << LOG2) + (scaled & ((1 << LOG2) - 1))
}

/// The least time of a bin.
#[must_use]
pub fn least(bin: usize) -> Nanos {
    let parts = (1u128 << LOG2) + (bin & ((1 << LOG2) - 1)) as u128;
    ((parts << (bin >> LOG2)) >> LOG2) as Nanos
}

/// The greatest time of a bin.
#[must_use]
pub fn greatest(bin: usize) -> Nanos {
    if bin + 1 == COUNT {
        return Nanos::MAX;
    }
    // Of a few ns there are more bins than times.
    least(bin).max(least(bin + 1).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_lies_between_the_ends_of_its_bin() {
        for time_ns in (0..20_000).chain((0..64).map(|bit| 1 << bit)).chain([u64::MAX - 1, u64::MAX]) {
            let bin = of(time_ns);
            assert!(bin < COUNT);
            let least = if time_ns == 0 { 0 } else { least(bin) };
            assert!(least <= time_ns && time_ns - least <= time_ns / 32, "{time_ns}: {least}");
            assert!(greatest(bin) >= time_ns, "{time_ns}");
        }
    }
}
