//! The benchmark still runs: the same code on small drives.

#[path = "../benchmark/main.rs"]
mod bench;

#[test]
fn every_benchmark_runs_and_does_work() {
    let rows = bench::measure(bench::Extent::Tiny, "").unwrap();
    assert_eq!(rows.len(), 13);
    assert!(rows.iter().all(|row| row.rate.requests_per_s > 0.0));
    // Beside the prototype where it can do the same; alone elsewhere.
    assert!(rows[..5].iter().all(|row| row.ratio.is_some_and(|ratio| ratio > 0.0)));
    assert!(rows[5..].iter().all(|row| row.ratio.is_none()));
    let amplification = |row: usize| rows[row].rate.write_amplification;
    assert!(amplification(4) > 1.0, "the X25-M cleans: {}", amplification(4));
    assert!(amplification(5) > 0.0, "the compressed map programs: {}", amplification(5));
    assert!(amplification(6) > 100.0, "the superblock map merges: {}", amplification(6));
    // Its fill is in order and leaves all log blocks, which take the first of the few writes without a merge.
    assert!(amplification(7) > 5.0, "the log-block map merges: {}", amplification(7));
    assert!(amplification(11) > 1.5, "the drive of a terabyte cleans: {}", amplification(11));
}
