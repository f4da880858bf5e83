//! The only mapping from Rust errors to Python exceptions.

use std::fmt::Display;

use drivelab_drive::ModelError as DriveModelError;
use drivelab_image::ImageError;
use drivelab_nbd::Error as ServerError;
use drivelab_workload::WorkloadError as DriveWorkloadError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    _engine,
    ModelError,
    PyValueError,
    "A model or an override that can't be: key, value and what is allowed. `key` is the parameter, `raw_capacity_bytes` \
     what flash there is, if it is less than the host was to have; each None otherwise."
);
create_exception!(
    _engine,
    WorkloadError,
    PyValueError,
    "A job or a trace that can't be run: key, value and what is allowed."
);
create_exception!(
    _engine,
    ImageRequestError,
    PyValueError,
    "An image, an address or an option that can't be used: what it is, and what is allowed."
);
create_exception!(
    _engine,
    ImageWorkError,
    PyException,
    "An image that can't be read, written or served, though nothing was wrong with the request."
);
create_exception!(_engine, Cancelled, PyException, "The run was cancelled through its Progress.");

#[allow(clippy::needless_pass_by_value, reason = "the signature that map_err wants")]
pub fn model(error: DriveModelError) -> PyErr {
    let raised = ModelError::new_err(error.to_string());
    let raw_capacity_bytes = match &error {
        DriveModelError::TooLittleFlash { raw_bytes, .. } => Some(*raw_bytes),
        _ => None,
    };
    let named = Python::attach(|python| {
        let value = raised.value(python);
        value.setattr("key", error.key())?;
        value.setattr("raw_capacity_bytes", raw_capacity_bytes)
    });
    named.err().unwrap_or(raised)
}

pub fn workload(error: DriveWorkloadError) -> PyErr {
    match error {
        DriveWorkloadError::Cancelled => Cancelled::new_err("the run was cancelled"),
        other => WorkloadError::new_err(other.to_string()),
    }
}

/// A request that makes no sense.
pub fn request(error: &impl Display) -> PyErr {
    ImageRequestError::new_err(error.to_string())
}

/// Work that could not be done.
pub fn failed(error: &impl Display) -> PyErr {
    ImageWorkError::new_err(error.to_string())
}

#[allow(clippy::needless_pass_by_value, reason = "the signature that map_err wants")]
pub fn image(error: ImageError) -> PyErr {
    let text = error.to_string();
    match error {
        ImageError::Exists(_)
        | ImageError::NotAnImage { .. }
        | ImageError::Newer { .. }
        | ImageError::Faults { .. }
        | ImageError::Model { .. } => ImageRequestError::new_err(text),
        ImageError::Io { .. }
        | ImageError::Size { .. }
        | ImageError::Damaged { .. }
        | ImageError::InUse { .. }
        | ImageError::NoSpace { .. }
        | ImageError::Refused { .. }
        | ImageError::Defect { .. } => ImageWorkError::new_err(text),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "the signature that map_err wants")]
pub fn server(error: ServerError) -> PyErr {
    let text = error.to_string();
    told_by_server(&error, text)
}

/// An address that can't be had, by the option that it was given with.
pub fn address(option: &str, error: &ServerError) -> PyErr {
    told_by_server(error, format!("{option}: {error}"))
}

fn told_by_server(error: &ServerError, text: String) -> PyErr {
    match error {
        ServerError::Option(_) | ServerError::NotASocket { .. } => ImageRequestError::new_err(text),
        ServerError::InUse { .. } | ServerError::PortInUse { .. } | ServerError::System { .. } => {
            ImageWorkError::new_err(text)
        }
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let python = module.py();
    module.add("ModelError", python.get_type::<ModelError>())?;
    module.add("WorkloadError", python.get_type::<WorkloadError>())?;
    module.add("ImageRequestError", python.get_type::<ImageRequestError>())?;
    module.add("ImageWorkError", python.get_type::<ImageWorkError>())?;
    module.add("Cancelled", python.get_type::<Cancelled>())
}
