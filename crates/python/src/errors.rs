//! The only mapping from Rust errors to Python exceptions.

use drivelab_drive::ModelError as DriveModelError;
use drivelab_workload::WorkloadError as DriveWorkloadError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    _engine,
    ModelError,
    PyValueError,
    "A model or an override that can't be: key, value and what is allowed."
);
create_exception!(
    _engine,
    WorkloadError,
    PyValueError,
    "A job or a trace that can't be run: key, value and what is allowed."
);
create_exception!(_engine, Cancelled, PyException, "The run was cancelled through its Progress.");

#[allow(clippy::needless_pass_by_value, reason = "the signature that map_err wants")]
pub fn model(error: DriveModelError) -> PyErr {
    ModelError::new_err(error.to_string())
}

pub fn workload(error: DriveWorkloadError) -> PyErr {
    match error {
        DriveWorkloadError::Cancelled => Cancelled::new_err("the run was cancelled"),
        other => WorkloadError::new_err(other.to_string()),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let python = module.py();
    module.add("ModelError", python.get_type::<ModelError>())?;
    module.add("WorkloadError", python.get_type::<WorkloadError>())?;
    module.add("Cancelled", python.get_type::<Cancelled>())
}
