//! Which block to clean next. One file per policy; all see the same view of one die.
//!
//! To add one: a file with a function `pick(&View, ...) -> Option<u32>`, a variant and a line in `selection.rs`.

mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod selection;
mod view;

pub use selection::VictimSelection;
pub(crate) use selection::pick;
pub use view::{NOT_CLOSED, View};
