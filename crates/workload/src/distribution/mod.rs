//! How random offsets are spread over a region. Every draw takes constant time and no memory.
//!
//! - zipf, pareto: as fio draws them, offset for offset (`as_fio.rs`): its approximation of the power law, and its hash,
//!   by which hot ranks fall together unless the region is a power of two. What a fio job file means.
//! - true zipf: rank k of n with probability k^-theta / sum of all (`zipf.rs`).
//! - true pareto: self-similar: the share h of blocks gets the share 1 - h of accesses, and so on within it,
//!   F(x) = x^(ln(1 - h) / ln h).
//! - normal: around the middle of the region, standard deviation in percent of it, cut off at its ends.
//! - zoned: each zone takes the next part of the region and a share of the accesses, uniform within.
//! - scattered zones: the same, with the blocks of all zones mixed.
//!
//! Ranks of the true ones, and blocks of scattered zones, are scattered over the region by a permutation, without collisions, so that the frequencies
//! are exactly those of the formula.

mod as_fio;
mod zipf;

use std::f64::consts::TAU;

use drivelab_sim::Stream;
use serde::{Deserialize, Serialize};

use crate::error::WorkloadError;
use crate::permutation::Permutation;

use self::as_fio::{FioPareto, FioZipf};
use self::zipf::Zipf;

/// A distribution as a job names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DistributionSpec {
    /// All blocks alike. (A variant with braces: serde ignores unknown keys beside others.)
    Uniform {},
    /// Few blocks take most accesses; as fio draws them.
    Zipf {
        /// Exponent, above 0 to 20, but not 1, for which fio's formula has no value.
        theta: f64,
        /// Where the first rank is before hashing, as a share of the region; without it anywhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
    },
    /// Rank k of n with probability k^-theta / sum of all.
    ZipfTrue {
        /// Exponent, above 0 to 20. 1 is allowed.
        theta: f64,
    },
    /// The share `h` of the ranks gets the share `1 - h` of the accesses; as fio draws them.
    Pareto {
        /// Above 0 and below 1.
        h: f64,
        /// As for zipf.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
    },
    /// The share `h` of the blocks gets the share `1 - h` of the accesses.
    ParetoTrue {
        /// Above 0 and below 1.
        h: f64,
    },
    /// Bell curve around the middle of the region.
    Normal {
        /// Standard deviation, percent of the region.
        deviation_percent: f64,
    },
    /// Parts of the region with a share of the accesses each.
    Zoned {
        /// Parts, in order.
        zones: Vec<Zone>,
    },
    /// As zoned, but the blocks of a zone lie scattered over the region: hot and cold ones are neighbours.
    ZonedScattered {
        /// Shares of blocks and accesses.
        zones: Vec<Zone>,
    },
}

/// A part of the region.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Share of all accesses, percent.
    pub access_percent: f64,
    /// Share of the region, percent.
    pub size_percent: f64,
}

impl Default for DistributionSpec {
    fn default() -> Self {
        Self::Uniform {}
    }
}

impl DistributionSpec {
    /// The word used in a job.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Uniform {} => "uniform",
            Self::Zipf { .. } => "zipf",
            Self::ZipfTrue { .. } => "zipf_true",
            Self::Pareto { .. } => "pareto",
            Self::ParetoTrue { .. } => "pareto_true",
            Self::Normal { .. } => "normal",
            Self::Zoned { .. } => "zoned",
            Self::ZonedScattered { .. } => "zoned_scattered",
        }
    }

    /// Checks the parameters; `refuse` makes the error from key, value and what is allowed.
    ///
    /// # Errors
    /// What `refuse` made of the first parameter that is not allowed.
    pub fn validate(
        &self,
        refuse: impl Fn(&str, f64, &'static str) -> WorkloadError,
    ) -> Result<(), WorkloadError> {
        let require = |good: bool, key: &str, value: f64, allowed| {
            if good { Ok(()) } else { Err(refuse(&format!("distribution.{key}"), value, allowed)) }
        };
        let require_center = |center: Option<f64>| match center {
            Some(share) => require((0.0..=1.0).contains(&share), "center", share, "must be 0 to 1"),
            None => Ok(()),
        };
        match self {
            Self::Uniform {} => Ok(()),
            &Self::Zipf { theta, center } => {
                let allowed =
                    "must be above 0 and at most 20, and not 1, for which fio has no zipf (zipf_true has)";
                require(theta > 0.0 && theta <= 20.0 && (theta - 1.0).abs() > 1e-9, "theta", theta, allowed)?;
                require_center(center)
            }
            &Self::ZipfTrue { theta } => {
                require(theta > 0.0 && theta <= 20.0, "theta", theta, "must be above 0 and at most 20")
            }
            &Self::Pareto { h, center } => {
                require(h > 0.0 && h < 1.0, "h", h, "must be above 0 and below 1")?;
                require_center(center)
            }
            &Self::ParetoTrue { h } => require(h > 0.0 && h < 1.0, "h", h, "must be above 0 and below 1"),
            &Self::Normal { deviation_percent: value } => {
                let good = value > 0.0 && value <= 100.0;
                require(good, "deviation_percent", value, "must be above 0 and at most 100")
            }
            Self::Zoned { zones } | Self::ZonedScattered { zones } => {
                let good = (1..=256).contains(&zones.len());
                require(good, "zones", zones.len() as f64, "is their number; must be 1 to 256")?;
                for (index, zone) in zones.iter().enumerate() {
                    let key = format!("zones[{index}].access_percent");
                    let good = (0.0..=100.0).contains(&zone.access_percent);
                    require(good, &key, zone.access_percent, "must be 0 to 100")?;
                    let key = format!("zones[{index}].size_percent");
                    let good = zone.size_percent > 0.0 && zone.size_percent <= 100.0;
                    require(good, &key, zone.size_percent, "must be above 0 and at most 100")?;
                }
                let sums = |part: fn(&Zone) -> f64| zones.iter().map(part).sum::<f64>();
                let (access, size) = (sums(|zone| zone.access_percent), sums(|zone| zone.size_percent));
                let near = |sum: f64| (sum - 100.0).abs() < 1e-6;
                require(near(access), "zones[].access_percent", access, "is their sum; it must be 100")?;
                require(near(size), "zones[].size_percent", size, "is their sum; it must be 100")
            }
        }
    }
}

