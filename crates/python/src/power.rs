//! Drives that keep what a recovery reads while they work, so that their power can be cut and come back.

use std::sync::Arc;

use drivelab_image::KeptFlash;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use serde_json::json;

use crate::drive::Drive;
use crate::errors;
use crate::model::Model;
use crate::powered::{check_flash, check_power};

/// Bytes of memory that keeping a drive's flash takes.
#[pyfunction]
pub fn kept_bytes(drive: &Drive) -> u64 {
    KeptFlash::bytes_for(&drive.inner)
}

/// From now on a new drive keeps what a recovery reads of its flash.
#[pyfunction]
pub fn keep_flash(drive: &mut Drive) -> PyResult<()> {
    let flash = KeptFlash::of(&mut drive.inner).map_err(errors::WorkloadError::new_err)?;
    drive.kept = Some(Box::new(flash));
    Ok(())
}

fn kept(drive: &mut Drive) -> PyResult<(&mut drivelab_drive::Drive, &mut KeptFlash)> {
    match &mut drive.kept {
        Some(flash) => Ok((&mut drive.inner, flash)),
        None => Err(errors::WorkloadError::new_err("the drive keeps nothing that a recovery would read")),
    }
}

/// A drive that keeps its flash, without commands inside, goes to rest: a checkpoint of its map is written.
#[pyfunction]
pub fn rest(drive: &mut Drive) -> PyResult<()> {
    let (drive, flash) = kept(drive)?;
    check_power(flash)?;
    flash.rest(drive, &mut Vec::new());
    check_flash(flash)
}

/// The power of a drive that keeps its flash fails now. JSON of what that met.
#[pyfunction]
pub fn cut_power(python: Python<'_>, drive: &mut Drive) -> PyResult<String> {
    let (drive, flash) = kept(drive)?;
    check_power(flash)?;
    let cut = python.detach(|| flash.cut(drive));
    check_flash(flash)?;
    let told = json!({
        "complete_units": cut.complete_units,
        "arriving_units": cut.arriving_units,
        "torn_programs": cut.torn_programs,
        "torn_erases": cut.torn_erases,
    });
    Ok(told.to_string())
}

/// The power comes back. JSON of what recovery did, and of each block whether it has read
/// its pages. Releases the GIL.
#[pyfunction]
pub fn restore_power<'py>(
    python: Python<'py>,
    drive: &mut Drive,
    model: &Model,
    seed: u64,
) -> PyResult<(String, Bound<'py, PyArray1<bool>>)> {
    let (inner, flash) = kept(drive)?;
    if flash.is_on() {
        return Err(errors::WorkloadError::new_err("the power is on"));
    }
    let model = Arc::clone(&model.shared);
    let (mounted, recovery) =
        python.detach(|| flash.mount(model, seed)).map_err(|what| errors::failed(&what))?;
    *inner = mounted;
    check_flash(flash)?;
    let report = recovery.report;
    let told = json!({
        "duration_ns": report.duration_ns,
        "pages_read": report.pages_read,
        "blocks_skipped": report.blocks_skipped,
        "had_checkpoint": report.had_checkpoint,
        "log_records": report.log_records,
        "moved_pages": report.moved_pages,
        "unused_blocks": report.unused_blocks,
        "held_units": report.held_units,
        "lost_units": recovery.lost_units,
    });
    Ok((told.to_string(), recovery.blocks_read.into_pyarray(python)))
}
