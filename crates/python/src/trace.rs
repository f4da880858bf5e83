//! Recorded traces.

use std::path::PathBuf;
use std::sync::Arc;

use drivelab_workload::{ArrivalEvent, Beyond, Format, ReadOptions, TimeUnit};
use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::errors;
use crate::progress::Progress;

/// Requests of a recorded trace, arrival rebased to the first.
#[pyclass(frozen, module = "drivelab._engine")]
pub struct Trace {
    inner: drivelab_workload::Trace,
}

#[pymethods]
impl Trace {
    /// Name of the format.
    #[getter]
    fn format(&self) -> &'static str {
        self.inner.format.name()
    }

    /// 0 read, 1 write, 2 flush, 3 trim.
    #[getter]
    fn op<'py>(&self, python: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        self.inner.op.to_pyarray(python)
    }

    /// First sectors.
    #[getter]
    fn lba<'py>(&self, python: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.inner.lba.to_pyarray(python)
    }

    /// Numbers of sectors.
    #[getter]
    fn sector_count<'py>(&self, python: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.inner.sector_count.to_pyarray(python)
    }

    /// Arrival times in ns.
    #[getter]
    fn arrival_ns<'py>(&self, python: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.inner.arrival_ns.to_pyarray(python)
    }

    /// Names of the devices in the trace.
    #[getter]
    fn device_names(&self) -> Vec<String> {
        self.inner.device_names.clone()
    }

    /// Response times of the recorded drive in ns; 2^64 - 1 where the trace doesn't tell.
    #[getter]
    fn response_ns<'py>(&self, python: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.inner.response_ns.to_pyarray(python)
    }

    /// Requests that the file has after a later one.
    #[getter]
    fn reordered_count(&self) -> u64 {
        self.inner.reordered_count
    }

    /// Requests that were left out: without a response, or without data.
    #[getter]
    fn dropped_count(&self) -> u64 {
        self.inner.dropped_count
    }

    /// Makes the trace fit a drive: `beyond` is reject, modulo or compact. Raises `WorkloadError`.
    fn fit(&self, capacity_bytes: u64, beyond: &str) -> PyResult<Self> {
        let beyond = Beyond::from_name(beyond).map_err(errors::workload)?;
        let inner = self.inner.clone().fit(capacity_bytes / 512, beyond).map_err(errors::workload)?;
        Ok(Self { inner })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }
}

/// Names of all formats.
#[pyfunction]
pub fn trace_formats() -> Vec<&'static str> {
    Format::ALL.iter().map(|format| format.name()).collect()
}

/// Reads a trace file, plain or compressed by gzip. Releases the GIL. Raises `WorkloadError` and `Cancelled`.
///
/// - `format`: None to guess.
/// - `time_unit`: ps, ns, us, ms or s; `MQSim`'s format only.
/// - `arrival_event`: Q or D; blkparse only.
/// - `device`: only the requests of this one.
#[pyfunction]
#[pyo3(signature = (path, format=None, time_unit=None, arrival_event=None, device=None, progress=None))]
#[allow(clippy::needless_pass_by_value, reason = "as Python hands it over")]
pub fn read_trace(
    python: Python<'_>,
    path: PathBuf,
    format: Option<&str>,
    time_unit: Option<&str>,
    arrival_event: Option<&str>,
    device: Option<String>,
    progress: Option<&Progress>,
) -> PyResult<Trace> {
    let options = ReadOptions {
        format: format.map(Format::from_name).transpose().map_err(errors::workload)?,
        time_unit: time_unit.map(TimeUnit::from_name).transpose().map_err(errors::workload)?,
        arrival_event: arrival_event.map(ArrivalEvent::from_name).transpose().map_err(errors::workload)?,
        device,
    };
    let shared = progress.map_or_else(Arc::default, |progress| Arc::clone(&progress.shared));
    let read = || drivelab_workload::read_trace(&path, &options, &shared);
    Ok(Trace { inner: python.detach(read).map_err(errors::workload)? })
}
