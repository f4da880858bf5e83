//! What a placement policy is.

use std::ops::Range;

use drivelab_nand::{BlockIndex, Lpn};

use super::streams::{Stream, StreamCounts};

/// What policies are made from; each takes what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacementSettings {
    /// Map units that the host can address.
    pub user_units: u32,
    /// Blocks of the drive.
    pub blocks: u32,
    /// Writes after which hot-cold takes a unit for hot.
    pub hot_writes: u8,
    /// Hints of the host that have a stream of their own.
    pub hint_streams: u8,
}

/// A policy with its state, which a power cut empties: blocks that it has not heard of may be of any stream then.
pub(super) trait PlacementPolicy {
    /// Whether it looks at hints of the host.
    const TAKES_HINTS: bool = false;

    /// Its streams, at most [`STREAMS_MAX`](super::streams::STREAMS_MAX) in all.
    fn streams(settings: &PlacementSettings) -> StreamCounts;

    /// The policy of an erased drive.
    fn new(settings: &PlacementSettings) -> Self;

    /// The host begins to write these units, with this hint; 0: it says nothing. They may lie in the write buffer for a
    /// while.
    #[inline]
    fn hinted(&mut self, units: Range<u32>, hint: u8) {
        let _ = (units, hint);
    }

    /// The stream of a page that the host writes now.
    #[inline]
    fn host_stream(&mut self, units: &[Lpn]) -> Stream {
        let _ = units;
        Stream::HOST
    }

    /// The stream of a page of copies out of a block. Asked again if the page can't be programmed there.
    fn copy_stream(&mut self, victim: BlockIndex, units: &[Lpn]) -> Stream;

    /// The first page of a block is programmed, for a stream.
    #[inline]
    fn opened(&mut self, block: BlockIndex, stream: Stream) {
        let _ = (block, stream);
    }

    /// A block was emptied, and is erased now.
    #[inline]
    fn emptied(&mut self, block: BlockIndex) {
        let _ = block;
    }
}

/// The class that most of a page's units have, the first among equals; `CLASSES` is their count.
pub(super) fn most<const CLASSES: usize>(units: &[Lpn], class_of: impl Fn(Lpn) -> u8) -> u8 {
    let mut counts = [0u32; CLASSES];
    for &lpn in units {
        counts[usize::from(class_of(lpn))] += 1;
    }
    let largest = counts.iter().max().copied().unwrap_or(0);
    counts.iter().position(|&count| count == largest).unwrap_or(0) as u8
}
