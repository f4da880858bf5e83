//! What the dies of a drive did when.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns;
use crate::drive::Drive;

/// Notes from now on what dies and buses do: what begins from `from_ns` on and before `until_ns`, the first `most` of
/// each member of an array.
#[pyfunction]
pub fn record_timeline(drive: &mut Drive, from_ns: u64, until_ns: u64, most: usize) {
    drive.inner.record_timeline(from_ns, until_ns, most);
}

/// Columns of what has been noted, and how many operations found no room; nothing is noted from now on.
#[pyfunction]
pub fn take_timeline<'py>(python: Python<'py>, drive: &mut Drive) -> PyResult<(Bound<'py, PyDict>, u64)> {
    let timeline = drive.inner.take_timeline();
    let left_out = timeline.left_out;
    Ok((columns::timeline(python, timeline)?, left_out))
}
