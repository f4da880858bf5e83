//! A drive that outlives its process: what its flash holds and the bytes of its cells, in one sparse file.
//!
//! | part of the file | holds | file of this crate |
//! |---|---|---|
//! | header, 4 KiB | magic, format version, length and checksum of the manifest | `header.rs` |
//! | manifest | model, seed, identity, shapes of the media: what never changes | `manifest.rs` |
//! | state, twice | clean or not, counters: two copies, written in turn | `state.rs` |
//! | media | [`drivelab_nand::medium`], one for each flash drive or disk inside | `store.rs` |
//! | payload | cells of one map unit each, for each medium | `cells.rs` |
//!
//! Parts begin at multiples of 4 KiB. Media and payload are mapped, and stored into as effects are carried out: killing
//! the process between any two stores is a power cut. What a cut of the machine's own power leaves is only certain for
//! what was synchronised before ([`Image::sync`]).

mod cells;
mod content;
mod drive;
mod error;
mod file;
pub mod fuzz;
mod header;
mod image;
mod kept_flash;
mod lifetime;
mod lock;
mod manifest;
mod mapping;
mod room;
mod state;
mod store;
mod store_error;
pub mod upkeep;

pub use cells::Cells;
pub use drive::{ImageDrive, NoCommands};
pub use error::ImageError;
pub use image::{Access, Image};
pub use kept_flash::{Cut, KeptFlash, Recovery};
pub use manifest::{FORMAT_VERSION, Identity, Manifest, ModelTexts};
pub use room::{FileRoom, NoRoom, Room, Unlimited};
pub use state::State;
pub use store::{HostData, Store};
pub use store_error::StoreError;
