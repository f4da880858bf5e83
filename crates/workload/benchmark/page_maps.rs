//! The rows that the prototype has, too: a page map that only fills, and one that cleans.

use std::error::Error;
use std::time::Instant;

use drivelab_controller::Device;
use drivelab_workload::Job;
use drivelab_workload::job::Rw;

use super::laboratory::TimeAlone;
use super::prototype::{Prototype, Shape};
use super::subjects::{drive, fill, prepare, random};
use super::{Extent, Table};

/// What a prototype does per second: programs, or requests if it only reads.
fn prototype_rate(prototype: &mut Prototype, requests: u64, span_pages: u32, reads: bool, seed: u64) -> f64 {
    let (started, programs) = (Instant::now(), prototype.programs);
    prototype.run(requests, 32, span_pages, reads, seed);
    let done = if reads { requests } else { prototype.programs - programs };
    done as f64 / started.elapsed().as_secs_f64()
}

/// The first row of the device, which the laboratory's own repeats.
const READS: (&str, Rw, u64) = ("device 70 % filled: random 8 KB reads, QD 32", Rw::RandRead, 7_000_000);
/// Rows of one device, each run in the state that the one before has left.
const OF_DEVICE: [(&str, Rw, u64); 3] = [
    READS,
    ("device 70 % filled: random 8 KB writes, QD 32", Rw::RandWrite, 600_000),
    ("  the same, going on into cleaning", Rw::RandWrite, 1_500_000),
];

/// The same reads of a drive that only takes time.
const LABORATORY: &str = "  of them the laboratory's part: requests, measurement";

/// Reads and writes of a device that is filled to 70 %.
pub fn device(table: &mut Table) -> Result<(), Box<dyn Error>> {
    if !OF_DEVICE.iter().any(|(name, ..)| table.wants(name)) && !table.wants(LABORATORY) {
        return Ok(());
    }
    let extent = table.extent;
    let blocks_per_plane = if extent.is_small() { 64 } else { 256 };
    let device = &[include_str!("device.toml")];
    let mut filled = drive(device, &[("flash.blocks_per_plane", &blocks_per_plane.to_string())])?;
    let span = filled.capacity_sectors() * 512 / 10 * 7 / 8192 * 8192;
    let span_pages = (span / 8192) as u32;
    let shape = Shape {
        dies: 64,
        blocks_per_die: 2 * blocks_per_plane,
        pages_per_block: 256,
        user_pages: (filled.capacity_sectors() * 512 / 8192) as u32,
        read_ns: 75_000,
        program_ns: 750_000,
        erase_ns: 3_800_000,
    };
    let mut prototype = Prototype::new(shape, span_pages);
    fill(&mut filled, span)?;
    // Counted are too few requests to fill the device.
    let rows = if matches!(extent, Extent::Counted) { 2 } else { 3 };
    for (row, (name, rw, full)) in OF_DEVICE.into_iter().take(rows).enumerate() {
        let requests = extent.requests(full);
        let seed = |round| 10 * row as u64 + round;
        let job = |round| Job { span_bytes: Some(span), ..random(rw, 8192, requests, seed(round)) };
        let mut of_prototype =
            |round| prototype_rate(&mut prototype, requests, span_pages, rw == Rw::RandRead, seed(round));
        table.row(name, &mut filled, 8192.0, job, Some(&mut of_prototype))?;
        if name == READS.0 {
            let mut time_alone = TimeAlone::new(filled.capacity_sectors());
            table.row(LABORATORY, &mut time_alone, 8192.0, job, Some(&mut of_prototype))?;
        }
    }
    Ok(())
}

/// Random writes of a full X25-M.
pub fn steady(table: &mut Table) -> Result<(), Box<dyn Error>> {
    const NAME: &str = "X25-M full, random 4 KB writes in steady state";
    if !table.wants(NAME) {
        return Ok(());
    }
    let extent = table.extent;
    let x25m = &[
        include_str!("../../../models/flash/imft-50nm-mlc.toml"),
        include_str!("../../../models/intel-x25-m-g1-80gb.toml"),
    ];
    let small: &[(&str, &str)] = match extent {
        Extent::Full => &[],
        Extent::Tiny => &[("flash.blocks_per_plane", "64"), ("spare_ratio", "0.0734")],
        // What is held back weighs in small drives: with less spare area cleaning would be nearly all there is.
        Extent::Counted => &[("flash.blocks_per_plane", "64"), ("spare_ratio", "0.15")],
    };
    let mut full = drive(x25m, small)?;
    let capacity_bytes = full.capacity_sectors() * 512;
    let user_pages = (capacity_bytes / 4096) as u32;
    let shape = Shape {
        dies: 40,
        blocks_per_die: if extent.is_small() { 128 } else { 4096 },
        pages_per_block: 128,
        user_pages,
        read_ns: 50_000,
        program_ns: 900_000,
        erase_ns: 2_000_000,
    };
    fill(&mut full, capacity_bytes)?;
    // Each pass draws its own addresses: repeating the warm-up's would find them sorted by it.
    let warm_up = match extent {
        Extent::Counted => u64::from(user_pages) / 4,
        other => other.requests(10_000_000),
    };
    prepare(&mut full, random(Rw::RandWrite, 4096, warm_up, 1))?;
    let mut prototype = Prototype::new(shape, user_pages);
    prototype.run(warm_up, 32, user_pages, false, 1);
    let requests = extent.requests(2_000_000);
    table.row(
        NAME,
        &mut full,
        4096.0,
        |round| random(Rw::RandWrite, 4096, requests, 2 + round),
        Some(&mut |round| prototype_rate(&mut prototype, requests, user_pages, false, 2 + round)),
    )
}
