//! A whole drive from a model file.

pub mod build;
pub mod drive;
mod durable;
pub mod engine;
pub mod error;
pub mod faults;
mod flash_report;
pub mod gauges;
pub mod hard_disk;
pub mod inside;
pub mod model;
pub mod parameters;
pub mod partition;
pub mod raid0;
mod raid0_report;
pub mod scale;
pub mod state;
mod tile_marks;
pub mod tiles;
pub mod timeline;

pub use drive::{Drive, ENGINE_VERSION};
pub use engine::{Array, Engine};
pub use error::ModelError;
pub use gauges::{FlashGauges, Gauges};
pub use hard_disk::{HardDisk, HardDiskConfig};
pub use inside::Inside;
pub use model::{Layer, Model, Sourced};
pub use parameters::Family;
pub use partition::Partition;
pub use raid0::{Raid0, Raid0Config, Raid0Meters};
pub use state::StateError;
pub use tiles::{PageColumns, PieceColumns, TileChanges, Tiles};
pub use timeline::TimelineColumns;
