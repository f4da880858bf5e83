//! A whole drive from a model file.

pub mod build;
pub mod drive;
pub mod error;
pub mod model;
pub mod parameters;
pub mod partition;
pub mod raid0;

pub use drive::{Drive, ENGINE_VERSION};
pub use error::ModelError;
pub use model::{Model, Sourced};
pub use partition::Partition;
pub use raid0::{Raid0, Raid0Config, Raid0Meters};
