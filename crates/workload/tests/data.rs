//! Data patterns on real models: who looks at them, and who doesn't.

use std::sync::Arc;

use drivelab_drive::{Drive, Layer, Model};
use drivelab_workload::job::Rw;
use drivelab_workload::{DataPattern, Job, Progress, Task, run};

const PATTERNS: [DataPattern; 4] = [
    DataPattern::Random {},
    DataPattern::Zeros {},
    DataPattern::Repeating {},
    DataPattern::Compressible { compressed_percent: 46.0, duplicate_percent: 30.0, duplicate_pool: 100 },
];

/// The report of random overwrites on a full drive, without the name of the pattern.
fn report(model: &Arc<Model>, data: DataPattern) -> String {
    let mut drive = Drive::new(Arc::clone(model), 1).unwrap();
    let job = |rw, block_bytes, loops| {
        let mut job = Job::new("overwrite", rw, block_bytes, 4);
        (job.data, job.loops) = (data, loops);
        job
    };
    for job in [job(Rw::Write, 128 << 10, 1), job(Rw::RandWrite, 4096, 1), job(Rw::RandRead, 4096, 1)] {
        run(&mut drive, &[Task::from(job)], &Progress::new()).unwrap();
    }
    let mut report = run(&mut drive, &[Task::from(job(Rw::RandRw, 4096, 1))], &Progress::new()).unwrap();
    report.jobs[0].data = DataPattern::default();
    serde_json::to_string(&report).unwrap()
}

/// A small X25-M, and its flash under another map. Pages wait for more data, so that what is programmed follows from
/// sizes, not from how fast the dies are.
fn model(family: &str) -> Arc<Model> {
    let small = [
        ("family", family),
        ("flash.blocks_per_plane", "8"),
        ("user_capacity_bytes", "209715200"),
        ("write_buffer.hold_ns", "2000000"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let layers = [
        include_str!("../../../models/flash/imft-50nm-mlc.toml"),
        include_str!("../../../models/intel-x25-m-g1-80gb.toml"),
    ]
    .map(|text| Layer { text, origin: "intel-x25-m-g1-80gb" });
    Arc::new(Model::parse_layers(&layers, &small).unwrap())
}

#[test]
fn a_drive_that_does_not_compress_gives_the_same_results_for_any_data() {
    let model = model("page-map");
    let random = report(&model, PATTERNS[0]);
    for data in &PATTERNS[1..] {
        assert_eq!(report(&model, *data), random, "{data:?}");
    }
}

#[test]
fn a_drive_that_compresses_programs_less_the_less_there_is_to_store() {
    let model = model("compressed-map");
    let compressible = |compressed_percent, duplicate_percent| DataPattern::Compressible {
        compressed_percent,
        duplicate_percent,
        duplicate_pool: 100,
    };
    let programmed = [
        DataPattern::Random {},
        compressible(100.0, 30.0),
        compressible(46.0, 0.0),
        compressible(46.0, 30.0),
        DataPattern::Zeros {},
    ]
    .map(|data| {
        let report: serde_json::Value = serde_json::from_str(&report(&model, data)).unwrap();
        let bytes = |key: &str| report["counters_after"][key].as_u64().unwrap();
        ["host", "cleaning"].map(|purpose| bytes(&format!("program_bytes_{purpose}"))).iter().sum::<u64>()
    });
    assert!(programmed.windows(2).all(|pair| pair[1] < pair[0]), "{programmed:?}");
    let written = 2 * 209_715_200;
    assert!(programmed[0] > written && programmed[2] < written, "{programmed:?}");
}
