//! What the controller did: bytes by purpose, busy times, energy.

use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use crate::command::{Command, Op, SECTOR_BYTES};
use crate::config::PowerConfig;

/// Commands of the host that are done, and their bytes; cumulative since the drive was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostMeters {
    /// Bytes of reads.
    pub host_read_bytes: u64,
    /// Bytes of writes.
    pub host_write_bytes: u64,
    /// Bytes of trims, whether they have an effect or not.
    pub host_trim_bytes: u64,
    /// Reads.
    pub host_read_commands: u64,
    /// Writes.
    pub host_write_commands: u64,
    /// Flushes.
    pub host_flush_commands: u64,
    /// Trims.
    pub host_trim_commands: u64,
}

impl HostMeters {
    /// Counts a command that is done, of which so many sectors were not refused. One of which all were was none, and one
    /// that is inside when the power fails isn't done.
    #[inline]
    pub fn count(&mut self, command: &Command, sectors: u32) {
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        let commands = u64::from(sectors > 0);
        match command.op {
            Op::Read => {
                self.host_read_commands += commands;
                self.host_read_bytes += bytes;
            }
            Op::Write => {
                self.host_write_commands += commands;
                self.host_write_bytes += bytes;
            }
            Op::Trim => {
                self.host_trim_commands += commands;
                self.host_trim_bytes += bytes;
            }
            Op::Flush => self.host_flush_commands += 1,
        }
    }
}

/// Cumulative since the drive was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meters {
    /// Commands of the host.
    pub host: HostMeters,
    /// Bytes of host reads that came from flash.
    pub read_bytes_host: u64,
    /// Bytes read from flash to complete partial writes.
    pub read_bytes_rmw: u64,
    /// Bytes of the map itself that had to be read from flash, for host reads or for changes.
    pub read_bytes_map: u64,
    /// Bytes read from flash by cleaning.
    pub read_bytes_cleaning: u64,
    /// Bytes read from the SLC cache to be moved out of it.
    pub read_bytes_folding: u64,
    /// Bytes read from flash by wear levelling.
    pub read_bytes_wear: u64,
    /// Bytes of host reads that hit nothing mapped and read as zeros.
    pub zero_read_bytes: u64,
    /// Bytes of host reads that came from the write buffer.
    pub buffer_hit_bytes: u64,
    /// Bytes of host writes that replaced data still in the write buffer.
    pub coalesced_bytes: u64,
    /// Bytes of host writes that were trimmed while they waited in the write buffer.
    pub buffer_trimmed_bytes: u64,
    /// Map units of host writes that covered only part of a mapped unit and needed a read first.
    pub units_rmw: u64,
    /// Dies sensing.
    pub sense_busy_ns: Nanos,
    /// Dies programming.
    pub program_busy_ns: Nanos,
    /// Dies erasing.
    pub erase_busy_ns: Nanos,
    /// Channels' buses moving commands and data.
    pub bus_busy_ns: Nanos,
    /// Host link; of one with two ways, the one that is used more.
    pub link_busy_ns: Nanos,
    /// Firmware.
    pub firmware_busy_ns: Nanos,
    /// At least one command inside, up to the last time that there was none.
    pub active_ns: Nanos,
}

impl Meters {
    /// Energy in nJ after `elapsed_ns`: every busy time times its power, and the idle power all the time.
    #[must_use]
    pub fn energy_nj(&self, elapsed_ns: Nanos, power: &PowerConfig) -> u64 {
        energy_nj(&[
            (elapsed_ns, power.idle_mw),
            (self.active_ns, power.active_mw),
            (self.firmware_busy_ns, power.firmware_mw),
            (self.link_busy_ns, power.link_mw),
            (self.bus_busy_ns, power.bus_mw),
            (self.sense_busy_ns, power.read_mw),
            (self.program_busy_ns, power.program_mw),
            (self.erase_busy_ns, power.erase_mw),
        ])
    }
}

/// Energy in nJ of things that were busy for so long (ns) at so much power (mW).
#[must_use]
pub fn energy_nj(parts: &[(Nanos, u32)]) -> u64 {
    // 1 mW for 1 ns is 1 pJ.
    let picojoules: u128 = parts.iter().map(|&(ns, mw)| u128::from(ns) * u128::from(mw)).sum();
    u64::try_from(picojoules / 1000).unwrap_or(u64::MAX)
}
