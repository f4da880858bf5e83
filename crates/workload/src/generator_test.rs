//! Offsets, sizes, order and mix of generated requests.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

const CAPACITY_BYTES: u64 = 1 << 30;

fn requests(job: &Job, count: usize) -> Vec<Request> {
    job.validate(CAPACITY_BYTES).unwrap();
    let mut generator = Generator::new(job, 0, CAPACITY_BYTES);
    (0..count).map(|_| generator.draw()).collect()
}

fn job(rw: Rw, block_bytes: u64) -> Job {
    Job::new("test", rw, block_bytes, 1)
}

#[test]
fn sequential_requests_cover_the_region_without_gaps_and_wrap() {
    let mut job = job(Rw::Write, 128 << 10);
    // Not a multiple of the block size: the last request is cut short.
    (job.offset_bytes, job.span_bytes) = (4096, Some((1 << 20) + 512));
    let found = requests(&job, 19);
    for pair in found.windows(2).take(8) {
        assert_eq!(pair[0].lba + u64::from(pair[0].sector_count), pair[1].lba);
    }
    assert_eq!((found[8].lba, found[8].sector_count), (8 + 2048, 1));
    assert_eq!((found[9].lba, found[9].sector_count), (8, 256));
    assert_eq!(found[..9], found[9..18]);
}

#[test]
fn mixed_sequential_streams_advance_apart() {
    let mut job = job(Rw::Rw, 4096);
    job.read_percent = 30.0;
    let found = requests(&job, 10_000);
    for op in [Op::Read, Op::Write] {
        let places = found.iter().filter(|request| request.op == op).map(|request| request.lba / 8);
        assert!(places.clone().eq(0..places.count() as u64));
    }
    let reads = found.iter().filter(|request| request.op == Op::Read).count();
    assert!((2850..3150).contains(&reads), "{reads}");
}

#[test]
fn with_a_map_requests_of_several_sizes_reach_every_block_once_a_pass() {
    let sizes = |list: &[(u64, f64)]| -> Vec<BlockSize> {
        list.iter().map(|&(bytes, weight)| BlockSize { bytes, weight }).collect()
    };
    let two = sizes(&[(4096, 60.0), (16384, 40.0)]);
    for (rw, write_sizes) in
        [(Rw::RandWrite, None), (Rw::RandRw, None), (Rw::RandRw, Some(sizes(&[(4096, 1.0)])))]
    {
        let blocks = 4099;
        let job = Job {
            block_sizes: two.clone(),
            write_block_sizes: write_sizes,
            random_map: true,
            // No multiple of the smallest: fio leaves the rest out, too.
            span_bytes: Some(blocks * 4096 + 512),
            ..job(rw, 4096)
        };
        job.validate(CAPACITY_BYTES).unwrap();
        let mut generator = Generator::new(&job, 0, CAPACITY_BYTES);
        let (mut times, mut done, mut lengths) = (vec![0u32; blocks as usize], 0, [0u32; 5]);
        for pass in 1..=3 {
            while done < pass * blocks {
                let request = generator.draw();
                let (first, count) = (request.lba / 8, u64::from(request.sector_count) / 8);
                assert_eq!((request.lba % 8, request.sector_count % 8), (0, 0), "{request:?}");
                (first..first + count).for_each(|block| times[block as usize] += 1);
                done += count;
                lengths[count as usize] += 1;
            }
            assert!(times.iter().all(|&times| u64::from(times) == pass), "{rw:?}, pass {pass}");
        }
        // Of those that are cut short for what is left there are far fewer.
        assert!(lengths[4] > lengths[2] && lengths[2] > 0 && lengths[3] > 0, "{lengths:?}");
    }
}

#[test]
fn a_map_that_is_too_large_or_lies_between_blocks_is_refused() {
    let two = [512, 4096].map(|bytes| BlockSize { bytes, weight: 1.0 }).to_vec();
    let mapped = Job { block_sizes: two, random_map: true, ..job(Rw::RandWrite, 4096) };
    let largest = 512 << 33;
    mapped.validate(largest).unwrap();
    let error = mapped.validate(largest + 512).unwrap_err().to_string();
    assert!(error.contains("random_map") && error.contains("norandommap=1"), "{error}");
    let between = Job { align_bytes: Some(1024), ..mapped.clone() };
    assert!(between.validate(CAPACITY_BYTES).unwrap_err().to_string().contains("align_bytes"));
    // Sizes of reads that there are none of say nothing.
    let of_reads = Job { write_block_sizes: Some(vec![BlockSize { bytes: 4096, weight: 1.0 }]), ..mapped };
    of_reads.validate(largest + 512).unwrap();
}

#[test]
fn alignment_is_of_the_block_size_or_as_asked() {
    let aligned = requests(&job(Rw::RandRead, 4096), 1000);
    assert!(aligned.iter().all(|request| request.lba.is_multiple_of(8)));
    let mut sector = job(Rw::RandRead, 4096);
    sector.align_bytes = Some(512);
    let residues: HashSet<u64> = requests(&sector, 1000).iter().map(|request| request.lba % 8).collect();
    assert_eq!(residues.len(), 8);
    let mut wide = job(Rw::Read, 4096);
    wide.align_bytes = Some(8192);
    assert!(requests(&wide, 1000).iter().all(|request| request.lba.is_multiple_of(16)));
}

