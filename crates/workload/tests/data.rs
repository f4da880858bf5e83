//! Data patterns on real models: who looks at them, and who doesn't.

use std::sync::Arc;

use drivelab_drive::{Drive, Model};
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

#[test]
fn a_drive_that_does_not_compress_gives_the_same_results_for_any_data() {
    let small = [("flash.blocks_per_plane", "8"), ("user_capacity_bytes", "209715200")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let text = include_str!("../../../models/intel-x25-m-g1-80gb.toml");
    let model = Arc::new(Model::parse(text, "intel-x25-m-g1-80gb", &small).unwrap());
    let random = report(&model, PATTERNS[0]);
    for data in &PATTERNS[1..] {
        assert_eq!(report(&model, *data), random, "{data:?}");
    }
}
