//! A session against a run in open loop that knew all requests from the start.

use std::sync::Arc;

use drivelab_controller::Device;
use drivelab_drive::{Drive, Layer, Model};
use drivelab_workload::job::{ReplayPacing, Rw, Source};
use drivelab_workload::{DataPattern, Job, Progress, Requests, Run, Session, Task};
use proptest::prelude::*;

const SEED: u64 = 7;

const COPIES: DataPattern =
    DataPattern::Compressible { compressed_percent: 50.0, duplicate_percent: 40.0, duplicate_pool: 16 };

fn drive() -> Drive {
    let small = [("scale_divisor".to_owned(), "256".to_owned())];
    let layers = [
        include_str!("../../../models/flash/imft-34nm-mlc.toml"),
        include_str!("../../../models/corsair-force-f100-100gb.toml"),
    ]
    .map(|text| Layer { text, origin: "small" });
    Drive::new(Arc::new(Model::parse_layers(&layers, &small).unwrap()), 1).unwrap()
}

/// Columns of requests: bursts that a queue of 32 can't take, and pauses.
#[derive(Clone, Debug, Default)]
struct Columns {
    op: Vec<u8>,
    lba: Vec<u64>,
    sector_count: Vec<u32>,
    arrival_ns: Vec<u64>,
}

impl Columns {
    fn requests(&self, rows: std::ops::Range<usize>) -> Requests<'_> {
        Requests {
            op: &self.op[rows.clone()],
            lba: &self.lba[rows.clone()],
            sector_count: &self.sector_count[rows.clone()],
            arrival_ns: Some(&self.arrival_ns[rows]),
            program: None,
        }
    }
}

fn columns() -> impl Strategy<Value = Columns> {
    let request = (0u8..4, 0u64..90_000, 1u32..64, prop_oneof![Just(0u64), 0u64..100_000, 0u64..20_000_000]);
    proptest::collection::vec(request, 1..400).prop_map(|rows| {
        let mut columns = Columns::default();
        let mut at_ns = 0;
        for (op, lba, sectors, gap_ns) in rows {
            at_ns += gap_ns;
            columns.op.push(op);
            columns.lba.push(lba);
            columns.sector_count.push(if op == 2 { 0 } else { sectors });
            columns.arrival_ns.push(at_ns);
        }
        columns
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_a_program_hands_over_piece_by_piece_is_done_as_in_a_run(
        columns in columns(),
        rows in 1usize..50,
        every_ns in 10_000u64..5_000_000,
    ) {
        let count = columns.op.len();
        let mut whole = drive();
        let mut job = Job::new("open", Rw::RandRw, 4096, 1);
        job.source = Source::Requests { pacing: ReplayPacing::Arrival, idle_cap_ns: None };
        (job.data, job.seed) = (COPIES, SEED);
        let task = Task { job, requests: Some(columns.requests(0..count)) };
        let mut run = Run::begin(&mut whole, &[task]).unwrap();
        run.keep_log();
        prop_assert!(run.advance(&mut whole, u64::MAX, &Progress::new()).unwrap());

        let mut drive = drive();
        let mut session = Session::new(&drive, &COPIES, SEED, false);
        let mut numbers = Vec::new();
        let mut found = Vec::new();
        for first in (0..count).step_by(rows) {
            let last = (first + rows).min(count);
            let number = session.submit(&drive, &columns.requests(first..last), None).unwrap();
            prop_assert_eq!(number, first as u64);
            // The next ones are known before the drive gets there.
            let known_ns = columns.arrival_ns.get(last).copied().unwrap_or(u64::MAX);
            while drive.now_ns().saturating_add(every_ns) < known_ns && session.waiting() > 0 {
                let until_ns = drive.now_ns() + every_ns;
                session.advance(&mut drive, until_ns).unwrap();
                prop_assert_eq!(drive.now_ns(), until_ns);
            }
            let (some, log) = session.take_done();
            numbers.extend(some);
            found.push(log);
        }
        session.advance(&mut drive, u64::MAX).unwrap();
        let (some, log) = session.take_done();
        numbers.extend(some);
        found.push(log);
        prop_assert_eq!(session.waiting(), 0);

        let expected = run.take_log();
        let joined = |part: fn(&drivelab_workload::RequestLog) -> &Vec<u64>| -> Vec<u64> {
            found.iter().flat_map(|log| part(log).iter().copied()).collect()
        };
        prop_assert_eq!(joined(|log| &log.completed_ns), expected.completed_ns);
        prop_assert_eq!(joined(|log| &log.submitted_ns), expected.submitted_ns);
        prop_assert_eq!(joined(|log| &log.flash_ns), expected.flash_ns);
        prop_assert_eq!(joined(|log| &log.offset_bytes), expected.offset_bytes);
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..count as u64).collect::<Vec<_>>());
        for (number, issued_ns) in numbers.iter().zip(joined(|log| &log.issued_ns)) {
            prop_assert_eq!(issued_ns, columns.arrival_ns[*number as usize]);
        }
    }
}

#[test]
fn requests_of_the_past_are_refused_and_none_is_taken() {
    let mut drive = drive();
    let mut session = Session::new(&drive, &DataPattern::default(), SEED, false);
    let columns =
        Columns { op: vec![1, 1], lba: vec![0, 8], sector_count: vec![8, 8], arrival_ns: vec![500, 900] };
    session.submit(&drive, &columns.requests(0..2), None).unwrap();
    let error = session.submit(&drive, &columns.requests(0..1), None).unwrap_err().to_string();
    assert!(error.contains("arrival_ns[0]") && error.contains("at least 900"), "{error}");
    session.advance(&mut drive, 2_000_000_000).unwrap();
    assert_eq!((session.waiting(), drive.now_ns()), (0, 2_000_000_000));
    let error = session.submit(&drive, &columns.requests(1..2), None).unwrap_err().to_string();
    assert!(error.contains("2000000000"), "{error}");
    let later = Columns { arrival_ns: vec![2_000_000_000; 2], ..columns };
    let error = session.submit(&drive, &later.requests(0..2), Some(&[1])).unwrap_err().to_string();
    assert!(error.contains("length of hint"), "{error}");
    assert_eq!(session.waiting(), 0);
}
