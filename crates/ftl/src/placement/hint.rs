//! By what the host says: a hint comes with a write, and names the stream of its units (as the placement identifiers of `NVMe` and
//! the lifetime hints of Linux do; REFERENCES.md, \[FDP\]). What is moved stays in the stream of the last hint that its
//! unit came with, as in persistently isolated reclaim units.
//!
//! Hints beyond `ftl.hint_streams` count as none, which is hint 0.

use std::ops::Range;

use drivelab_nand::{BlockIndex, Lpn};
use serde::{Deserialize, Serialize};

use super::policy::{PlacementPolicy, PlacementSettings, most};
use super::streams::{STREAMS_MAX, Stream, StreamCounts};

/// The last hint of every unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hint {
    hints: Vec<u8>,
    streams: u8,
}

impl Hint {
    fn stream_of(&self, units: &[Lpn]) -> Stream {
        Stream(most::<STREAMS_MAX>(units, |lpn| self.hints[lpn.0 as usize]))
    }
}

impl PlacementPolicy for Hint {
    const TAKES_HINTS: bool = true;

    fn streams(settings: &PlacementSettings) -> StreamCounts {
        StreamCounts { host: settings.hint_streams, all: settings.hint_streams }
    }

    fn new(settings: &PlacementSettings) -> Self {
        Self { hints: vec![0; settings.user_units as usize], streams: settings.hint_streams }
    }

    fn hinted(&mut self, units: Range<u32>, hint: u8) {
        let hint = if hint < self.streams { hint } else { 0 };
        self.hints[units.start as usize..units.end as usize].fill(hint);
    }

    fn host_stream(&mut self, units: &[Lpn]) -> Stream {
        self.stream_of(units)
    }

    fn copy_stream(&mut self, _victim: BlockIndex, units: &[Lpn]) -> Stream {
        self.stream_of(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_stays_in_the_stream_that_the_host_last_named() {
        let settings = PlacementSettings { user_units: 10, blocks: 1, hot_writes: 4, hint_streams: 3 };
        let mut policy = Hint::new(&settings);
        let mut write = |hint| {
            policy.hinted(3..5, hint);
            let host = policy.host_stream(&[Lpn(4)]);
            let copies = policy.copy_stream(BlockIndex(0), &[Lpn(4)]);
            assert_eq!(host, copies);
            host.0
        };
        assert_eq!([2, 1, 3, 2, 0].map(&mut write), [2, 1, 0, 2, 0]);
    }
}
