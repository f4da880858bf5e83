//! Drawn frequencies against the closed formulas.

use super::*;

const DRAWS: u64 = 400_000;

fn counts(spec: &DistributionSpec, len: u64) -> Vec<u64> {
    let mut distribution = Distribution::new(spec, len, &mut Stream::new(5, 0));
    let mut stream = Stream::new(6, 0);
    let mut counts = vec![0; len as usize];
    for _ in 0..DRAWS {
        counts[distribution.draw(&mut stream) as usize] += 1;
    }
    counts
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found}, expected {expected}");
}

#[test]
fn zipf_frequencies_follow_the_power_law() {
    for theta in [0.3, 0.99, 1.0, 1.2, 2.5] {
        let mut counts = counts(&DistributionSpec::ZipfTrue { theta }, 1000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let total: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-theta)).sum();
        for rank in [1u32, 2, 3, 5, 10, 50] {
            let expected = f64::from(rank).powf(-theta) / total;
            let found = counts[rank as usize - 1] as f64 / DRAWS as f64;
            // Sorting by count shifts ranks that are nearly as frequent; small theta most.
            let slack = if theta < 0.5 { 0.35 } else { 0.08 };
            assert_near(found / expected, 1.0, slack, &format!("theta {theta}, rank {rank}"));
        }
    }
}

#[test]
fn zipf_ranks_match_exactly_where_no_sorting_blurs_them() {
    let zipf = Zipf::new(10, 0.8);
    let mut stream = Stream::new(2, 0);
    let mut counts = [0u32; 10];
    for _ in 0..DRAWS {
        counts[zipf.draw(&mut stream) as usize - 1] += 1;
    }
    let total: f64 = (1..=10).map(|rank| f64::from(rank).powf(-0.8)).sum();
    // Chi-squared with 9 degrees of freedom: 27.9 is exceeded once in a thousand seeds.
    let chi_squared: f64 = (1..=10u32)
        .map(|rank| {
            let expected = f64::from(rank).powf(-0.8) / total * DRAWS as f64;
            (f64::from(counts[rank as usize - 1]) - expected).powi(2) / expected
        })
        .sum();
    assert!(chi_squared < 27.9, "{chi_squared}");
}

#[test]
fn pareto_gives_the_share_h_of_blocks_the_rest_of_the_accesses() {
    for h in [0.1, 0.2, 0.4] {
        let mut counts = counts(&DistributionSpec::ParetoTrue { h }, 10_000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let hot: u64 = counts[..(h * 10_000.0) as usize].iter().sum();
        assert_near(hot as f64 / DRAWS as f64, 1.0 - h, 0.02, &format!("h {h}"));
    }
}

#[test]
fn normal_has_its_mean_and_deviation() {
    let counts = counts(&DistributionSpec::Normal { deviation_percent: 10.0 }, 1000);
    let moment = |power: i32, centre: f64| {
        let terms = counts.iter().enumerate();
        terms.map(|(place, &n)| (place as f64 + 0.5 - centre).powi(power) * n as f64).sum::<f64>()
            / DRAWS as f64
    };
    let mean = moment(1, 0.0);
    assert_near(mean, 500.0, 1.0, "mean");
    assert_near(moment(2, mean).sqrt(), 100.0, 1.0, "deviation");
}

#[test]
fn zones_get_their_share_uniformly() {
    let zone = |access_percent, size_percent| Zone { access_percent, size_percent };
    let zones = vec![zone(60.0, 10.0), zone(30.0, 20.0), zone(10.0, 70.0)];
    let counts = counts(&DistributionSpec::Zoned { zones }, 1000);
    for (from, to, share) in [(0, 100, 0.6), (0, 50, 0.3), (100, 300, 0.3), (300, 1000, 0.1)] {
        let part: u64 = counts[from..to].iter().sum();
        assert_near(part as f64 / DRAWS as f64, share, 0.005, &format!("{from}..{to}"));
    }
}

#[test]
fn scattered_zones_have_their_shares_and_are_mixed() {
    let zones = [(95.0, 10.0), (5.0, 90.0)]
        .map(|(access_percent, size_percent)| Zone { access_percent, size_percent });
    let counts = counts(&DistributionSpec::ZonedScattered { zones: zones.to_vec() }, 1000);
    // A hot block is hit 171 times as often as a cold one.
    let mean = DRAWS / 1000;
    let is_hot: Vec<bool> = counts.iter().map(|&count| count > mean).collect();
    assert_eq!(is_hot.iter().filter(|&&hot| hot).count(), 100);
    let of_hot: u64 = counts.iter().zip(&is_hot).filter(|&(_, &hot)| hot).map(|(&count, _)| count).sum();
    assert_near(of_hot as f64 / DRAWS as f64, 0.95, 0.005, "share of the hot blocks");
    // A tenth in each tenth of the region: 10 with a standard deviation of 3.
    for tenth in is_hot.chunks(100) {
        let hot = tenth.iter().filter(|&&hot| hot).count();
        assert!((1..=25).contains(&hot), "{hot} of a hundred neighbours are hot");
    }
}

#[test]
fn every_distribution_stays_inside_tiny_and_huge_regions() {
    let zones = vec![
        Zone { access_percent: 50.0, size_percent: 1.0 },
        Zone { access_percent: 50.0, size_percent: 99.0 },
    ];
    for spec in [
        DistributionSpec::Uniform {},
        DistributionSpec::Zipf { theta: 1.1, center: None },
        DistributionSpec::Zipf { theta: 20.0, center: Some(1.0) },
        DistributionSpec::ZipfTrue { theta: 1.1 },
        DistributionSpec::ZipfTrue { theta: 20.0 },
        DistributionSpec::Pareto { h: 0.01, center: None },
        DistributionSpec::ParetoTrue { h: 0.01 },
        DistributionSpec::Normal { deviation_percent: 100.0 },
        DistributionSpec::Zoned { zones: zones.clone() },
        DistributionSpec::ZonedScattered { zones },
    ] {
        for len in [1, 2, 3, 10, 1 << 40] {
            let mut distribution = Distribution::new(&spec, len, &mut Stream::new(1, 0));
            let mut stream = Stream::new(2, 0);
            assert!((0..2000).all(|_| distribution.draw(&mut stream) < len), "{spec:?} {len}");
        }
    }
}
