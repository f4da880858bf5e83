//! Which of the blocks that a die is writing a page goes to.

use serde::{Deserialize, Serialize};

/// Most write streams of a drive.
pub const STREAMS_MAX: usize = 8;

/// A write stream: every die has an open block for each. Those that the host writes come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream(pub(crate) u8);

impl Stream {
    /// The first stream of the host.
    pub const HOST: Self = Self(0);
    /// The stream of valid pages that cleaning or wear levelling moves, where the host has one stream and they have another.
    pub const CLEANING: Self = Self(1);
    /// The stream of what static wear levelling moves, where that has one of its own.
    pub const LEVELLING: Self = Self(2);

    /// Its place in tables.
    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// How many streams a drive has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamCounts {
    /// Streams that the host writes.
    pub host: u8,
    /// All of them. As many as the host's: what is moved goes to those.
    pub all: u8,
}

impl StreamCounts {
    /// One of the host, and one for what is moved.
    pub const HOST_AND_CLEANING: Self = Self { host: 1, all: 2 };
    /// The same, and one for what static wear levelling moves.
    pub const WITH_LEVELLING: Self = Self { host: 1, all: 3 };

    /// Every stream.
    pub(crate) fn all(self) -> impl Iterator<Item = Stream> {
        (0..self.all).map(Stream)
    }

    /// Streams that the host writes.
    pub(crate) fn host(self) -> impl Iterator<Item = Stream> {
        (0..self.host).map(Stream)
    }

    /// Streams of nothing but what is moved.
    pub(crate) fn moved(self) -> impl Iterator<Item = Stream> {
        (self.host..self.all).map(Stream)
    }
}
