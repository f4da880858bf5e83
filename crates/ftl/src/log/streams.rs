//! Which of the blocks that a die is writing a page goes to.

/// Which open block of a die a page goes to. Host and cleaning writes are kept apart: data that survived a
/// cleaning is colder than fresh data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Data from the host.
    Host,
    /// Valid pages that cleaning or wear levelling moves.
    Cleaning,
}

/// How many there are.
pub(crate) const STREAMS: usize = 2;
