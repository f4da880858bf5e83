//! Closed formulas for write amplification, to check the FTL against.

/// The principal branch of the Lambert function, `w e^w = z`, for `-1/e <= z < 0`, by Halley's iteration
/// (REFERENCES.md, \[4\]).
#[must_use]
pub fn lambert_w(z: f64) -> f64 {
    let mut w = if z > -0.25 { z } else { -1.0 + (2.0 * (1.0 + std::f64::consts::E * z)).max(0.0).sqrt() };
    for _ in 0..64 {
        let e = w.exp();
        let f = w * e - z;
        let next = w - f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0));
        if !next.is_finite() || (next - w).abs() < 1e-15 {
            break;
        }
        w = next;
    }
    w
}

/// Write amplification of FIFO cleaning under uniform random writes with `user / raw = user_ratio` pages, in
/// steady state and for many blocks: `WA = 1 / (1 - x)`, `x = -r W(-(1/r) e^(-1/r))` (REFERENCES.md, \[1\]).
///
/// `x` is the valid share of a block when it is cleaned: a page written `t` programs ago survives with
/// probability `e^(-t (1 - x) / user)`, and a block waits `raw` programs, so `x = e^(-(1 - x) / r)`.
#[must_use]
pub fn fifo_write_amplification(user_ratio: f64) -> f64 {
    let inverse = 1.0 / user_ratio;
    let x = -user_ratio * lambert_w(-inverse * (-inverse).exp());
    1.0 / (1.0 - x)
}

/// Write amplification of FIFO cleaning with classes of data that are written at different rates and lie mixed in the same
/// blocks, raw / user = `raw_ratio`: the A that solves `A = sum r_i / (1 - exp(-a r_i / (A f_i)))` (REFERENCES.md, \[1\]).
///
/// A block waits for a / A writes of the host per page of user data, after which a page of a class survives with the
/// probability `exp(-a r_i / (A f_i))`; each write of a page is then repeated until it doesn't.
#[must_use]
pub fn mixed_write_amplification(classes: &[Class], raw_ratio: f64) -> f64 {
    let excess = |amplification: f64| {
        let writes = classes.iter().map(|class| {
            let survives = (-raw_ratio * class.write_share / (amplification * class.data_share)).exp();
            class.write_share / (1.0 - survives)
        });
        writes.sum::<f64>() - amplification
    };
    root(1.0, 1e6, |amplification| excess(amplification) <= 0.0)
}

/// Write amplification of FIFO cleaning with classes of data that never share a block, each with the share of the spare
/// area that makes the sum least: `min sum r_i A(a_i)` with `sum f_i a_i = a` (REFERENCES.md, \[1\]).
///
/// The least is where a little more room helps all classes alike, per room: `r_i / f_i dA/da_i` is the same for all.
#[must_use]
pub fn separated_write_amplification(classes: &[Class], raw_ratio: f64) -> f64 {
    let room = |price: f64| {
        classes.iter().map(move |class| {
            root(1.0 + 1e-6, 1e4, |raw| class.write_share / class.data_share * fifo_slope(raw) <= price)
        })
    };
    let used = |price: f64| room(price).zip(classes).map(|(raw, class)| class.data_share * raw).sum::<f64>();
    let price = root(1e-12, 1e12, |price| used(price) <= raw_ratio);
    let costs = room(price).zip(classes);
    costs.map(|(raw, class)| class.write_share * fifo_write_amplification(1.0 / raw)).sum()
}

/// By how much FIFO's write amplification falls with raw / user.
fn fifo_slope(raw: f64) -> f64 {
    let step = (raw - 1.0) * 1e-4;
    let at = |raw: f64| fifo_write_amplification(1.0 / raw);
    (at(raw - step) - at(raw + step)) / (2.0 * step)
}

/// A part of the user data that is written uniformly.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Share of the user data.
    pub data_share: f64,
    /// Share of the writes.
    pub write_share: f64,
}

