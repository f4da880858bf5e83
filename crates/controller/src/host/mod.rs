//! What a drive has towards its host.

pub(crate) mod governor;
pub(crate) mod queue;
pub(crate) mod read_ahead;
