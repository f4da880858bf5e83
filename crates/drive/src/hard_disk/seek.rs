//! How long the arm takes for a number of cylinders.
//!
//! t(d) = a + b sqrt(d) + c d for d >= 1, and 0 for d = 0: the arm accelerates and brakes over short distances
//! (time grows with the root), coasts at full speed over long ones (time grows with the distance), and settles at
//! the end \[RW\]. The three numbers follow from the three times that specifications give: one cylinder, the mean
//! over all pairs of cylinders, and all cylinders. c may come out below zero, where short seeks are held back to
//! save noise and power, as long as a longer seek never takes less time.

use drivelab_nand::GeometryError;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use super::config::ArmConfig;

/// Most cylinders: the mean is a sum over all distances.
pub(crate) const CYLINDERS_MAX: u32 = 1 << 22;
/// Fewest cylinders that three conditions can be put to.
pub(crate) const CYLINDERS_MIN: u32 = 4;

/// The curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeekCurve {
    constant_ns: f64,
    root_ns: f64,
    linear_ns: f64,
}

impl SeekCurve {
    /// The curve through the arm's three times on so many cylinders.
    ///
    /// # Errors
    /// Times that no such curve goes through; the message says which full stroke would do.
    pub fn new(cylinders: u32, arm: &ArmConfig) -> Result<Self, GeometryError> {
        debug_assert!((CYLINDERS_MIN..=CYLINDERS_MAX).contains(&cylinders), "the geometry has checked");
        let one = arm.track_to_track_ns as f64;
        let mean = arm.average_seek_ns as f64 - one;
        let full = arm.full_stroke_ns as f64 - one;
        if mean < 0.0 {
            let allowed = format!("must be at least disk.track_to_track_ns = {}", arm.track_to_track_ns);
            return Err(GeometryError::new("disk.average_seek_ns", arm.average_seek_ns, allowed));
        }
        // Both unknowns multiply what a function of d exceeds its value at d = 1 by.
        let (root_mean, linear_mean) = means(cylinders);
        let (root_mean, linear_mean) = (root_mean - 1.0, linear_mean - 1.0);
        let longest = f64::from(cylinders - 1);
        let (root_full, linear_full) = (longest.sqrt() - 1.0, longest - 1.0);
        // The flattest end: c = -b / (2 sqrt(longest)), where the slope at the longest seek is zero.
        let flat = -0.5 / longest.sqrt();
        let least = mean * (root_full + flat * linear_full) / (root_mean + flat * linear_mean);
        let most = mean * linear_full / linear_mean;
        // Half a nanosecond: the limits are printed as whole numbers.
        if full < least - 0.5 || full > most + 0.5 {
            let allowed = format!(
                "must be from {:.0} to {:.0}, so that with the other two seek times longer seeks take longer",
                (least + one).ceil(),
                (most + one).floor()
            );
            return Err(GeometryError::new("disk.full_stroke_ns", arm.full_stroke_ns, allowed));
        }
        let determinant = root_mean * linear_full - linear_mean * root_full;
        let root_ns = ((mean * linear_full - full * linear_mean) / determinant).max(0.0);
        let linear_ns = (full * root_mean - mean * root_full) / determinant;
        Ok(Self { constant_ns: one - root_ns - linear_ns, root_ns, linear_ns })
    }

    /// Time for this many cylinders.
    #[inline]
    #[must_use]
    pub fn seek_ns(&self, cylinders: u32) -> Nanos {
        if cylinders == 0 {
            return 0;
        }
        let distance = f64::from(cylinders);
        // Root, product and sum are exactly rounded everywhere, so the same on every machine.
        (self.constant_ns + self.root_ns * distance.sqrt() + self.linear_ns * distance + 0.5) as Nanos
    }
}

/// Means of sqrt(d) and of d over all pairs of different cylinders: distance d has weight 2 (C - d) / (C (C - 1)).
fn means(cylinders: u32) -> (f64, f64) {
    let count = f64::from(cylinders);
    let sum: f64 =
        (1..cylinders).map(|distance| f64::from(cylinders - distance) * f64::from(distance).sqrt()).sum();
    (2.0 * sum / (count * (count - 1.0)), (count + 1.0) / 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(one: Nanos, average: Nanos, full: Nanos) -> ArmConfig {
        ArmConfig {
            track_to_track_ns: one,
            average_seek_ns: average,
            full_stroke_ns: full,
            head_switch_ns: 0,
            write_settle_ns: 0,
        }
    }

    #[test]
    fn the_curve_goes_through_its_three_times() {
        let cylinders = 5000;
        let curve = SeekCurve::new(cylinders, &arm(750_000, 4_200_000, 9_000_000)).unwrap();
        assert_eq!(curve.seek_ns(0), 0);
        assert_eq!(curve.seek_ns(1), 750_000);
        assert_eq!(curve.seek_ns(cylinders - 1), 9_000_000);
        let pairs = u64::from(cylinders) * u64::from(cylinders - 1) / 2;
        let sum: u64 = (1..cylinders).map(|d| u64::from(cylinders - d) * curve.seek_ns(d)).sum();
        assert!((sum / pairs).abs_diff(4_200_000) <= 1, "{}", sum / pairs);
        let mut last = 0;
        for distance in 0..cylinders {
            assert!(curve.seek_ns(distance) >= last);
            last = curve.seek_ns(distance);
        }
    }

    #[test]
    fn the_limits_of_the_full_stroke_are_said_and_kept() {
        let error = SeekCurve::new(100_000, &arm(750_000, 4_200_000, 20_000_000)).unwrap_err();
        assert_eq!(error.key, "disk.full_stroke_ns");
        // Over pairs of [0, 1] the mean of sqrt(x) is 8/15 and that of x 1/3. A line has 3 times its mean at the end;
        // the flattest curve, sqrt(x) - x / 2, has 1/2 where its mean is 8/15 - 1/6.
        let flat = 750_000.0 + 3_450_000.0 * 15.0 / 11.0;
        let line = 750_000.0 + 3_450_000.0 * 3.0;
        for (full, ok) in
            [(flat * 1.01, true), (line * 0.99, true), (flat * 0.99, false), (line * 1.01, false)]
        {
            let curve = SeekCurve::new(100_000, &arm(750_000, 4_200_000, full as u64));
            assert_eq!(curve.is_ok(), ok, "{full}");
            if let Ok(curve) = curve {
                let times: Vec<_> = (0..100_000).map(|distance| curve.seek_ns(distance)).collect();
                assert!(times.is_sorted());
            }
        }
    }
}
