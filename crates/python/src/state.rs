//! States of drives in files: a line that says whose, the engine's bytes, and a sum over both.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use crate::drive::Drive;
use crate::errors;
use crate::model::Model;

/// Bytes of the sum at the end.
const SUM_BYTES: usize = size_of::<u128>();

/// Passes on what is written, and sums it up.
struct Summed<W> {
    inner: W,
    sum: Xxh3Default,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn first_line(key: &str) -> Vec<u8> {
    format!("drivelab state {key}\n").into_bytes()
}

/// Writes the state of a drive to a new file, for [`read_state`] of the same key.
#[pyfunction]
pub fn write_state(python: Python<'_>, drive: &Drive, path: PathBuf, key: &str) -> PyResult<()> {
    if drive.kept.is_some() {
        return Err(errors::request(&"a drive whose power can be cut has its state in its image"));
    }
    let work = || -> io::Result<()> {
        let mut out = Summed { inner: BufWriter::new(File::create(path)?), sum: Xxh3Default::new() };
        out.write_all(&first_line(key))?;
        drive.inner.write_state(&mut out)?;
        let sum = out.sum.digest128();
        out.inner.write_all(&sum.to_le_bytes())?;
        out.inner.flush()
    };
    Ok(python.detach(work)?)
}

/// The drive of a model that [`write_state`] wrote under a key; `None` for whatever else the file holds.
#[pyfunction]
pub fn read_state(python: Python<'_>, model: &Model, path: PathBuf, key: &str) -> PyResult<Option<Drive>> {
    let shared = Arc::clone(&model.shared);
    let work = || -> io::Result<Option<Drive>> {
        let bytes = std::fs::read(path)?;
        Ok(state_in(&bytes, key)
            .and_then(|state| drivelab_drive::Drive::read_state(shared, state).ok())
            .map(|inner| Drive { inner, kept: None }))
    };
    Ok(python.detach(work)?)
}

/// The engine's bytes in a file that is whole and of this key.
fn state_in<'a>(bytes: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let (content, sum) = bytes.split_last_chunk::<SUM_BYTES>()?;
    (xxh3_128(content) == u128::from_le_bytes(*sum)).then_some(())?;
    content.strip_prefix(&*first_line(key))
}
