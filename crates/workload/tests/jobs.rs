//! Jobs as JSON, and what is said about wrong ones.

use drivelab_workload::distribution::DistributionSpec;
use drivelab_workload::job::{ReplayPacing, Rw, Source};
use drivelab_workload::{DataPattern, Job, parse_job, parse_jobs};

const CAPACITY_BYTES: u64 = 1 << 30;

fn message(json: &str) -> String {
    match parse_job(json) {
        Err(error) => error.to_string(),
        Ok(job) => job.validate(CAPACITY_BYTES).expect_err("should be refused").to_string(),
    }
}

fn assert_says(json: &str, parts: &[&str]) {
    let message = message(json);
    for part in parts {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}

#[test]
fn everything_but_the_name_has_a_default() {
    let job = parse_job(r#"{"name": "fill"}"#).unwrap();
    assert_eq!(job, Job::new("fill", Rw::Read, 4096, 1));
    job.validate(CAPACITY_BYTES).unwrap();
}

#[test]
fn a_job_survives_the_way_to_json_and_back() {
    let jobs = parse_jobs(
        r#"[{"name": "a", "rw": "randrw", "distribution": {"kind": "zipf", "theta": 1.2}, "span_bytes": 8192},
            {"name": "b", "source": {"kind": "requests", "pacing": "capped", "idle_cap_ns": 5},
             "data": {"kind": "compressible", "compressed_percent": 46}}]"#,
    )
    .unwrap();
    assert_eq!(jobs[0].distribution, DistributionSpec::Zipf { theta: 1.2, center: None });
    assert_eq!(jobs[1].source, Source::Requests { pacing: ReplayPacing::Capped, idle_cap_ns: Some(5) });
    let data =
        DataPattern::Compressible { compressed_percent: 46.0, duplicate_percent: 0.0, duplicate_pool: 1024 };
    assert_eq!((jobs[0].data, jobs[1].data), (DataPattern::Random {}, data));
    assert_eq!(parse_jobs(&serde_json::to_string(&jobs).unwrap()).unwrap(), jobs);
}

#[test]
fn unknown_keys_and_wrong_types_are_named_with_their_place() {
    assert_says(r#"{"name": "a", "que_depth": 3}"#, &["job.que_depth", "unknown field", "`queue_depth`"]);
    assert_says(r#"{"name": "a", "rw": "randwriet"}"#, &["job.rw", "randwriet", "`randwrite`"]);
    assert_says(r#"{"name": "a", "queue_depth": "many"}"#, &["job.queue_depth", "many", "u32"]);
    assert_says(r#"{"name": "a", "block_sizes": [{"byte": 4096}]}"#, &["job.block_sizes[0].byte", "`bytes`"]);
    assert_says(
        r#"{"name": "a", "source": {"kind": "generated", "pacing": "closed"}}"#,
        &["job.source", "pacing"],
    );
    assert_says(
        r#"{"name": "a", "distribution": {"kind": "uniform", "theta": 1}}"#,
        &["job.distribution", "theta"],
    );
    assert_says(
        r#"{"name": "a", "distribution": {"kind": "zipf", "h": 1}}"#,
        &["job.distribution", "`theta`"],
    );
    assert_says(r#"{"name": "a", "data": {"kind": "zeroes"}}"#, &["job.data", "zeroes", "`zeros`"]);
    assert_says(
        r#"{"name": "a", "data": {"kind": "zeros", "duplicate_percent": 1}}"#,
        &["job.data", "duplicate_percent"],
    );
    assert_says(
        r#"{"name": "a", "data": {"kind": "compressible", "ratio": 2}}"#,
        &["job.data", "ratio", "`compressed_percent`"],
    );
    assert_says(r#"{"name": "a"} x"#, &["trailing"]);
    let error = parse_jobs(r#"[{"name": "a"}, {"name": "b", "loops": -1}]"#).unwrap_err().to_string();
    assert!(error.starts_with("jobs[1].loops: ") && error.contains("-1"), "{error}");
}

#[test]
fn values_that_are_not_allowed_are_named_with_what_is() {
    for (json, parts) in [
        (r#""queue_depth": 0"#, ["job 'a': queue_depth = 0", "1 to 65536"]),
        (r#""block_sizes": []"#, ["block_sizes", "at least one"]),
        (r#""block_sizes": [{"bytes": 1000}]"#, ["block_sizes[0].bytes = 1000", "multiple of 512"]),
        (r#""block_sizes": [{"bytes": 0}]"#, ["block_sizes[0].bytes = 0", "512 to"]),
        (r#""block_sizes": [{"bytes": 512, "weight": 0}]"#, ["block_sizes[0].weight = 0", "above 0"]),
        (r#""write_block_sizes": [{"bytes": 1}]"#, ["write_block_sizes[0].bytes = 1", "multiple of 512"]),
        (r#""align_bytes": 100"#, ["align_bytes = 100", "multiple of 512"]),
        (r#""span_bytes": 2147483648"#, ["span_bytes = 2147483648", "1073741824"]),
        (
            r#""offset_bytes": 512, "span_bytes": 1073741824"#,
            ["span_bytes = 1073741824", "offset_bytes = 512"],
        ),
        (r#""offset_bytes": 1073741824"#, ["offset_bytes = 1073741824", "below"]),
        (r#""offset_bytes": 18446744073709551104, "span_bytes": 1024"#, ["offset_bytes = 1844", "below"]),
        (r#""span_bytes": 512"#, ["block_sizes = 4096", "region of 512 bytes"]),
        (r#""time_based": true"#, ["time_based = true", "runtime_ns"]),
        (r#""loops": 0"#, ["loops = 0", "at least 1"]),
        (r#""read_percent": 101"#, ["read_percent = 101", "0 to 100"]),
        (r#""rate_iops": 0"#, ["rate_iops = 0", "1 to"]),
        (r#""percentiles": [50, 0]"#, ["percentiles[1] = 0", "above 0"]),
        (r#""percentiles": [50, 50.0]"#, ["percentiles[1] = 50", "once"]),
        (r#""random_percent": 50"#, ["random_percent = 50", "100"]),
        (r#""distribution": {"kind": "pareto", "h": 0.5}"#, ["distribution.kind = pareto", "uniform"]),
        (r#""source": {"kind": "requests", "pacing": "capped"}"#, ["source.idle_cap_ns = null", "given"]),
        (r#""source": {"kind": "requests"}, "loops": 2"#, ["loops = 2", "must be 1"]),
        (
            r#""source": {"kind": "requests", "pacing": "arrival"}, "rate_iops": 5"#,
            ["rate_iops = 5", "recorded times"],
        ),
        (
            r#""source": {"kind": "requests", "pacing": "think"}, "thinktime_ns": 5"#,
            ["thinktime_ns = 5", "processor time"],
        ),
    ] {
        assert_says(&format!(r#"{{"name": "a", {json}}}"#), &parts);
    }
    for (data, parts) in [
        (r#""compressed_percent": 101"#, ["job 'a': data.compressed_percent = 101", "0 to 100"]),
        (r#""duplicate_percent": -0.1"#, ["data.duplicate_percent = -0.1", "0 to 100"]),
        (r#""duplicate_pool": 0"#, ["data.duplicate_pool = 0", "1 to 65535"]),
        (r#""duplicate_pool": 65536"#, ["data.duplicate_pool = 65536", "1 to 65535"]),
    ] {
        assert_says(&format!(r#"{{"name": "a", "data": {{"kind": "compressible", {data}}}}}"#), &parts);
    }
    for (distribution, parts) in [
        (r#"{"kind": "zipf", "theta": 0}"#, ["distribution.theta = 0", "above 0"]),
        (r#"{"kind": "zipf", "theta": 1}"#, ["distribution.theta = 1", "not 1"]),
        (r#"{"kind": "zipf", "theta": 2, "center": 1.5}"#, ["distribution.center = 1.5", "0 to 1"]),
        (r#"{"kind": "pareto_true", "h": 0}"#, ["distribution.h = 0", "above 0"]),
        (r#"{"kind": "pareto", "h": 1}"#, ["distribution.h = 1", "below 1"]),
        (r#"{"kind": "normal", "deviation_percent": -1}"#, ["deviation_percent = -1", "above 0"]),
        (
            r#"{"kind": "zoned", "zones": [{"access_percent": 100, "size_percent": 50}]}"#,
            ["size_percent = 50", "sum"],
        ),
        (r#"{"kind": "zoned", "zones": []}"#, ["zones = 0", "1 to 256"]),
    ] {
        assert_says(&format!(r#"{{"name": "a", "rw": "randread", "distribution": {distribution}}}"#), &parts);
    }
    assert_says(r#"{"name": ""}"#, &["name", "empty"]);
}
