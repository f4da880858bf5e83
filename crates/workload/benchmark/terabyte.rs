//! A drive of a terabyte with word lines that are programmed whole: its fill, random writes and single reads.

use std::error::Error;

use drivelab_controller::Device;
use drivelab_workload::Job;
use drivelab_workload::job::Rw;

use super::subjects::{drive, fill, prepare, random, scaled};
use super::{Extent, Table};

const FILL: &str = "1 TB of TLC (PM9A3), fill: 128 KB writes, QD 32";
const WRITES: &str = "  full, random 4 KB writes in cleaning, QD 32";
const READS: &str = "  full, random 4 KB reads, QD 1";
/// Programs are counted as map units, as those of the other rows: a word line has 24 of them.
const UNIT_BYTES: f64 = 4096.0;

/// Three rows of one drive, each in the state that the one before has left.
pub fn terabyte(table: &mut Table) -> Result<(), Box<dyn Error>> {
    if ![FILL, WRITES, READS].iter().any(|name| table.wants(name)) {
        return Ok(());
    }
    let texts = &[
        include_str!("../../../models/flash/samsung-128l-tlc.toml"),
        include_str!("../../../models/micron-7450-max-800gb.toml"),
        include_str!("../../../models/samsung-pm9a3-960gb.toml"),
    ];
    let mut subject = drive(texts, scaled(table))?;
    let capacity_bytes = subject.capacity_sectors() * 512;
    let in_sequence = |bytes| Job { io_bytes: Some(bytes), ..Job::new("fill", Rw::Write, 131_072, 32) };
    let filled_bytes = match table.extent {
        Extent::Counted => capacity_bytes / 4,
        Extent::Full | Extent::Tiny => capacity_bytes,
    };
    table.row(FILL, &mut subject, UNIT_BYTES, |_| in_sequence(filled_bytes), None)?;
    if !table.wants(FILL) || matches!(table.extent, Extent::Counted) {
        fill(&mut subject, capacity_bytes)?;
    }
    // What is spare is written first; then every write waits for a copy.
    prepare(&mut subject, random(Rw::RandWrite, 4096, capacity_bytes / 4096 / 4, 1))?;
    let requests = table.extent.requests(4_000_000);
    table.row(
        WRITES,
        &mut subject,
        UNIT_BYTES,
        |round| random(Rw::RandWrite, 4096, requests, 2 + round),
        None,
    )?;
    let reads = |round| Job { queue_depth: 1, ..random(Rw::RandRead, 4096, requests, 9 + round) };
    // What the writes still owe is done before, and what of them waits in the write buffer for company is programmed:
    // seconds of a light load, in which there is time for both.
    prepare(&mut subject, Job { rate_iops: Some(1000), io_bytes: Some(10_000 * 4096), ..reads(0) })?;
    table.row(READS, &mut subject, UNIT_BYTES, |round| reads(1 + round), None)
}