#[test]
fn uniform_offsets_reach_every_block_evenly() {
    let mut job = job(Rw::RandWrite, 4096);
    (job.offset_bytes, job.span_bytes) = (1 << 20, Some(100 * 4096));
    let mut counts = [0u32; 100];
    for request in requests(&job, 100_000) {
        counts[((request.lba - 2048) / 8) as usize] += 1;
    }
    let chi_squared: f64 = counts.iter().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
    // 99 degrees of freedom: 148 is exceeded once in a thousand seeds.
    assert!(chi_squared < 148.0, "{chi_squared}");
}

#[test]
fn the_random_map_visits_each_block_once_before_any_repeats() {
    let mut job = job(Rw::RandRw, 4096);
    (job.random_map, job.span_bytes) = (true, Some(1000 * 4096));
    let found = requests(&job, 2000);
    // Reads and writes share the map, as in fio.
    for pass in found.chunks(1000) {
        assert_eq!(pass.iter().map(|request| request.lba).collect::<HashSet<_>>().len(), 1000);
    }
    let (first, second) = found.split_at(1000);
    assert!(first.iter().zip(second).any(|(one, other)| one.lba != other.lba));
}

#[test]
fn flushes_come_after_so_many_writes() {
    let mut job = job(Rw::RandRw, 4096);
    (job.flush_every_writes, job.fua) = (3, true);
    let mut writes = 0;
    for request in requests(&job, 10_000) {
        match request.op {
            Op::Flush => assert_eq!(std::mem::take(&mut writes), 3),
            Op::Write => writes += 1,
            _ => {}
        }
        assert_eq!(request.fua, request.op == Op::Write);
        assert!(writes <= 3);
    }
}

#[test]
fn sizes_come_in_their_proportions() {
    let mut job = job(Rw::RandRead, 4096);
    job.block_sizes = vec![
        BlockSize { bytes: 4096, weight: 6.0 },
        BlockSize { bytes: 65_536, weight: 3.0 },
        BlockSize { bytes: 1 << 20, weight: 1.0 },
    ];
    let found = requests(&job, 100_000);
    for (sectors, expected) in [(8, 60_000.0), (128, 30_000.0), (2048, 10_000.0)] {
        let count = found.iter().filter(|request| request.sector_count == sectors).count() as f64;
        assert!((count - expected).abs() < 600.0, "{sectors}: {count}");
    }
}

#[test]
fn partly_random_requests_continue_where_the_last_ended() {
    let mut job = job(Rw::RandRead, 4096);
    job.random_percent = 25.0;
    let found = requests(&job, 100_000);
    let following = found.windows(2).filter(|pair| pair[1].lba == pair[0].lba + 8).count();
    assert!((74_000..76_000).contains(&following), "{following}");
}

#[test]
fn one_seed_one_sequence_and_jobs_of_one_seed_differ() {
    let job = job(Rw::RandRw, 4096);
    assert_eq!(requests(&job, 100), requests(&job, 100));
    let mut other = job.clone();
    other.seed = 2;
    assert_ne!(requests(&job, 100), requests(&other, 100));
    let mut second = Generator::new(&job, 1, CAPACITY_BYTES);
    let second: Vec<_> = (0..100).map(|_| second.draw()).collect();
    assert_ne!(requests(&job, 100), second);
}

fn any_rw() -> impl Strategy<Value = Rw> {
    proptest::sample::select(vec![
        Rw::Read,
        Rw::Write,
        Rw::RandRead,
        Rw::RandWrite,
        Rw::Rw,
        Rw::RandRw,
        Rw::Trim,
        Rw::RandTrim,
    ])
}

proptest! {
    #[test]
    fn every_request_stays_inside_the_region(
        rw in any_rw(),
        sizes in proptest::collection::vec((1u64..300, 0.1f64..5.0), 1..4),
        align in proptest::option::of(1u64..64),
        offset in 0u64..5000,
        span in 300u64..5000,
        skew in 0..7,
        random_map: bool,
        random_percent in 0.0f64..=100.0,
        seed: u64,
    ) {
        let mut job = job(rw, 4096);
        job.block_sizes = sizes.iter().map(|&(sectors, weight)| BlockSize { bytes: sectors * 512, weight }).collect();
        job.align_bytes = align.map(|sectors| sectors * 512);
        (job.offset_bytes, job.span_bytes, job.seed) = (offset * 512, Some(span * 512), seed);
        if rw.is_random() {
            job.random_percent = random_percent;
            // Of several sizes only whole blocks have a map.
            job.random_map = random_map && skew == 0 && (align.is_none() || sizes.len() == 1);
            job.distribution = match skew {
                0 => DistributionSpec::Uniform {},
                1 => DistributionSpec::Zipf { theta: 0.9, center: None },
                2 => DistributionSpec::Pareto { h: 0.2, center: None },
                3 => DistributionSpec::ZipfTrue { theta: 1.0 },
                4 => DistributionSpec::ParetoTrue { h: 0.2 },
                5 => DistributionSpec::Normal { deviation_percent: 20.0 },
                _ => DistributionSpec::Zoned { zones: vec![
                    crate::distribution::Zone { access_percent: 90.0, size_percent: 1.0 },
                    crate::distribution::Zone { access_percent: 10.0, size_percent: 99.0 },
                ] },
            };
        }
        for request in requests(&job, 500) {
            prop_assert!(request.sector_count > 0);
            prop_assert!(request.lba >= offset);
            prop_assert!(request.lba + u64::from(request.sector_count) <= offset + span, "{request:?}");
            if let Some(align) = align {
                prop_assert!(!rw.is_random() || job.random_percent < 100.0 || (request.lba - offset) % align == 0);
            }
        }
    }
}
