//! The benchmark still runs: the same code on a small device.

#[path = "../examples/bench/main.rs"]
mod bench;

#[test]
fn every_benchmark_runs_and_does_work() {
    let rows = bench::measure(1000).unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.rate.requests_per_s > 0.0 && row.ratio > 0.0));
    assert!(rows[3].rate.write_amplification > 1.0);
}
