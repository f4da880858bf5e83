//! How long flash takes.

use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

/// Times of the flash operations and of the bus of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashTiming {
    /// tR: array to page register.
    pub read_ns: Nanos,
    /// tPROG of fast (LSB) pages; equal to `program_slow_ns` where the model knows only the average.
    pub program_fast_ns: Nanos,
    /// tPROG of slow (MSB) pages.
    pub program_slow_ns: Nanos,
    /// tBERS.
    pub erase_ns: Nanos,
    /// Command, address and status cycles of one operation on the bus.
    pub command_ns: Nanos,
    /// Error correction of a page that was read, while its channel moves nothing else.
    pub decode_ns: Nanos,
    /// Data rate of a channel's bus, bytes per second.
    pub bus_bytes_per_s: u64,
    /// Byte-wide buses that act as one: each carries its share of the bytes. 1: an ordinary channel.
    pub lockstep_channels: u32,
    /// The channel is held while a die senses a page: reads of the dies of one channel do not overlap.
    pub hold_bus_while_reading: bool,
}

impl FlashTiming {
    /// tPROG of a page: even pages of a block are fast, odd ones slow. (Real parts shift the pairs by a few
    /// pages; the mix is the same.)
    #[inline]
    #[must_use]
    pub fn program_ns(&self, page: u32) -> Nanos {
        if page & 1 == 0 { self.program_fast_ns } else { self.program_slow_ns }
    }

    /// Bus time of one operation that moves `bytes` (data and out-of-band), with its command cycles.
    #[must_use]
    pub fn bus_ns(&self, bytes: u64) -> Nanos {
        let share = bytes.div_ceil(u64::from(self.lockstep_channels));
        self.command_ns + drivelab_sim::time::transfer_ns(share, self.bus_bytes_per_s)
    }
}
