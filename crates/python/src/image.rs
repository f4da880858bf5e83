//! Images of drives: made, looked at, changed, served. Results and options are JSON.
#![allow(clippy::needless_pass_by_value, reason = "paths come from Python by value")]

use std::path::PathBuf;

use drivelab_controller::{FaultPlan, SECTOR_BYTES};
use drivelab_drive::faults;
use drivelab_image::{FORMAT_VERSION, Image, ModelTexts, upkeep};
use drivelab_nbd::{DriveExport, Recorder, ServeOptions};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::errors;
use crate::serving::{self, Place, ServerStop};

/// Makes the image of a new drive of a model, given by its texts.
#[pyfunction]
pub fn create_image(python: Python<'_>, path: PathBuf, texts_json: &str, seed: u64) -> PyResult<String> {
    let texts: ModelTexts = serde_json::from_str(texts_json).map_err(|error| errors::request(&error))?;
    python.detach(|| Image::create(&path, &texts, seed)).map_err(errors::image)?;
    Ok(json!({ "image_format": FORMAT_VERSION }).to_string())
}

/// Checks every structure of an image; changes nothing.
#[pyfunction]
pub fn check_image(python: Python<'_>, path: PathBuf) -> PyResult<String> {
    let report = python.detach(|| upkeep::check(&path)).map_err(errors::image)?;
    serde_json::to_string(&report).map_err(|error| errors::request(&error))
}

/// Erases a drive securely.
#[pyfunction]
pub fn erase_image(python: Python<'_>, path: PathBuf) -> PyResult<String> {
    python.detach(|| upkeep::secure_erase(&path)).map_err(errors::image)?;
    Ok(json!({}).to_string())
}

/// Trims a range of bytes, and flushes.
#[pyfunction]
pub fn trim_image(python: Python<'_>, path: PathBuf, offset: u64, length: u64) -> PyResult<String> {
    let (first, count) = (offset / SECTOR_BYTES, length / SECTOR_BYTES);
    python.detach(|| upkeep::trim(&path, first, count)).map_err(errors::image)?;
    Ok(json!({}).to_string())
}

/// What a drive that isn't served says about itself.
#[pyfunction]
pub fn smart_image(python: Python<'_>, path: PathBuf) -> PyResult<String> {
    let facts = python.detach(|| upkeep::smart(&path)).map_err(errors::image)?;
    Ok(facts.to_string())
}

/// Checks a plan of faults as far as that can be done without a drive.
#[pyfunction]
pub fn check_fault_plan(plan_json: &str) -> PyResult<()> {
    let plan: Value = serde_json::from_str(plan_json).map_err(|error| errors::request(&error))?;
    faults::plan_from_json(&plan).map(drop).map_err(|error| errors::request(&error))
}

/// What a server is told beside its address and clock.
#[derive(Deserialize)]
struct Options {
    export_name: String,
    control: Option<PathBuf>,
    read_only: bool,
    sync: bool,
    /// Where requests are written to, as a trace.
    record: Option<PathBuf>,
    /// A plan of faults.
    #[serde(default)]
    faults: Value,
}

/// Serves a drive at `unix:PATH`, `HOST:PORT` or `stdio` until it is stopped or its power is cut. `ready` is called with
/// what is served and where, when clients can come. Returns what was done.
#[pyfunction]
pub fn serve_image(
    python: Python<'_>,
    path: PathBuf,
    listen: &str,
    clock: &str,
    options_json: &str,
    ready: Py<PyAny>,
    stop: &ServerStop,
) -> PyResult<String> {
    let options: Options = serde_json::from_str(options_json).map_err(|error| errors::request(&error))?;
    let place = Place::parse(listen, clock, options.control).map_err(|error| errors::request(&error))?;
    let plan = match &options.faults {
        Value::Null => FaultPlan::default(),
        plan => faults::plan_from_json(plan).map_err(|error| errors::request(&error))?,
    };
    let serve = ServeOptions {
        name: options.export_name,
        read_only: options.read_only,
        sync: options.sync,
        faults: plan,
    };
    let told = python.detach(|| {
        place.check()?;
        let mut export = DriveExport::power_on(&path, &serve).map_err(errors::image)?;
        if let Some(place) = &options.record {
            let recorder = Recorder::create(place)
                .map_err(|error| errors::failed(&format!("{}: {error}", place.display())))?;
            export.recorder = Some(recorder);
        }
        let (before, cut) = (export.facts(), export.stop_when_cut());
        let mut facts = before.clone();
        facts["mount_ns"] = export.report().duration_ns.into();
        facts["pages_read"] = export.report().pages_read.into();
        if export.power_was_cut() {
            // By a fault at once, or during the mount.
            return finish((export, json!({})), &before);
        }
        let served = serving::serve(export, &place, stop, |handle, uri| {
            let _ = cut.set(handle);
            facts["uri"] = uri.into();
            Python::attach(|python| ready.call1(python, (facts.to_string(),)).map(drop))
        });
        finish(served?, &before)
    })?;
    Ok(told.to_string())
}

/// The power goes off in the way that it was asked for.
fn finish(served: (DriveExport, Value), before: &Value) -> PyResult<Value> {
    let (mut export, statistics) = served;
    let cut = export.facts();
    let recorded = match export.recorder.take().map(Recorder::finish) {
        None => Value::Null,
        Some(Ok(requests)) => json!({ "requests": requests }),
        Some(Err(error)) => json!({ "error": error.to_string() }),
    };
    let late = export.lateness();
    if let Some(failure) = export.failure() {
        let text = format!(
            "{failure}; since then every request has failed; what was flushed is there, unless the disk lost it"
        );
        return Err(errors::failed(&text));
    }
    let is_at_rest = export.rest().map_err(errors::image)?;
    let reason = if is_at_rest { "stopped" } else { "power-cut" };
    // With what going to rest took.
    let after = if is_at_rest { export.facts() } else { cut };
    Ok(json!({
        "reason": reason,
        "statistics": statistics,
        "late_ns": late,
        "recorded": recorded,
        "before": before,
        "after": after,
    }))
}
