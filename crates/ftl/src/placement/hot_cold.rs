//! Hot and cold by counted updates: a unit that was written `ftl.hot_writes` times lately is hot. Hot and cold have a stream
//! each of what the host writes, and of what is moved.
//!
//! Counts are halved whenever the host has written as many units as it can address (REFERENCES.md, \[HOT\], with a counter
//! for each unit instead of a few hashed ones). So a unit that is written x times as often as the mean counts between x and
//! 2 x.

use drivelab_nand::{BlockIndex, Lpn};
use serde::{Deserialize, Serialize};

use super::policy::{PlacementPolicy, PlacementSettings, most};
use super::streams::{Stream, StreamCounts};

/// The most that a counter of 4 bits holds.
pub const HOT_WRITES_MAX: u8 = 15;

const STREAMS: StreamCounts = StreamCounts { host: 2, all: 4 };

/// Writes of every unit, halved now and then.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HotCold {
    writes: Vec<u8>,
    hot_writes: u8,
    /// Units written since counts were halved.
    written: usize,
}

impl HotCold {
    /// 0: hot; 1: cold.
    fn class_of(&self, units: &[Lpn]) -> u8 {
        most::<2>(units, |lpn| u8::from(self.writes[lpn.0 as usize] < self.hot_writes))
    }
}

impl PlacementPolicy for HotCold {
    fn streams(_settings: &PlacementSettings) -> StreamCounts {
        STREAMS
    }

    fn new(settings: &PlacementSettings) -> Self {
        let writes = vec![0; settings.user_units as usize];
        Self { writes, hot_writes: settings.hot_writes, written: 0 }
    }

    fn host_stream(&mut self, units: &[Lpn]) -> Stream {
        let class = self.class_of(units);
        for lpn in units {
            let writes = &mut self.writes[lpn.0 as usize];
            *writes = (*writes + 1).min(HOT_WRITES_MAX);
        }
        self.written += units.len();
        if self.written >= self.writes.len() {
            self.written = 0;
            self.writes.iter_mut().for_each(|writes| *writes /= 2);
        }
        Stream(class)
    }

    fn copy_stream(&mut self, _victim: BlockIndex, units: &[Lpn]) -> Stream {
        Stream(STREAMS.host + self.class_of(units))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_hot_while_it_is_written_often_and_cold_again_when_it_no_longer_is() {
        let settings = PlacementSettings { user_units: 100, blocks: 1, hot_writes: 4, hint_streams: 1 };
        let mut policy = HotCold::new(&settings);
        let writes: Vec<u8> = (0..6).map(|_| policy.host_stream(&[Lpn(7)]).0).collect();
        assert_eq!(writes, [1, 1, 1, 1, 0, 0]);
        let copy = |policy: &mut HotCold, unit| policy.copy_stream(BlockIndex(0), &[Lpn(unit)]).0;
        assert_eq!([copy(&mut policy, 7), copy(&mut policy, 8)], [2, 3]);
        // Six writes, halved once: three.
        (0..94).for_each(|unit| _ = policy.host_stream(&[Lpn(unit % 5)]));
        assert_eq!(copy(&mut policy, 7), 3);
    }
}
