//! The page map: every map unit of the host may lie anywhere in flash.
//!
//! `map` has the state and what changes it, `mapping` and `log` what a drive asks of it, `cleaning` moves and erases,
//! `mount` finds everything again, `check` recounts.

mod check;
mod cleaning;
mod failing;
mod log;
mod map;
mod mapping;
mod mount;
mod placing;

pub use map::PageMap;
