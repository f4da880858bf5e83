//! Zipf's law itself: rank k of n with probability k^-theta / sum of all, for every theta, in constant time and without
//! a table, by rejection-inversion (REFERENCES.md, \[9\]).

use drivelab_sim::Stream;

/// Zipf by rejection-inversion: H is the integral of h(x) = x^-theta, and the accepted share of draws is
/// above 90 % for every n and theta.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    len: f64,
    theta: f64,
    integral_first: f64,
    integral_last: f64,
    shortcut: f64,
}

impl Zipf {
    pub(super) fn new(len: u64, theta: f64) -> Self {
        let len = len as f64;
        let integral_first = integral(1.5, theta) - 1.0;
        let integral_last = integral(len + 0.5, theta);
        let shortcut = 2.0 - inverse(integral(2.5, theta) - 2f64.powf(-theta), theta);
        Self { len, theta, integral_first, integral_last, shortcut }
    }

    /// A rank in `1..=len`.
    pub(super) fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let area = self.integral_last + stream.unit() * (self.integral_first - self.integral_last);
            let real = inverse(area, self.theta);
            let rank = real.round().clamp(1.0, self.len);
            if rank - real <= self.shortcut
                || area >= integral(rank + 0.5, self.theta) - rank.powf(-self.theta)
            {
                return rank as u64;
            }
        }
    }
}

/// H(x) = (x^(1 - theta) - 1) / (1 - theta), and ln x at theta = 1; written so that it is smooth there.
fn integral(x: f64, theta: f64) -> f64 {
    let log = x.ln();
    let scaled = (1.0 - theta) * log;
    if scaled.abs() > 1e-8 { scaled.exp_m1() / scaled * log } else { log * (1.0 + scaled / 2.0) }
}

/// The x with H(x) = `area`.
fn inverse(area: f64, theta: f64) -> f64 {
    let scaled = (area * (1.0 - theta)).max(-1.0);
    let log = if scaled.abs() > 1e-8 { scaled.ln_1p() / scaled * area } else { area * (1.0 - scaled / 2.0) };
    log.exp()
}
