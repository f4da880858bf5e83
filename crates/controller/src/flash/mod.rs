//! Flash in time: dies, the channels that lead to them, and the way that data of all channels goes to the link.
//!
//! It knows no mapping scheme and no command: it is told which die does what from when on, and says when that is done.

mod calendar;
mod dies;
mod held_lines;
mod operations;
mod others;
mod passes;
mod recording;
mod slc;
#[cfg(test)]
mod tests;
mod wait;
mod while_host_waits;
mod word_lines;

use drivelab_nand::{CellMode, DieIndex, FlashArray, FlashTiming, Ppn, UnitLayout};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use serde::{Deserialize, Serialize};

use crate::command::SECTOR_BYTES;
use crate::config::WordLineConfig;
use calendar::Calendar;
use dies::Dies;
use operations::{Kind, Operations, Place};
use others::Others;
use recording::reserve_carefully;

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

    /// Senses pages and moves what is wanted of them over the bus; when it is in the controller.
    #[allow(clippy::inline_always, reason = "hot, and called by too many to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn sense(&mut self, sensing: Sensing, now: Nanos) -> Nanos {
        self.sense_from(sensing, now, now)
    }

    /// The same, asked for `now` but not before `ready`.
    #[allow(clippy::inline_always, reason = "hot, and called by too many to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn sense_from(&mut self, sensing: Sensing, ready: Nanos, now: Nanos) -> Nanos {
        if self.operations.is_some() {
            let mut wait = FlashWait::none(ready);
            self.sense_pages(&mut wait, sensing, now);
            return wait.ready_ns;
        }
        self.reserve(sensing, ready, now).0
    }

    /// The same for what has waited so far as `wait` says, and waits for this now.
    #[inline]
    pub(crate) fn sense_for(&mut self, wait: &mut FlashWait, sensing: Sensing, now: Nanos) {
        if self.operations.is_some() {
            return self.sense_pages(wait, sensing, now);
        }
        self.sense_whole(wait, sensing, now);
    }

    /// The same where pages of a word line are not told apart.
    #[inline]
    fn sense_whole(&mut self, wait: &mut FlashWait, sensing: Sensing, now: Nanos) {
        let for_cleaning = self.dies.wait_for_cleaning(sensing.die, wait.ready_ns);
        let (end, work_ns) = self.reserve(sensing, wait.ready_ns, now);
        wait.cleaning_ns += for_cleaning;
        wait.flash_ns += work_ns;
        // For other work of the die, and for the bus.
        wait.queueing_ns += end - wait.ready_ns - for_cleaning - work_ns;
        wait.ready_ns = end;
    }

    /// Reserves die and bus: when it is done, and for how long both work for it.
    #[allow(clippy::inline_always, reason = "hot, and called by too many to be inlined otherwise")]
    #[inline(always)]
    fn reserve(&mut self, sensing: Sensing, ready: Nanos, now: Nanos) -> (Nanos, Nanos) {
        let Sensing { die, pages, bytes, is_cleaning, .. } = sensing;
        let timing = &self.timing;
        let (read_ns, careful) = (timing.read_ns, self.careful);
        let bus_ns =
            if (bytes, pages) == (self.usual.0, 1) { self.usual.1 } else { self.bus_ns(bytes, pages) };
        let bus_ns = bus_ns + timing.decode_ns;
        let channel = &mut self.channels[self.layout.channel_of(die) as usize];
        let mut at = self.dies.free_from(die, ready);
        for _ in 0..pages {
            let begin = at;
            let bus_start = if careful {
                let recording = self.recording.as_deref_mut();
                reserve_carefully(channel, recording, timing, (die, is_cleaning), (begin, bus_ns, now))
            } else {
                channel.reserve(now, begin + read_ns, bus_ns)
            };
            at = bus_start + bus_ns;
            // The page register is taken until its data has left.
            self.dies.occupy(die, begin, at + sabotaged_hold_ns(), is_cleaning);
        }
        self.work.sense_ns += pages * read_ns;
        self.work.bus_ns += pages * bus_ns;
        (at, pages * (read_ns + bus_ns))
    }

    /// A host's read of `sectors` from the unit at `ppn` on, the first at `sector` of it, `bytes` as stored: die, bus,
    /// and the way to the link. `array` knows how the block was programmed.
    #[inline]
    pub(crate) fn read(
        &mut self,
        (array, ppn): (&FlashArray, Ppn),
        (sector, sectors): (u32, u64),
        bytes: u64,
        wait: &mut FlashWait,
        now: Nanos,
    ) {
        if self.operations.is_some() {
            return self.read_pages((array, ppn), (sector, sectors), bytes, wait, now);
        }
        let die = self.layout.die_of(self.layout.block_of(ppn));
        let pages = if self.layout.pages_per_unit == 1 {
            1
        } else {
            let program_sectors = u64::from(self.layout.geometry.program_bytes()) / SECTOR_BYTES;
            let first = u64::from(sector);
            (first + sectors - 1) / program_sectors - first / program_sectors + 1
        };
        self.sense_whole(wait, Sensing { die, pages, bytes, mask: 0, is_cleaning: false }, now);
        self.pass_read_path(wait, bytes, now);
    }

    /// A command begins that reads several pieces, by [`Self::read_piece`].
    pub(crate) fn begin_pieces(&mut self) {
        self.others.begin(self.read_path.until());
    }

    /// The same as [`Self::read`] of a piece of a command: where pieces wait for each other they wait for flash.
    #[inline]
    pub(crate) fn read_piece(
        &mut self,
        (array, ppn): (&FlashArray, Ppn),
        part: (u32, u64),
        bytes: u64,
        wait: &mut FlashWait,
        now: Nanos,
    ) {
        let die = self.layout.die_of(self.layout.block_of(ppn));
        let channel = self.layout.channel_of(die);
        let bus = &self.channels[channel as usize];
        let others_ns = self.others.until(die, channel, || self.dies.free_from(die, 0), || bus.until());
        let before = *wait;
        self.read((array, ppn), part, bytes, wait, now);
        wait.own_after(others_ns, &before);
    }

    /// A page is read again with other thresholds, for what has waited so far as `wait` says: die and bus, as the first time.
    #[cold]
    pub(crate) fn sense_again(
        &mut self,
        (array, ppn): (&FlashArray, Ppn),
        (sector, sectors): (u32, u64),
        (bytes, is_cleaning): (u64, bool),
        wait: &mut FlashWait,
        now: Nanos,
    ) {
        let die = self.layout.die_of(self.layout.block_of(ppn));
        let mask = self.mask_of(ppn, u64::from(sector), sectors, array.mode_at(ppn));
        self.sense_for(wait, Sensing { die, pages: 1, bytes, mask, is_cleaning }, now);
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

    /// All channels share the way of data from flash to the link, which it goes while it comes over its bus.
    #[inline]
    fn pass_read_path(&mut self, wait: &mut FlashWait, bytes: u64, now: Nanos) {
        if self.read_path_bytes_per_s == 0 {
            return;
        }
        let duration = drivelab_sim::time::transfer_ns(bytes, self.read_path_bytes_per_s);
        let begin = wait.ready_ns.saturating_sub(duration).max(now);
        let start = self.read_path.reserve(now, begin, duration);
        wait.queueing_ns += start - begin;
        wait.flash_ns += begin + duration - wait.ready_ns;
        wait.ready_ns = start + duration;
    }

    /// Transfer and program of one unit's pages (or one page of units), the first at `page` of its block: what a command
    /// that waits for them owes to flash itself.
    #[inline]
    pub(crate) fn program_work_ns(&self, page: u32) -> Nanos {
        let transfer_ns = self.page_bus_ns.max(self.write_path_ns(self.program_bytes()));
        let pages = page..page + self.layout.pages_per_unit;
        pages.map(|page| transfer_ns + self.timing.program_ns(page)).sum()
    }

    /// The same of a page of one bit a cell.
    pub(crate) fn slc_program_work_ns(&self) -> Nanos {
        self.slc_times()
            .map_or(0, |((bytes, bus_ns), slc)| bus_ns.max(self.write_path_ns(bytes)) + slc.program_ns)
    }

    /// Moves one unit's pages (or one page of units) to a die and programs them, the first at `page` of its block;
    /// when that is done.
    #[allow(clippy::inline_always, reason = "hot, and called by too many to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn program(
        &mut self,
        die: DieIndex,
        page: u32,
        ready: Nanos,
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        self.program_in(CellMode::Native, die, (page, ready), now, is_cleaning)
    }

    /// The same in a block of this mode, which only drives whose pages are noted ask about.
    #[allow(clippy::inline_always, reason = "hot, and called in too many places to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn program_in(
        &mut self,
        mode: CellMode,
        die: DieIndex,
        (page, ready): (u32, Nanos),
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        debug_assert!(
            ready <= self.dies.free_from(die, now),
            "reads would wait for a program that has not begun"
        );
        let pages = self.plain_pages;
        if pages == 0 {
            return self.program_noted(mode, die, (page, ready), now, is_cleaning);
        }
        self.program_pages::<false>((die, page, pages), ready, now, is_cleaning)
    }

    /// The same of a page of data, the first at `place`, of which drives that program in two passes do the first.
    #[allow(clippy::inline_always, reason = "hot, and a part of functions that are inlined themselves")]
    #[inline(always)]
    pub(crate) fn program_data(
        &mut self,
        mode: CellMode,
        die: DieIndex,
        (place, ready): (Ppn, Nanos),
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        debug_assert!(
            ready <= self.dies.free_from(die, now),
            "reads would wait for a program that has not begun"
        );
        let pages = self.plain_pages;
        if pages == 0 {
            return self.program_data_noted(mode, die, (place, ready), now, is_cleaning);
        }
        self.program_pages::<false>((die, self.layout.page_of(place), pages), ready, now, is_cleaning)
    }

    /// The same while a recording is made, and on drives that keep what every die does.
    #[cold]
    #[inline(never)]
    fn program_noted(
        &mut self,
        mode: CellMode,
        die: DieIndex,
        (page, ready): (u32, Nanos),
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        if mode == CellMode::Slc {
            return self.program_slc(die, ready, now, is_cleaning);
        }
        self.program_pages::<true>((die, page, self.layout.pages_per_unit), ready, now, is_cleaning)
    }

    #[allow(clippy::inline_always, reason = "a part of a function that is inlined itself")]
    #[inline(always)]
    fn program_pages<const NOTED: bool>(
        &mut self,
        (die, page, pages): (DieIndex, u32, u32),
        ready: Nanos,
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        let transfer = (self.program_bytes(), self.page_bus_ns);
        let mut end = now;
        for index in 0..pages {
            let program_ns = self.timing.program_ns(page + index);
            end = self.program_once::<NOTED>(die, (transfer, program_ns), ready, now, is_cleaning);
        }
        end
    }

    #[allow(clippy::inline_always, reason = "a part of a function that is inlined itself")]
    #[inline(always)]
    fn program_once<const NOTED: bool>(
        &mut self,
        die: DieIndex,
        ((bytes, bus_ns), program_ns): ((u64, Nanos), Nanos),
        ready: Nanos,
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        let mut begin = self.dies.free_from(die, ready);
        if NOTED && self.write_path_bytes_per_s > 0 {
            begin = self.pass_write_path((bytes, bus_ns), begin, now);
        }
        let channel = &mut self.channels[self.layout.channel_of(die) as usize];
        let start = channel.reserve(now, begin, bus_ns);
        let end = start + bus_ns + program_ns;
        self.work.bus_ns += bus_ns;
        self.work.program_ns += program_ns;
        self.dies.occupy(die, start, end, is_cleaning);
        if NOTED && let Some(operations) = &mut self.operations {
            operations.begin(die, Kind::Program, (start + bus_ns, end), is_cleaning);
        }
        if NOTED && let Some(recording) = &mut self.recording {
            let (begin_ns, bus_begin_ns, bus_end_ns, end_ns) = (start, start, start + bus_ns, end);
            let work = Work::Program;
            recording.note(Stretch { work, die, is_cleaning, begin_ns, bus_begin_ns, bus_end_ns, end_ns });
        }
        end
    }

    /// All channels share the way of what they program, which goes it while it goes over its bus: from when on a bus need
    /// not wait for the rest of a transfer that may begin at `begin`.
    #[cold]
    fn pass_write_path(&mut self, (bytes, bus_ns): (u64, Nanos), begin: Nanos, now: Nanos) -> Nanos {
        let duration = self.write_path_ns(bytes);
        if duration == 0 {
            // A second pass of what the die has kept, say.
            return begin;
        }
        let start = self.write_path.reserve(now, begin, duration);
        start.max((start + duration).saturating_sub(bus_ns))
    }

    /// Time of so many bytes on the way to the channels.
    fn write_path_ns(&self, bytes: u64) -> Nanos {
        drivelab_sim::time::transfer_ns(bytes, self.write_path_bytes_per_s)
    }

    /// Bytes of a page, on all planes that are programmed together.
    fn program_bytes(&self) -> u64 {
        u64::from(self.layout.geometry.program_bytes())
    }

    /// Erases a block of a die; when that is done.
    pub(crate) fn erase(&mut self, die: DieIndex, now: Nanos, is_cleaning: bool) -> Nanos {
        self.erase_for(die, self.timing.erase_ns, now, is_cleaning)
    }

    /// The same, in a time of the caller's.
    pub(super) fn erase_for(
        &mut self,
        die: DieIndex,
        erase_ns: Nanos,
        now: Nanos,
        is_cleaning: bool,
    ) -> Nanos {
        let begin = self.dies.free_from(die, now);
        let end = begin + erase_ns;
        self.work.erase_ns += erase_ns;
        self.dies.occupy(die, begin, end, is_cleaning);
        if let Some(operations) = &mut self.operations {
            operations.begin(die, Kind::Erase, (begin, end), is_cleaning);
        }
        if let Some(recording) = &mut self.recording {
            let (begin_ns, bus_begin_ns, bus_end_ns, end_ns) = (begin, begin, begin, end);
            let work = Work::Erase;
            recording.note(Stretch { work, die, is_cleaning, begin_ns, bus_begin_ns, bus_end_ns, end_ns });
        }
        end
    }
}

/// How long a die stays busy after a read, in drives that are broken on purpose.
fn sabotaged_hold_ns() -> Nanos {
    if sabotage::is(Sabotage::ReadHoldsDie) { drivelab_sim::time::SECOND } else { 0 }
}
