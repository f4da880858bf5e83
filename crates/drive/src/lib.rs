//! A whole drive from a model file.

pub mod build;
pub mod drive;
pub mod error;
pub mod model;
pub mod parameters;

pub use drive::{Drive, ENGINE_VERSION};
pub use error::ModelError;
pub use model::{Model, Sourced};
