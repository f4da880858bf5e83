//! Reads: a die senses, its bus moves what is wanted, and all channels together pass it on to the link.

use drivelab_nand::{FlashArray, Ppn};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};

use super::recording::reserve_carefully;
use super::{Flash, FlashWait, Sensing};
use crate::command::SECTOR_BYTES;

impl Flash {
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
        self.reserve(sensing, ready, now).1
    }

    /// The same for what has waited so far as `wait` says, and waits for this now.
    #[inline]
    pub(crate) fn sense_for(&mut self, wait: &mut FlashWait, sensing: Sensing, now: Nanos) {
        if self.operations.is_some() {
            // Of a copy, so that everybody else's wait stays in registers.
            let mut copy = *wait;
            self.sense_pages(&mut copy, sensing, now);
            *wait = copy;
            return;
        }
        self.sense_whole(wait, sensing, now);
    }

    /// The same where pages of a word line are not told apart.
    #[inline]
    fn sense_whole(&mut self, wait: &mut FlashWait, sensing: Sensing, now: Nanos) {
        let (for_cleaning, end, work_ns) = self.reserve(sensing, wait.ready_ns, now);
        wait.cleaning_ns += for_cleaning;
        wait.flash_ns += work_ns;
        // For other work of the die, and for the bus.
        wait.queueing_ns += end - wait.ready_ns - for_cleaning - work_ns;
        wait.ready_ns = end;
    }

    /// Reserves die and bus: how long cleaning keeps it waiting, when it is done, and for how long both work for it.
    #[allow(clippy::inline_always, reason = "hot, and called by too many to be inlined otherwise")]
    #[inline(always)]
    fn reserve(&mut self, sensing: Sensing, ready: Nanos, now: Nanos) -> (Nanos, Nanos, Nanos) {
        let Sensing { die, pages, bytes, is_cleaning, .. } = sensing;
        let timing = &self.timing;
        let (read_ns, careful) = (timing.read_ns, self.careful);
        let bus_ns =
            if (bytes, pages) == (self.usual.0, 1) { self.usual.1 } else { self.bus_ns(bytes, pages) };
        let bus_ns = bus_ns + timing.decode_ns;
        let channel = &mut self.channels[self.layout.channel_of(die) as usize];
        let (mut at, mut for_cleaning) = (ready, None);
        for _ in 0..pages {
            // The page register is taken until its data has left.
            let (waited, end) = self.dies.reserve(die, at, is_cleaning, |begin| {
                let bus_start = if careful {
                    let recording = self.recording.as_deref_mut();
                    reserve_carefully(channel, recording, timing, (die, is_cleaning), (begin, bus_ns, now))
                } else {
                    channel.reserve(now, begin + read_ns, bus_ns)
                };
                bus_start + bus_ns + sabotaged_hold_ns()
            });
            for_cleaning.get_or_insert(waited);
            at = end - sabotaged_hold_ns();
        }
        self.work.sense_ns += pages * read_ns;
        self.work.bus_ns += pages * bus_ns;
        (for_cleaning.unwrap_or(0), at, pages * (read_ns + bus_ns))
    }

    /// A host's read of `sectors` from the unit at `ppn` on, the first at `sector` of it, `bytes` as stored: die, bus,
    /// and the way to the link. `array` knows how the block was programmed.
    #[allow(clippy::inline_always, reason = "hot, and called by too many to be inlined otherwise")]
    #[inline(always)]
    pub(crate) fn read(
        &mut self,
        (array, ppn): (&FlashArray, Ppn),
        (sector, sectors): (u32, u64),
        bytes: u64,
        wait: &mut FlashWait,
        now: Nanos,
    ) {
        if self.operations.is_some() {
            // As in `sense_for`.
            let mut copy = *wait;
            self.read_pages((array, ppn), (sector, sectors), bytes, &mut copy, now);
            *wait = copy;
            return;
        }
        let die = self.layout.die_at(ppn);
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
        let die = self.layout.die_at(ppn);
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
        let die = self.layout.die_at(ppn);
        let mask = self.mask_of(ppn, u64::from(sector), sectors, array.mode_at(ppn));
        self.sense_for(wait, Sensing { die, pages: 1, bytes, mask, is_cleaning }, now);
    }

    /// All channels share the way of data from flash to the link, which it goes while it comes over its bus.
    #[inline]
    pub(super) fn pass_read_path(&mut self, wait: &mut FlashWait, bytes: u64, now: Nanos) {
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
}

/// How long a die stays busy after a read, in drives that are broken on purpose.
fn sabotaged_hold_ns() -> Nanos {
    if sabotage::is(Sabotage::ReadHoldsDie) { drivelab_sim::time::SECOND } else { 0 }
}