/// Write amplification of cleaning the best of `choices` random blocks under uniform random writes, in the limit of many
/// blocks of `pages_per_block` (REFERENCES.md, \[6\]); greedy is the limit of many choices.
///
/// In steady state as many blocks come to `j` valid pages as leave it. With `p_j` the share of blocks with j valid pages,
/// `P_j` the sum of the first ones, and c user pages per block over host writes per cleaned block, the flow from j + 1 to j
/// is what cleaning takes at or below j: `(j + 1) p_(j+1) = c (1 - (1 - P_j)^d)`. The `p_0` that makes the sum 1 and the c
/// that makes the mean the user ratio's are found by bisection; write amplification is `c / user_ratio`.
#[must_use]
pub fn d_choices_write_amplification(user_ratio: f64, choices: u32, pages_per_block: u32) -> f64 {
    let valid_pages = user_ratio * f64::from(pages_per_block);
    let shares = |flow: f64, log_first: f64| {
        let mut below = log_first.exp();
        let mut mean = 0.0;
        for valid in 1..=pages_per_block {
            let taken = 1.0 - (1.0 - below.min(1.0)).powi(choices.cast_signed());
            // Close to 0 the difference would be lost.
            let taken = if below < 1e-9 { f64::from(choices) * below } else { taken };
            let share = flow * taken / f64::from(valid);
            below += share;
            mean += share * f64::from(valid);
        }
        (below, mean)
    };
    let mean = |flow: f64| {
        let log_first = root(-700.0, 0.0, |log_first| shares(flow, log_first).0 >= 1.0);
        shares(flow, log_first).1
    };
    root(user_ratio, f64::from(pages_per_block), |flow| mean(flow) >= valid_pages) / user_ratio
}

/// Where a condition begins to hold between two numbers, above which it holds.
fn root(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_solves_its_equation() {
        for spare in [0.07, 0.15, 0.28, 0.5, 1.0] {
            let r = 1.0 / (1.0 + spare);
            let x = 1.0 - 1.0 / fifo_write_amplification(r);
            assert!((x - (-(1.0 - x) / r).exp()).abs() < 1e-9, "{spare}: {x}");
            assert!(x > 0.0 && x < 1.0);
        }
    }

    fn assert_near(found: f64, expected: f64, what: &str) {
        assert!((found - expected).abs() < 1e-3, "{what}: {found}, expected {expected}");
    }

    #[test]
    fn d_choices_gives_the_mean_fields_numbers() {
        for (choices, spare, expected) in
            [(10, 0.5, 1.721), (10, 0.28, 2.471), (10, 0.15, 3.930), (1000, 0.28, 2.403)]
        {
            let found = d_choices_write_amplification(1.0 / (1.0 + spare), choices, 64);
            assert_near(found, expected, &format!("{choices} choices, spare {spare}"));
        }
        // One random choice: a block holds the drive's mean.
        assert_near(d_choices_write_amplification(0.75, 1, 64), 4.0, "one choice");
    }

    #[test]
    fn two_classes_give_the_formulas_numbers_mixed_and_apart() {
        for (hot, mixed, separated) in
            [(0.6, 4.211, 4.043), (0.8, 4.537, 2.938), (0.9, 5.131, 1.987), (0.95, 5.926, 1.440)]
        {
            let classes = [
                Class { data_share: 1.0 - hot, write_share: hot },
                Class { data_share: hot, write_share: 1.0 - hot },
            ];
            let found = mixed_write_amplification(&classes, 1.0 / 0.875);
            assert_near(found, mixed, &format!("mixed, {hot}"));
            let found = separated_write_amplification(&classes, 1.0 / 0.875);
            assert_near(found, separated, &format!("separated, {hot}"));
        }
        let one = [Class { data_share: 1.0, write_share: 1.0 }];
        assert_near(mixed_write_amplification(&one, 1.25), fifo_write_amplification(0.8), "one class");
    }
}
