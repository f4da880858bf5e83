//! One stream for everything: what is moved comes to lie between fresh data. Closed formulas know only this.

use drivelab_nand::{BlockIndex, Lpn};
use serde::{Deserialize, Serialize};

use super::policy::{PlacementPolicy, PlacementSettings};
use super::streams::{Stream, StreamCounts};

/// It remembers nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OneStream;

impl PlacementPolicy for OneStream {
    fn streams(_settings: &PlacementSettings) -> StreamCounts {
        StreamCounts { host: 1, all: 1 }
    }

    fn new(_settings: &PlacementSettings) -> Self {
        Self
    }

    #[inline]
    fn copy_stream(&mut self, _victim: BlockIndex, _units: &[Lpn]) -> Stream {
        Stream::HOST
    }
}
