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
}
