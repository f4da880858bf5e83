//! Virtual time: whole nanoseconds since the drive was powered on.

/// A point in virtual time, or a duration, in nanoseconds. 2^64 ns are 584 years.
pub type Nanos = u64;

/// One microsecond.
pub const MICROSECOND: Nanos = 1_000;
/// One millisecond.
pub const MILLISECOND: Nanos = 1_000_000;
/// One second.
pub const SECOND: Nanos = 1_000_000_000;

/// A time that never comes. "Until then" is until nothing is left to happen: the clock stays where the last thing did.
pub const NEVER: Nanos = Nanos::MAX;

/// The latest time at which anything is asked of a drive: 146 years, so that times can be added up without a look at
/// their limit.
pub const LATEST: Nanos = 1 << 62;

/// Time to move `bytes` at `bytes_per_second`, rounded up to a whole nanosecond.
///
/// A rate of 0 means "takes no time" (an ideal link).
#[inline]
#[must_use]
pub fn transfer_ns(bytes: u64, bytes_per_second: u64) -> Nanos {
    if bytes_per_second == 0 {
        return 0;
    }
    // Narrow as long as the product fits: a division of 128 bits is a call.
    match bytes.checked_mul(SECOND) {
        Some(product) => product.div_ceil(bytes_per_second),
        None => {
            let product = u128::from(bytes) * u128::from(SECOND);
            u64::try_from(product.div_ceil(u128::from(bytes_per_second))).unwrap_or(u64::MAX)
        }
    }
}

/// `total * part / whole`, also where the product needs more than 64 bits.
#[inline]
#[must_use]
pub fn share(total: Nanos, part: u64, whole: u64) -> Nanos {
    // Nothing or all, mostly: no division then.
    if part == 0 {
        return 0;
    }
    if part == whole {
        return total;
    }
    match total.checked_mul(part) {
        Some(product) => product / whole,
        None => (u128::from(total) * u128::from(part) / u128::from(whole)) as u64,
    }
}

/// Shares of a total for parts that grow step by step: what [`share`] gives, without a division for each.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    whole: u64,
    /// What a step adds, and what of it is less than 1.
    step: (Nanos, u64),
    /// The same of all so far.
    sum: (Nanos, u64),
}

impl Shares {
    /// The first share is that of `part + step`. `None`: products need more than 64 bits, or the whole is nothing.
    #[inline]
    #[must_use]
    pub fn after(part: u64, step: u64, total: Nanos, whole: u64) -> Option<Self> {
        let split = |part| {
            let product = total.checked_mul(part)?;
            Some((product.checked_div(whole)?, product.checked_rem(whole)?))
        };
        Some(Self { whole, step: split(step)?, sum: split(part)? })
    }

    /// The share of a step more.
    #[inline]
    #[must_use]
    pub fn add_step(&mut self) -> Nanos {
        self.sum.0 += self.step.0;
        self.sum.1 += self.step.1;
        if self.sum.1 >= self.whole {
            self.sum = (self.sum.0 + 1, self.sum.1 - self.whole);
        }
        self.sum.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;

    #[test]
    fn shares_step_by_step_are_those_of_their_parts() {
        let mut random = Stream::new(1, 0);
        for _ in 0..10_000 {
            let [part, step, whole] = [1000, 1000, 1 << 20].map(|end| 1 + random.below(end));
            let total = random.below(1 << 40);
            let mut shares = Shares::after(part, step, total, whole).unwrap();
            for steps in 1..20 {
                let expected = share(total, part + steps * step, whole);
                assert_eq!(shares.add_step(), expected, "{part} + {steps} * {step} of {whole}: of {total}");
            }
        }
    }

    #[test]
    fn shares_that_need_more_room_are_refused() {
        assert!(Shares::after(0, 2, u64::MAX, 3).is_none());
        assert!(Shares::after(0, 1, 1, 0).is_none());
    }

    #[test]
    fn shares_are_rounded_down_and_never_overflow() {
        assert_eq!(
            [share(100, 0, 3), share(100, 1, 3), share(100, 2, 3), share(100, 3, 3)],
            [0, 33, 66, 100]
        );
        assert_eq!(share(u64::MAX, 1 << 40, 1 << 41), u64::MAX / 2);
    }

    #[test]
    fn transfer_time_is_rounded_up_and_never_overflows() {
        assert_eq!(transfer_ns(4096, 40_000_000), 102_400);
        assert_eq!(transfer_ns(1, 3), 333_333_334);
        assert_eq!(transfer_ns(4096, 0), 0);
        assert_eq!(transfer_ns(1 << 40, 1_000_000), (1 << 40) * 1000, "beyond 64 bits on the way");
        assert_eq!(transfer_ns(u64::MAX, 1), u64::MAX);
    }
}
