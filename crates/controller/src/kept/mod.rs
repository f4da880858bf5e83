//! What a drive needs that is kept beyond a run: bytes of the host, effects on flash, power cuts, failing flash.

pub(crate) mod cells;
pub(crate) mod durable;
pub mod effects;
pub mod faults;
pub(crate) mod power_cycle;
pub(crate) mod shape;
