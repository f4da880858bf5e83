//! What gives dies their work: one back end for schemes that write logs, one for those that merge.

pub(crate) mod log;
mod merging;
