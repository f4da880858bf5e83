//! Requests of a job that are known before they are issued.

use crate::generator::Request;

/// Requests known ahead of being issued, so that the drive's map entries are in the cache by then.
/// A few hundred nanoseconds of work lie between; more would only push other things out of the cache.
pub(super) const AHEAD: usize = 8;

/// Requests known ahead: a ring.
pub(super) struct Ahead {
    /// Of no meaning from the `known`-th on.
    requests: [Request; AHEAD],
    /// The one to be issued next.
    head: usize,
    /// Fewer than `AHEAD` only before the job has started, and when the source has ended.
    known: usize,
}

impl Ahead {
    pub(super) fn new() -> Self {
        Self { requests: [Request::flush(); AHEAD], head: 0, known: 0 }
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&Request> {
        if self.known > 0 { Some(&self.requests[self.head]) } else { None }
    }

    /// The first one is issued.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.head = (self.head + 1) % AHEAD;
        self.known -= 1;
    }

    /// Behind all others, of which there are fewer than `AHEAD`.
    #[inline]
    pub(super) fn push(&mut self, request: Request) {
        self.requests[(self.head + self.known) % AHEAD] = request;
        self.known += 1;
    }
}
