//! What a drive has towards its host.

pub(crate) mod account;
pub(crate) mod governor;
pub(crate) mod link;
pub(crate) mod queue;
pub(crate) mod read_ahead;
pub(crate) mod submission;
