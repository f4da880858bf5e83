//! A flash array: geometry, timing, block and page state; refuses what flash cannot do.

pub mod array;
pub mod cell_mode;
pub mod geometry;
pub mod medium;
pub mod op;
pub mod timing;
pub mod view;

pub use array::{FlashArray, FlashRule};
pub use cell_mode::CellMode;
pub use geometry::{BlockIndex, DieIndex, Geometry, GeometryError, Lpn, Ppn, SECTOR_BYTES, UnitLayout};
pub use medium::{Medium, MediumError, MediumShape};
pub use timing::FlashTiming;
