//! Blocks to be drawn, and the pages of one.

use drivelab_controller::Device;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::columns;
use crate::drive::Drive;
use crate::errors;

/// Every block of a drive as it was drawn last.
#[pyclass(module = "drivelab._engine")]
pub struct Tiles {
    inner: drivelab_drive::Tiles,
}

#[pymethods]
impl Tiles {
    /// Nothing is drawn yet.
    #[new]
    fn new() -> Self {
        Self { inner: drivelab_drive::Tiles::default() }
    }

    /// What has changed since the last call: how many blocks, whether these are all, of how many others only the valid
    /// share, the sequence number of the next program of each member, how long each die has worked in ns, and columns one
    /// after the other. Releases the GIL.
    fn changes<'py>(
        &mut self,
        python: Python<'py>,
        drive: &Drive,
    ) -> (usize, bool, usize, Vec<u64>, Vec<u64>, Bound<'py, PyBytes>) {
        let (inner, engine) = (&mut self.inner, drive.inner.engine());
        let changes = python.detach(|| inner.changes(engine));
        let bytes = PyBytes::new(python, &changes.bytes);
        let (count, is_whole, valid_count) = (changes.count, changes.is_whole, changes.valid_count);
        (count, is_whole, valid_count, changes.next_sequences, changes.worked_ns, bytes)
    }

    /// The next call gives all blocks.
    fn forget(&mut self) {
        self.inner.forget();
    }
}

/// The pages of a block of a die of an array's member (0 of a single drive).
#[pyfunction]
pub fn block_pages<'py>(
    python: Python<'py>,
    drive: &Drive,
    member: u32,
    die: u32,
    block: u32,
) -> PyResult<Bound<'py, PyDict>> {
    match drive.inner.engine().block_pages(member, die, block) {
        Some(pages) => columns::pages(python, pages),
        None => Err(errors::WorkloadError::new_err(format!(
            "member = {member}, die = {die}, block = {block}: the drive has no such block"
        ))),
    }
}

/// Where every unit lies and what it takes, of a drive that compresses: for drives of a few pages.
#[pyfunction]
pub fn unit_pieces<'py>(python: Python<'py>, drive: &Drive) -> PyResult<Bound<'py, PyDict>> {
    columns::pieces(python, drive.inner.engine().unit_pieces())
}

/// Commands inside the controller, and those that wait in each of its submission queues, if it has several.
#[pyfunction]
pub fn queue_lengths(drive: &Drive) -> (u32, Vec<u32>) {
    let waiting = drive.inner.queue_lengths();
    let inside = drive.inner.engine().outstanding() - waiting.iter().sum::<u32>();
    (inside, waiting)
}
