//! Recorded traces.

use std::path::Path;

use drivelab_workload::{Beyond, Format};
use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::errors;

/// Requests of a recorded trace, arrival rebased to the first.
#[pyclass(frozen, module = "drivelab._engine")]
pub struct Trace {
    inner: drivelab_workload::Trace,
}

#[pymethods]
impl Trace {
    /// Name of the format: mqsim, msr or iolog.
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

    /// Only the requests of one device. Raises `WorkloadError` listing the devices if there is none of that name.
    fn select(&self, device: &str) -> PyResult<Self> {
        Ok(Self { inner: self.inner.select(device).map_err(errors::workload)? })
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

/// Reads a trace file; `format` mqsim, msr, iolog or None to guess. Raises `WorkloadError`.
#[pyfunction]
#[pyo3(signature = (path, format=None))]
pub fn read_trace(python: Python<'_>, path: &str, format: Option<&str>) -> PyResult<Trace> {
    let format = format.map(Format::from_name).transpose().map_err(errors::workload)?;
    let inner =
        python.detach(|| drivelab_workload::read_trace(Path::new(path), format)).map_err(errors::workload)?;
    Ok(Trace { inner })
}
