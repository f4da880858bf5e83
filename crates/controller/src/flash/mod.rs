//! Flash in time: dies, the channels that lead to them, and the way that data of all channels goes to the link.
//!
//! It knows no mapping scheme and no command: it is told which die does what from when on, and says when that is done.

mod calendar;
mod dies;
mod held_lines;
mod operations;
mod others;
mod passes;
mod programs;
mod reads;
mod recording;
mod slc;
#[cfg(test)]
mod tests;
mod wait;
mod while_host_waits;
mod word_lines;

use drivelab_nand::{DieIndex, FlashTiming, Ppn, UnitLayout};
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use crate::command::SECTOR_BYTES;
use crate::config::WordLineConfig;
use calendar::Calendar;
use dies::Dies;
use operations::{Operations, Place};
use others::Others;

pub(crate) use dies::BusyTime;
pub use dies::DieWork;
pub use recording::{Recording, Stretch, Work};
pub(crate) use wait::FlashWait;

/// For how long parts of flash have worked since the drive was made.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WorkTime {
    /// Dies sensing.
    pub sense_ns: Nanos,
    /// Dies programming.
    pub program_ns: Nanos,
    /// Dies erasing.
    pub erase_ns: Nanos,
    /// Channels' buses moving commands and data.
    pub bus_ns: Nanos,
}

/// What a die is asked to read: so many pages one after another, and of them so many bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sensing {
    pub die: DieIndex,
    pub pages: u64,
    pub bytes: u64,
    /// Which pages of the word line, where a drive tells them apart: a bit for each, plane by plane, the lower pages
    /// first; 0: lower pages, whichever.
    pub mask: u64,
    /// For cleaning, or for wear levelling.
    pub is_cleaning: bool,
}

/// Dies and buses, and what they are reserved for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Flash {
    layout: UnitLayout,
    timing: FlashTiming,
    /// What all channels together pass on; 0: whatever comes.
    read_path_bytes_per_s: u64,
    /// What all channels together are sent to program; 0: whatever comes.
    write_path_bytes_per_s: u64,
    /// Bus time of one whole page, in and out.
    page_bus_ns: Nanos,
    /// What most reads ask for, a unit on one page, in bytes, and its bus time.
    usual: (u64, Nanos),
    dies: Dies,
    channels: Vec<Calendar>,
    read_path: Calendar,
    write_path: Calendar,
    work: WorkTime,
    others: Others,
    /// What was done when, if somebody wants to look at it.
    recording: Option<Box<Recording>>,
    /// Whether reads are more than sensing and a transfer: a bus that is held meanwhile, a recording. One question for
    /// both, so that drives that do neither answer no other.
    careful: bool,
    /// What reads may come in front of, where word lines are told apart.
    operations: Option<Box<Operations>>,
    /// Pages of a unit; 0 while a recording is made, operations are told apart or channels share a way for what they
    /// program, which programs find out where they would begin with the first.
    plain_pages: u32,
}

impl Flash {
    /// Flash with nothing to do.
    pub(crate) fn new(
        layout: UnitLayout,
        timing: FlashTiming,
        word_lines: Option<WordLineConfig>,
        (read_path_bytes_per_s, write_path_bytes_per_s): (u64, u64),
    ) -> Self {
        let geometry = &layout.geometry;
        let page = u64::from(geometry.page_bytes + geometry.oob_bytes);
        let page_bus_ns = timing.bus_ns(page * u64::from(geometry.fused_planes()));
        let unit_bytes = u64::from(layout.unit_bytes.min(geometry.program_bytes()));
        let mut flash = Self {
            page_bus_ns,
            usual: (0, 0),
            dies: Dies::new(geometry.die_count()),
            channels: vec![Calendar::default(); geometry.channel_count as usize],
            read_path: Calendar::default(),
            write_path: Calendar::default(),
            work: WorkTime::default(),
            others: Others::new(geometry.die_count(), geometry.channel_count),
            recording: None,
            careful: timing.hold_bus_while_reading,
            plain_pages: 0,
            operations: word_lines.map(|lines| Box::new(Operations::new(lines, geometry.die_count()))),
            layout,
            timing,
            read_path_bytes_per_s,
            write_path_bytes_per_s,
        };
        flash.plain_pages = flash.plain_pages_unrecorded();
        flash.usual = (unit_bytes, flash.bus_ns(unit_bytes, 1));
        flash
    }

