//! States of drives in files: a line that says whose, and the engine's bytes, which say whether they are whole.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::drive::Drive;
use crate::errors;
use crate::model::Model;

fn first_line(key: &str) -> Vec<u8> {
    format!("drivelab state {key}\n").into_bytes()
}

/// Writes the state of a drive to a new file, for [`read_state`] of the same key.
#[pyfunction]
pub fn write_state(python: Python<'_>, drive: &Drive, path: PathBuf, key: &str) -> PyResult<()> {
    if drive.kept.is_some() {
        return Err(errors::request(&"a drive whose power can be cut has its state in its image"));
    }
    let work = || {
        let mut out = File::create(path)?;
        out.write_all(&first_line(key))?;
        drive.inner.write_state(out)
    };
    Ok(python.detach(work)?)
}

/// The drive of a model that [`write_state`] wrote under a key; `None` for whatever else the file holds.
#[pyfunction]
pub fn read_state(python: Python<'_>, model: &Model, path: PathBuf, key: &str) -> PyResult<Option<Drive>> {
    let shared = Arc::clone(&model.shared);
    let work = || -> std::io::Result<Option<Drive>> {
        let bytes = std::fs::read(path)?;
        let state = bytes.strip_prefix(&*first_line(key));
        Ok(state
            .and_then(|state| drivelab_drive::Drive::read_state(shared, state).ok())
            .map(|inner| Drive { inner, kept: None }))
    };
    Ok(python.detach(work)?)
}