/// A distribution over `0..len`, ready to draw from.
#[derive(Clone, Debug)]
pub struct Distribution {
    len: u64,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    Uniform,
    Zipf(FioZipf),
    ZipfTrue { ranks: Zipf, scatter: Permutation },
    Pareto(FioPareto),
    ParetoTrue { exponent: f64, scatter: Permutation },
    Normal { mean: f64, deviation: f64 },
    Zoned { ends: Vec<(f64, u64)> },
    ZonedScattered { ends: Vec<(f64, u64)>, scatter: Permutation },
}

impl Distribution {
    /// Prepares a validated distribution over `0..len`, `len` at least 1. `scatter` gives the keys of the
    /// permutation that spreads hot blocks over the region, or the seed of fio's generator.
    #[must_use]
    pub fn new(spec: &DistributionSpec, len: u64, scatter: &mut Stream) -> Self {
        let shape = match spec {
            DistributionSpec::Uniform {} => Shape::Uniform,
            &DistributionSpec::Zipf { theta, center } => {
                Shape::Zipf(FioZipf::new(len, theta, center, scatter.next_u64() as u32))
            }
            &DistributionSpec::ZipfTrue { theta } => {
                Shape::ZipfTrue { ranks: Zipf::new(len, theta), scatter: Permutation::new(len, scatter) }
            }
            &DistributionSpec::Pareto { h, center } => {
                Shape::Pareto(FioPareto::new(len, h, center, scatter.next_u64() as u32))
            }
            &DistributionSpec::ParetoTrue { h } => Shape::ParetoTrue {
                exponent: h.ln() / (1.0 - h).ln(),
                scatter: Permutation::new(len, scatter),
            },
            &DistributionSpec::Normal { deviation_percent } => {
                Shape::Normal { mean: len as f64 / 2.0, deviation: len as f64 * deviation_percent / 100.0 }
            }
            DistributionSpec::Zoned { zones } => Shape::Zoned { ends: zone_ends(zones, len) },
            DistributionSpec::ZonedScattered { zones } => {
                Shape::ZonedScattered { ends: zone_ends(zones, len), scatter: Permutation::new(len, scatter) }
            }
        };
        Self { len, shape }
    }

    /// The next block.
    #[inline]
    pub fn draw(&mut self, stream: &mut Stream) -> u64 {
        match &mut self.shape {
            Shape::Uniform => stream.below(self.len),
            Shape::Zipf(zipf) => zipf.draw(),
            Shape::ZipfTrue { ranks, scatter } => scatter.at(ranks.draw(stream) - 1),
            Shape::Pareto(pareto) => pareto.draw(),
            Shape::ParetoTrue { exponent, scatter } => {
                let place = (stream.unit().powf(*exponent) * self.len as f64) as u64;
                scatter.at(place.min(self.len - 1))
            }
            Shape::Normal { mean, deviation } => loop {
                // Box and Muller; 1 - u lies in (0, 1], so that the logarithm is finite.
                let radius = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
                let place = *mean + *deviation * radius * (TAU * stream.unit()).cos();
                if place >= 0.0 && place < self.len as f64 {
                    return (place as u64).min(self.len - 1);
                }
            },
            Shape::Zoned { ends } => in_zones(ends, self.len, stream),
            Shape::ZonedScattered { ends, scatter } => scatter.at(in_zones(ends, self.len, stream)),
        }
    }
}

/// A block of one of the zones that lie behind each other.
fn in_zones(ends: &[(f64, u64)], len: u64, stream: &mut Stream) -> u64 {
    let point = stream.unit();
    let zone = ends.partition_point(|&(access, _)| access <= point).min(ends.len() - 1);
    let start = if zone == 0 { 0 } else { ends[zone - 1].1 };
    let size = ends[zone].1 - start;
    // A zone smaller than a block has no start of its own.
    if size == 0 { start.min(len - 1) } else { start + stream.below(size) }
}

/// (cumulative share of accesses, one past the last block) of each zone.
fn zone_ends(zones: &[Zone], len: u64) -> Vec<(f64, u64)> {
    let (mut access, mut size) = (0.0, 0.0);
    let mut ends: Vec<(f64, u64)> = zones
        .iter()
        .map(|zone| {
            access += zone.access_percent / 100.0;
            size += zone.size_percent / 100.0;
            (access, ((size * len as f64).round() as u64).min(len))
        })
        .collect();
    if let Some(last) = ends.last_mut() {
        *last = (1.0, len);
    }
    ends
}

#[cfg(test)]
mod tests;
