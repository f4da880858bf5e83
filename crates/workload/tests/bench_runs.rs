//! The benchmark still runs: the same code on a small device.

#[path = "../examples/bench.rs"]
mod bench;

#[test]
fn every_benchmark_runs_and_does_work() {
    let rates = bench::measure(1000).unwrap();
    assert_eq!(rates.len(), 4);
    assert!(rates.iter().all(|rate| rate.requests_per_s > 0.0));
    assert!(rates[3].write_amplification > 1.0);
}
