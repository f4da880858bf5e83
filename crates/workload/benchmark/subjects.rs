//! Drives, jobs, and the rows of the families that the prototype has no equivalent of.

use std::error::Error;
use std::sync::Arc;

use drivelab_controller::Device;
use drivelab_drive::{Drive, Layer, Model};
use drivelab_workload::data::DataPattern;
use drivelab_workload::job::Rw;
use drivelab_workload::{Job, Progress, Task, run};

use super::Table;

const PAGE_BYTES: f64 = 4096.0;

/// What small versions divide capacities by.
const SMALL: &str = "64";

fn model(
    texts: &[&str],
    overrides: &[(&str, &str)],
    members: &[Arc<Model>],
) -> Result<Model, Box<dyn Error>> {
    let overrides: Vec<_> =
        overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let layers: Vec<_> = texts.iter().map(|text| Layer { text, origin: "bench" }).collect();
    Ok(Model::parse_array(&layers, &overrides, members)?)
}

/// A drive from texts, what is general first.
pub fn drive(texts: &[&str], overrides: &[(&str, &str)]) -> Result<Drive, Box<dyn Error>> {
    Ok(Drive::new(Arc::new(model(texts, overrides, &[])?), 1)?)
}

/// Random requests, 32 outstanding.
pub fn random(rw: Rw, bytes: u64, requests: u64, seed: u64) -> Job {
    Job { seed, io_bytes: Some(requests * bytes), ..Job::new("bench", rw, bytes, 32) }
}

/// Runs a job that no row is about.
pub fn prepare(drive: &mut Drive, job: Job) -> Result<(), Box<dyn Error>> {
    run(drive, &[Task::from(job)], &Progress::new())?;
    Ok(())
}

/// Writes the first bytes in sequence.
pub fn fill(drive: &mut Drive, span_bytes: u64) -> Result<(), Box<dyn Error>> {
    prepare(drive, Job { span_bytes: Some(span_bytes), ..Job::new("fill", Rw::Write, 131_072, 32) })
}

/// The compressed map, two merging maps, a hard disk and an array.
pub fn families(table: &mut Table) -> Result<(), Box<dyn Error>> {
    compressed_map(table)?;
    let flash = include_str!("../../../models/flash/samsung-51nm-mlc.toml");
    merging_map(
        table,
        "superblock map (JMF602B) full, random 4 KB writes",
        &[flash, include_str!("../../../models/jmicron-jmf602b-64gb.toml")],
    )?;
    merging_map(
        table,
        "log-block map (Summit) full, random 4 KB writes",
        &[flash, include_str!("../../../models/ocz-summit-128gb.toml")],
    )?;
    let mut disk = drive(&[include_str!("../../../models/wd-velociraptor-300gb.toml")], &[])?;
    let requests = table.extent.requests(1_000_000);
    table.row(
        "hard disk (VelociRaptor), random 4 KB reads, QD 32",
        &mut disk,
        PAGE_BYTES,
        |round| random(Rw::RandRead, 4096, requests, round),
        None,
    )?;
    array(table)
}

/// Settings of a small version, where small ones are asked for.
pub fn scaled(table: &Table) -> &'static [(&'static str, &'static str)] {
    if table.extent.is_small() { &[("scale_divisor", SMALL)] } else { &[] }
}

/// Random writes of data that compress to a half, on a full drive.
fn compressed_map(table: &mut Table) -> Result<(), Box<dyn Error>> {
    const NAME: &str = "compressed map (F100) full, random 4 KB writes";
    if !table.wants(NAME) {
        return Ok(());
    }
    let texts = &[
        include_str!("../../../models/flash/imft-34nm-mlc.toml"),
        include_str!("../../../models/corsair-force-f100-100gb.toml"),
    ];
    let mut full = drive(texts, scaled(table))?;
    let data =
        DataPattern::Compressible { compressed_percent: 50.0, duplicate_percent: 0.0, duplicate_pool: 1024 };
    let span_bytes = full.capacity_sectors() * 512;
    let in_sequence = Job::new("fill", Rw::Write, 131_072, 32);
    prepare(&mut full, Job { span_bytes: Some(span_bytes), data, ..in_sequence })?;
    let writes = |requests, seed| Job { data, ..random(Rw::RandWrite, 4096, requests, seed) };
    prepare(&mut full, writes(table.extent.requests(4_000_000), 1))?;
    let requests = table.extent.requests(500_000);
    table.row(NAME, &mut full, PAGE_BYTES, |round| writes(requests, 2 + round), None)
}

/// Random writes of a full drive: nearly every one ends in a merge.
fn merging_map(table: &mut Table, name: &'static str, texts: &[&str]) -> Result<(), Box<dyn Error>> {
    if !table.wants(name) {
        return Ok(());
    }
    let mut full = drive(texts, scaled(table))?;
    let span_bytes = full.capacity_sectors() * 512;
    fill(&mut full, span_bytes)?;
    let requests = table.extent.requests(20_000);
    table.row(name, &mut full, PAGE_BYTES, |round| random(Rw::RandWrite, 4096, requests, round), None)
}

/// Random reads of a tenth of two X25-V.
fn array(table: &mut Table) -> Result<(), Box<dyn Error>> {
    const NAME: &str = "array (two X25-V), random 4 KB reads, QD 32";
    if !table.wants(NAME) {
        return Ok(());
    }
    let member = Arc::new(model(
        &[
            include_str!("../../../models/flash/imft-34nm-mlc.toml"),
            include_str!("../../../models/intel-x25-m-g1-80gb.toml"),
            include_str!("../../../models/intel-x25-m-g2-160gb.toml"),
            include_str!("../../../models/intel-x25-v-40gb.toml"),
        ],
        &[],
        &[],
    )?);
    let text = include_str!("../../../models/intel-x25-v-40gb-raid0-x2.toml");
    let array = model(&[text], scaled(table), &[Arc::clone(&member), member])?;
    let mut array = Drive::new(Arc::new(array), 1)?;
    let span_bytes = array.capacity_sectors() * 512 / 10 / 131_072 * 131_072;
    fill(&mut array, span_bytes)?;
    let requests = table.extent.requests(2_000_000);
    table.row(
        NAME,
        &mut array,
        PAGE_BYTES,
        |round| Job { span_bytes: Some(span_bytes), ..random(Rw::RandRead, 4096, requests, round) },
        None,
    )
}