    /// Notes from now on what is done when.
    pub(crate) fn record(&mut self, recording: Recording) {
        self.recording = Some(Box::new(recording));
        self.careful = true;
        self.plain_pages = 0;
    }

    /// What has been noted; nothing is from now on.
    pub(crate) fn take_recording(&mut self) -> Option<Recording> {
        self.careful = self.timing.hold_bus_while_reading;
        self.plain_pages = self.plain_pages_unrecorded();
        self.recording.take().map(|recording| *recording)
    }

    /// `plain_pages` while no recording is made.
    fn plain_pages_unrecorded(&self) -> u32 {
        let is_plain = self.operations.is_none() && self.write_path_bytes_per_s == 0;
        if is_plain { self.layout.pages_per_unit } else { 0 }
    }

    /// Bus time of each of `pages` of which so many bytes are wanted in all.
    fn bus_ns(&self, bytes: u64, pages: u64) -> Nanos {
        let geometry = &self.layout.geometry;
        if pages == 1 && bytes == u64::from(geometry.program_bytes()) {
            return self.page_bus_ns;
        }
        // Error correction data comes with every sector.
        let with_oob = bytes + bytes * u64::from(geometry.oob_bytes) / u64::from(geometry.page_bytes);
        self.timing.bus_ns(with_oob / pages)
    }

    /// Dies and buses have nothing to do any more.
    pub(crate) fn restart(&mut self) {
        self.dies = Dies::new(self.layout.geometry.die_count());
        if let Some(operations) = &mut self.operations {
            **operations = Operations::new(operations.config, self.layout.geometry.die_count());
        }
        self.channels.fill(Calendar::default());
        self.read_path = Calendar::default();
        self.write_path = Calendar::default();
    }

    /// Busy time of all dies so far.
    #[inline]
    pub(crate) fn busy(&self) -> BusyTime {
        self.dies.busy
    }

    /// Every die, to look at.
    pub(crate) fn die_work(&self) -> impl Iterator<Item = DieWork> + '_ {
        self.dies.work()
    }

    /// For how long its parts have worked.
    pub(crate) fn work(&self) -> WorkTime {
        self.work
    }

    /// Whether nobody uses a bus or a die while another does.
    pub(crate) fn is_sound(&self) -> bool {
        let busy_until = self.dies.work().map(|die| die.busy_until_ns);
        self.channels.iter().chain([&self.read_path, &self.write_path]).all(Calendar::is_sound)
            && self.dies.are_sound()
            && self.operations.as_ref().is_none_or(|operations| operations.are_sound(busy_until))
    }

    /// Number of the page that holds a unit, among all of the array; of a unit of several pages its own number.
    pub(crate) fn page_number(&self, ppn: Ppn) -> u64 {
        let unit_sectors = self.layout.sectors_per_unit;
        u64::from(ppn.0) * u64::from(unit_sectors) / u64::from(self.page_sectors().max(unit_sectors))
    }

    /// On how many pages some sectors of one unit lie.
    pub(crate) fn pages_of_unit(&self, first: u32, count: u32) -> u32 {
        let page_sectors = self.page_sectors();
        if page_sectors >= self.layout.sectors_per_unit {
            return 1;
        }
        (first + count - 1) / page_sectors - first / page_sectors + 1
    }

    /// Sectors of what one sensing gives.
    fn page_sectors(&self) -> u32 {
        let pages = self
            .operations
            .as_ref()
            .map_or(1, |operations| operations.config.planes * operations.config.page_types);
        self.layout.geometry.program_bytes() / SECTOR_BYTES as u32 / pages
    }
}
