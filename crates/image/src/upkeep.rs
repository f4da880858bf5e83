//! What is done to an image while no host uses it: looked at, checked, trimmed, erased.

use std::collections::HashMap;
use std::path::Path;

use drivelab_controller::{Command, Device, Op, Outcome};
use drivelab_drive::{Drive, Family};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::drive::{ImageDrive, NoCommands};
use crate::error::ImageError;
use crate::image::{Access, Image};
use crate::lifetime::{facts, levels_of_flash};

/// Most sectors of one trim: 64 ranges of 65,535 sectors, what a command of ATA holds in its first block.
pub const TRIM_SECTORS_MAX: u32 = 64 * 65_535;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// What is wrong, a line each; empty: nothing is.
    pub problems: Vec<String>,
    /// Whether the drive was put to rest.
    pub is_clean: bool,
    /// Media that were checked.
    pub media: usize,
    /// Erase blocks that were checked.
    pub blocks: u64,
    /// Cells that hold something current.
    pub cells_in_use: u64,
    /// Cells that there are.
    pub cells: u64,
    /// Records in the log of the map.
    pub log_records: u64,
    /// Units that a capacitor keeps.
    pub held_units: u64,
}

/// Checks an image: every structure that flash would have, the map that recovery finds, the books of the drive that comes
/// of it, and that no two units share a cell. Nothing changes, not even after a power cut.
///
/// # Errors
/// The image can't be opened. What is wrong inside is in the report.
pub fn check(path: &Path) -> Result<CheckReport, ImageError> {
    let image = Image::open(path, Access::Look)?;
    let shapes = image.manifest().media.clone();
    let mut report = CheckReport {
        problems: image.check_media(),
        is_clean: image.state().is_clean,
        media: shapes.len(),
        blocks: shapes.iter().map(|shape| u64::from(shape.blocks)).sum(),
        cells_in_use: 0,
        cells: shapes.iter().map(|shape| u64::from(shape.cells)).sum(),
        log_records: 0,
        held_units: 0,
    };
    if !report.problems.is_empty() {
        return Ok(report);
    }
    match ImageDrive::look(image) {
        Ok(drive) => {
            report.log_records = drive.report().log_records;
            report.held_units = drive.report().held_units;
            report.problems.extend(drive.drive().engine().check().err());
            check_cells(&drive, &mut report);
        }
        Err(ImageError::Damaged { what, .. } | ImageError::Model { what, .. }) => report.problems.push(what),
        Err(error) => return Err(error),
    }
    Ok(report)
}

/// Every cell in use is there, and none is used twice; a drive that stores copies once may share them.
fn check_cells(drive: &ImageDrive, report: &mut CheckReport) {
    let may_share = drive.drive().model().family() == Family::CompressedMap;
    for (medium, shape) in drive.image().manifest().media.iter().enumerate() {
        let mut user_of = HashMap::new();
        for (unit, cell) in drive.drive().engine().live_cells(medium) {
            if cell == 0 || cell > shape.cells {
                report.problems.push(format!("unit {unit} is in cell {cell} of {}", shape.cells));
            } else if let Some(other) = user_of.insert(cell, unit)
                && other != unit
                && !may_share
            {
                report.problems.push(format!("units {other} and {unit} are both in cell {cell}"));
            }
            if report.problems.len() > 50 {
                return;
            }
        }
        report.cells_in_use += user_of.len() as u64;
    }
}

/// What SMART tells of an image at rest.
///
/// # Errors
/// The image can't be opened, or its model can't be read.
pub fn smart(path: &Path) -> Result<Value, ImageError> {
    let image = Image::open(path, Access::Look)?;
    let refuse = |what: String| ImageError::Model { path: path.to_owned(), what };
    let drive =
        Drive::new(image.model()?, image.manifest().seed).map_err(|error| refuse(error.to_string()))?;
    let mut state = image.state().clone();
    state.counters.extend(levels_of_flash(&image.media()));
    end_faults(&mut state.counters, &drive.smart(), image.manifest().media.len() == 1);
    Ok(facts(&image, &drive, &state))
}

/// A plan of faults ends with the power: what it made of a drive is over, what has failed stays. After a power cut the
/// flash alone knows which blocks have; of an array the rest is as last saved, since nobody has told which member has
/// the least to spare. `new`: counters of a new drive of the model.
fn end_faults(counters: &mut Map<String, Value>, new: &Value, is_alone: bool) {
    let mut has_spare = false;
    if let (Some(spare), Some(retired), true) =
        (new["spare_blocks_new"].as_u64(), counters.get("retired_blocks").and_then(Value::as_u64), is_alone)
    {
        // A plan may have counted fewer.
        counters.insert("spare_blocks_new".to_owned(), spare.into());
        counters.insert("spare_blocks".to_owned(), spare.saturating_sub(retired).into());
        has_spare = spare > retired;
    }
    let is_over = match counters.get("read_only_reason").and_then(Value::as_str) {
        Some("fault") => true,
        Some("spare blocks used up") => has_spare,
        _ => false,
    };
    if is_over {
        counters.insert("read_only".to_owned(), false.into());
        counters.insert("read_only_reason".to_owned(), Value::Null);
    }
}

/// Tells a drive that its host needs a range of sectors no more. Power on, trims, a flush, standby.
///
/// # Errors
/// The image can't be used, or the range leaves the drive.
pub fn trim(path: &Path, lba: u64, sector_count: u64) -> Result<(), ImageError> {
    let capacity = Image::open(path, Access::Look)?.manifest().sector_count;
    let end = lba.saturating_add(sector_count);
    if end > capacity {
        let what = format!("sectors {lba} to {end} leave the drive, which has {capacity} sectors");
        return Err(ImageError::Model { path: path.to_owned(), what });
    }
    let mut drive = ImageDrive::power_on(path)?;
    let mut outcome = Outcome::Done;
    let mut next = lba;
    while next < end && outcome == Outcome::Done {
        let count = (end - next).min(u64::from(TRIM_SECTORS_MAX)) as u32;
        outcome = run(&mut drive, Command::new(0, Op::Trim, next, count))?;
        next += u64::from(count);
    }
    outcome = outcome.max(run(&mut drive, Command::new(0, Op::Flush, 0, 0))?);
    drive.power_off(&mut NoCommands)?;
    let refused = |what| Err(ImageError::Refused { path: path.to_owned(), what });
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Refused => refused("the drive is read-only, at the end of its life: it refuses trims"),
        Outcome::Uncorrectable | Outcome::Failed => refused("the drive could not store the trim"),
    }
}

/// Carries out one command that moves no data.
fn run(drive: &mut ImageDrive, command: Command) -> Result<Outcome, ImageError> {
    let refused =
        |what: String, drive: &ImageDrive| ImageError::Model { path: drive.image().path().to_owned(), what };
    let now_ns = drive.drive().now_ns();
    drive.submit(now_ns, command, &[]).map_err(|error| refused(error.to_string(), drive))?;
    let mut done = Vec::new();
    while done.is_empty() {
        let Some(event_ns) = drive.next_event() else {
            return Err(refused("the drive does not answer".to_owned(), drive));
        };
        drive.advance(event_ns, &mut NoCommands, &mut done)?;
    }
    Ok(done[0].outcome)
}

/// Erases a drive: its data is gone, also from the file; wear stays.
///
/// # Errors
/// The image can't be used.
pub fn secure_erase(path: &Path) -> Result<(), ImageError> {
    let mut drive = ImageDrive::power_on(path)?;
    drive.secure_erase()?;
    drive.power_off(&mut NoCommands).map(drop)
}
