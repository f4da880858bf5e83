//! A C program over the header and the library does what `run` does, to the bit.

#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "compiles and runs a program")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use drivelab_controller::Device;
use drivelab_drive::{Drive, Layer, Model};
use drivelab_workload::job::{ReplayPacing, Rw, Source};
use drivelab_workload::{Job, Progress, Requests, Task, run};

const REQUESTS: usize = 200_000;

const MODEL: &str = include_str!("../../drive/examples/small.toml");

/// What the C program does, as arrays: filled in order, then reads and writes at random.
struct Columns {
    op: Vec<u8>,
    lba: Vec<u64>,
    sector_count: Vec<u32>,
}

impl Columns {
    fn fill(sectors: u64) -> Self {
        let lba: Vec<u64> = (0..sectors).step_by(256).collect();
        Self { op: vec![1; lba.len()], sector_count: vec![256; lba.len()], lba }
    }

    fn random(sectors: u64) -> Self {
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        };
        let (mut op, mut lba) = (Vec::new(), Vec::new());
        for _ in 0..REQUESTS {
            lba.push(draw() % (sectors / 8) * 8);
            op.push((draw() % 2) as u8);
        }
        Self { op, lba, sector_count: vec![8; REQUESTS] }
    }

    fn task(&self) -> Task<'_> {
        let mut job = Job::new("closed", Rw::RandRw, 4096, 32);
        job.source = Source::Requests { pacing: ReplayPacing::Closed, idle_cap_ns: None };
        let requests = Requests {
            op: &self.op,
            lba: &self.lba,
            sector_count: &self.sector_count,
            arrival_ns: None,
            program: None,
        };
        Task { job, requests: Some(requests) }
    }
}

/// The library that cargo built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folders = test.ancestors().skip(1).take(2);
    folders.map(|folder| folder.join("libdrivelab.so")).find(|path| path.exists()).expect("cargo built it")
}

fn compiled(folder: &Path, name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    cbindgen::generate(source).unwrap().write_to_file(folder.join("drivelab.h"));
    let (program, library) = (folder.join(name), library());
    let status = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-I"])
        .arg(folder)
        .arg(source.join("tests/c").join(name).with_extension("c"))
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()))
        .arg("-o")
        .arg(&program)
        .status()
        .unwrap();
    assert!(status.success(), "the C program doesn't compile");
    program
}

#[test]
fn a_c_program_gets_what_a_run_gets() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("small.toml");
    std::fs::write(&text, MODEL).unwrap();
    let output = Command::new(compiled(folder.path(), "closed_loop"))
        .arg(REQUESTS.to_string())
        .arg(&text)
        .output()
        .unwrap();
    let (said, complaint) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{complaint}");

    let model = Model::parse_layers(&[Layer { text: MODEL, origin: "small" }], &[]).unwrap();
    let mut drive = Drive::new(Arc::new(model), 1).unwrap();
    let sectors = drive.capacity_sectors() / 512 * 256;
    run(&mut drive, &[Columns::fill(sectors).task()], &Progress::new()).unwrap();
    let report = run(&mut drive, &[Columns::random(sectors).task()], &Progress::new()).unwrap();
    let job = &report.jobs[0];
    let latencies = [&job.read, &job.write].map(|direction| direction.latency_ns.as_ref().unwrap());
    let count: u64 = latencies.iter().map(|latency| latency.count).sum();
    let sum: f64 = latencies.iter().map(|latency| latency.mean * latency.count as f64).sum();
    let max = latencies.iter().map(|latency| latency.max).max().unwrap();

    let mut lines = said.lines();
    let numbers: Vec<u64> = lines.next().unwrap().split(' ').map(|number| number.parse().unwrap()).collect();
    assert_eq!(numbers[0], count);
    assert_eq!(numbers[1], sum.round() as u64, "sum of latencies");
    assert_eq!(numbers[2], max, "longest latency");
    assert_eq!(numbers[3], numbers[1], "the parts add up to the latencies");
    assert_eq!(numbers[4], drive.now_ns(), "the time at the end");
    assert_eq!(lines.next().unwrap(), drive.counters().to_string());
    assert!(lines.next().unwrap().contains("leave the drive"), "{said}");
}

/// Saved with requests inside and restored, a drive goes on as the one that was saved; and what C hears by going from
/// event to event is never late.
#[test]
fn a_c_program_goes_on_from_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let (text, state) = (folder.path().join("small.toml"), folder.path().join("state"));
    std::fs::write(&text, MODEL).unwrap();
    let output = Command::new(compiled(folder.path(), "checkpoint"))
        .arg("40000")
        .args([&state, &text])
        .output()
        .unwrap();
    let (said, complaint) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{complaint}");
    let lines: Vec<&str> = said.lines().collect();
    let inside: u32 = lines[0].strip_suffix(" inside").unwrap().parse().unwrap();
    assert!(inside > 0, "a checkpoint of an idle drive shows less");
    assert_eq!(lines[1], format!("{inside} requests are inside; this is for a drive that has none"));
    assert_eq!(lines[2], "40000 done, the same, 0 late");
    assert_eq!(lines[3], "no whole state of a drive: its sum is another");
    let smart: serde_json::Value = serde_json::from_str(lines[4]).unwrap();
    assert!(smart["write_amplification"].as_f64().unwrap() > 0.0, "{smart}");
}
