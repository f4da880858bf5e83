//! The page map: every map unit of the host may lie anywhere in flash.
//!
//! `map` has the state and what changes it, `mapping` and `log` what a drive asks of it, `cleaning` moves and erases,
//! `mount` finds everything again, `check` recounts. Where the map itself is, in memory or in flash, is a type
//! (`memory`, `demand_loaded`).

mod check;
mod cleaning;
mod demand_loaded;
mod failing;
mod line_cache;
mod log;
mod map;
mod mapping;
mod memory;
mod mount;
mod placing;

pub use demand_loaded::{DemandLoaded, MapCacheConfig, MapUses};
pub use map::PageMap;
pub use memory::{MapMemory, WholeMap};
