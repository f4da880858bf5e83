//! When things happen: host link, firmware, write buffer, scheduling over channels and dies, energy.

pub mod command;

pub use command::{Command, CommandError, Completion, Device, LatencySplit, Op, SECTOR_BYTES};
