//! One stream for the host and one for what is moved: data that survived a cleaning is colder than fresh data.

use drivelab_nand::{BlockIndex, Lpn};
use serde::{Deserialize, Serialize};

use super::policy::{PlacementPolicy, PlacementSettings};
use super::streams::{Stream, StreamCounts};

/// It remembers nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HostAndCleaning;

impl PlacementPolicy for HostAndCleaning {
    fn streams(_settings: &PlacementSettings) -> StreamCounts {
        StreamCounts::HOST_AND_CLEANING
    }

    fn new(_settings: &PlacementSettings) -> Self {
        Self
    }

    #[inline]
    fn copy_stream(&mut self, _victim: BlockIndex, _units: &[Lpn]) -> Stream {
        Stream::CLEANING
    }
}
