//! The few numbers of a drive that are read often, as while a run draws them over time.

use drivelab_controller::{Scheduled, SolidStateDrive};
use drivelab_sim::Nanos;

use crate::by_kind;
use crate::engine::Engine;
use crate::flash_report::{slc_page_bytes, slc_programs};

/// Cumulative numbers of a drive, and how many blocks are free. Of an array: what the host has written to it, and its members' flash together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Bytes that the host has written.
    pub host_write_bytes: u64,
    /// Of the flash; `None` of a hard disk.
    pub flash: Option<FlashGauges>,
}

/// What [`Gauges`] says of the flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashGauges {
    /// Bytes programmed for any purpose, in whole pages.
    pub program_bytes: u64,
    /// Blocks of all dies that are free.
    pub free_blocks: u64,
    /// Time of all dies that cleaning and wear levelling have reserved, since power came or all was erased.
    pub cleaning_ns: Nanos,
    /// Dies that work on their own.
    pub die_count: u32,
}

impl Gauges {
    /// Of a drive as it is now.
    #[must_use]
    pub fn of(engine: &Engine) -> Self {
        by_kind!(engine,
        flash => Self::of_flash(flash),
        disk => Self { host_write_bytes: disk.meters().host.host_write_bytes, flash: None },
        array => Self {
            host_write_bytes: array.meters().host.host_write_bytes,
            flash: array.members().filter_map(|member| Self::of(member.device()).flash).reduce(FlashGauges::with),
        })
    }

    fn of_flash<M: Scheduled>(drive: &SolidStateDrive<M>) -> Self {
        let ftl = drive.mapping();
        let (counts, layout) = (ftl.counters(), ftl.layout());
        let program_bytes = u64::from(layout.geometry.program_bytes()) * u64::from(layout.pages_per_unit);
        let (host, map) = slc_programs(drive);
        Self {
            host_write_bytes: drive.meters().host.host_write_bytes,
            flash: Some(FlashGauges {
                program_bytes: counts.programs() * program_bytes
                    - (host + map) * (program_bytes - slc_page_bytes(drive)),
                free_blocks: ftl.free_blocks(),
                cleaning_ns: drive.cleaning_ns(),
                die_count: layout.geometry.die_count(),
            }),
        }
    }
}

impl FlashGauges {
    fn with(self, other: Self) -> Self {
        Self {
            program_bytes: self.program_bytes + other.program_bytes,
            free_blocks: self.free_blocks + other.free_blocks,
            cleaning_ns: self.cleaning_ns + other.cleaning_ns,
            die_count: self.die_count + other.die_count,
        }
    }
}
