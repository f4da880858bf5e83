//! Reads of single pages of a word line: what is sensed together, and how long that takes.

use drivelab_nand::{CellMode, DieIndex, FlashArray, Ppn};
use drivelab_sim::Nanos;

use super::{Flash, FlashWait, Place, Recording, Sensing, Stretch, Work};
use crate::command::SECTOR_BYTES;
use crate::config::WordLineConfig;

/// Pages that are sensed together: their planes, and what that takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Together {
    planes: u64,
    read_ns: Nanos,
}

/// The next pages of `mask` that are sensed together, which are taken from it: pages of one kind, of as many planes as
/// read at once.
fn next_together(lines: &WordLineConfig, mask: &mut u64) -> Option<Together> {
    let first = (*mask != 0).then(|| mask.trailing_zeros())?;
    let page_type = first / lines.planes;
    let mut planes = 0u64;
    for plane in first % lines.planes..lines.planes {
        let page = 1 << (page_type * lines.planes + plane);
        if *mask & page != 0 && planes.count_ones() < lines.planes_at_once {
            planes |= 1 << plane;
            *mask &= !page;
        }
    }
    // Behind the pages of a native word line are those of one bit a cell.
    let read_ns = lines.read_ns.get(page_type as usize).filter(|_| page_type < lines.page_types);
    Some(Together { planes, read_ns: read_ns.copied().unwrap_or(lines.slc.read_ns) })
}

impl Flash {
    /// Whether reads tell the pages of a word line apart.
    #[inline]
    pub(crate) fn has_word_lines(&self) -> bool {
        self.operations.is_some()
    }

    /// When the operation of a die ends for which reads were in the way, if it has not ended.
    pub(crate) fn put_off_until(&self, die: DieIndex, now: Nanos) -> Option<Nanos> {
        self.operations.as_ref()?.until(die, now)
    }

    /// No operation is suspended from now on.
    pub(crate) fn suspend_none(&mut self) {
        if let Some(operations) = &mut self.operations {
            operations.suspend_none();
        }
    }

    /// The pages of its word line that hold `sectors` from `sector` on of the unit at `ppn`, and of those behind it.
    pub(super) fn mask_of(&self, ppn: Ppn, sector: u64, sectors: u64, mode: CellMode) -> u64 {
        let Some(operations) = &self.operations else { return 0 };
        let pages = operations.config.planes * operations.config.page_types;
        let mask = self.native_mask(pages, ppn, sector, sectors);
        match mode {
            CellMode::Native => mask,
            CellMode::Slc => mask << pages,
        }
    }

    /// Planes of a die that are sensed by themselves.
    pub(crate) fn planes_apart(&self) -> u32 {
        self.operations.as_ref().map_or(1, |operations| operations.config.planes)
    }

    /// Those of them that hold some sectors of one unit, a bit each.
    pub(crate) fn planes_of_unit(&self, ppn: Ppn, (first, count): (u32, u32)) -> u64 {
        let Some(operations) = &self.operations else { return 1 };
        let WordLineConfig { planes, page_types, .. } = operations.config;
        let pages = self.native_mask(planes * page_types, ppn, first.into(), count.into());
        let of_kinds = (0..page_types).fold(0, |all, kind| all | pages >> (kind * planes));
        of_kinds & (u64::MAX >> (u64::BITS - planes))
    }

    fn native_mask(&self, pages: u32, ppn: Ppn, sector: u64, sectors: u64) -> u64 {
        let page_sectors = u64::from(self.layout.geometry.program_bytes()) / SECTOR_BYTES / u64::from(pages);
        let unit = u64::from(ppn.0 % self.layout.units_per_page);
        let first = unit * u64::from(self.layout.sectors_per_unit) + sector;
        let of_line = page_sectors * u64::from(pages);
        let (first, last) = (first % of_line / page_sectors, (first + sectors - 1) % of_line / page_sectors);
        if last < first || sectors >= of_line {
            return u64::MAX >> (u64::BITS - pages);
        }
        (u64::MAX >> (63 - last)) & (u64::MAX << first)
    }

    /// What of one word line is copied, as sensings one by one; the places lie in order.
    pub(crate) fn copied_sensings(
        &self,
        (die, mode): (DieIndex, CellMode),
        places: &[Ppn],
        out: &mut impl Extend<Sensing>,
    ) {
        let Some(operations) = &self.operations else { return };
        let sectors = u64::from(self.layout.sectors_per_unit);
        let mut rest = places.iter().fold(0, |mask, &place| mask | self.mask_of(place, 0, sectors, mode));
        let total = rest.count_ones();
        let bytes = places.len() as u64 * u64::from(self.layout.unit_bytes);
        loop {
            let before = rest;
            if next_together(&operations.config, &mut rest).is_none() {
                return;
            }
            let mask = before & !rest;
            let bytes = bytes * u64::from(mask.count_ones()) / u64::from(total);
            out.extend([Sensing { die, pages: 1, bytes, mask, is_cleaning: true }]);
        }
    }

    /// A host's read, as [`Flash::read`], of the pages that hold it.
    #[inline(never)]
    pub(super) fn read_pages(
        &mut self,
        (array, ppn): (&FlashArray, Ppn),
        (sector, sectors): (u32, u64),
        bytes: u64,
        wait: &mut FlashWait,
        now: Nanos,
    ) {
        if self.has_passes() && self.read_sources((array, ppn), (sector, sectors), bytes, wait, now) {
            return self.pass_read_path(wait, bytes, now);
        }
        let (die, mode) = (self.layout.die_at(ppn), array.mode_at(ppn));
        let mask = self.mask_of(ppn, u64::from(sector), sectors, mode);
        self.sense_pages(wait, Sensing { die, pages: 1, bytes, mask, is_cleaning: false }, now);
        self.pass_read_path(wait, bytes, now);
    }

    /// Senses pages of a word line and moves what is wanted of them, for what has waited so far as `wait` says.
    #[inline(never)]
    pub(super) fn sense_pages(&mut self, wait: &mut FlashWait, sensing: Sensing, now: Nanos) {
        let Sensing { pages, bytes, mask, .. } = sensing;
        let Some(operations) = &self.operations else { return };
        if mask == 0 {
            let lower = Together { planes: 1, read_ns: operations.config.read_ns[0] };
            for _ in 0..pages {
                self.sense_together(wait, lower, (sensing, bytes / pages), now);
            }
            return;
        }
        let mut rest = mask;
        while let Some(operations) = &self.operations
            && let Some(together) = next_together(&operations.config, &mut rest)
        {
            let share = bytes * u64::from(together.planes.count_ones()) / u64::from(mask.count_ones());
            self.sense_together(wait, together, (sensing, share), now);
        }
    }

    /// Senses pages together, and moves `bytes` of them.
    fn sense_together(
        &mut self,
        wait: &mut FlashWait,
        Together { planes, read_ns }: Together,
        (sensing, bytes): (Sensing, u64),
        now: Nanos,
    ) {
        let Sensing { die, is_cleaning, .. } = sensing;
        let bus_ns = self.bus_ns(bytes, 1) + self.timing.decode_ns;
        let Some(operations) = &mut self.operations else { return };
        let at = wait.ready_ns;
        let busy_until = self.dies.free_from(die, 0);
        let (begin, place) = operations.place(die, planes, (at, busy_until), is_cleaning);
        let channel = &mut self.channels[self.layout.channel_of(die) as usize];
        let bus_begin = channel.reserve(now, begin + read_ns, bus_ns);
        let end = bus_begin + bus_ns;
        let later = operations.take(die, planes, place, (begin, end));
        let for_cleaning = match place {
            Place::Behind => self.dies.wait_for_cleaning(die, at).min(begin - at),
            Place::InGap | Place::Suspending(_) if operations.is_cleaning(die) => begin - at,
            Place::InGap | Place::Suspending(_) => 0,
        };
        if later > 0 {
            self.dies.put_off(die, later);
            if let (Some(recording), Some(until)) = (&mut self.recording, operations.until(die, now)) {
                recording.put_off(die, until - later, later);
            }
        } else if end > busy_until {
            // Beside what another plane reads, only what lasts longer is new.
            self.dies.occupy(die, begin.max(busy_until), end, is_cleaning);
        }
        self.work.sense_ns += read_ns;
        self.work.bus_ns += bus_ns;
        wait.cleaning_ns += for_cleaning;
        wait.flash_ns += read_ns + bus_ns;
        wait.queueing_ns += end - at - for_cleaning - read_ns - bus_ns;
        wait.ready_ns = end;
        if let Some(recording) = &mut self.recording {
            note(recording, (die, is_cleaning), (begin, bus_begin, end));
        }
    }
}

fn note(
    recording: &mut Recording,
    (die, is_cleaning): (DieIndex, bool),
    (begin_ns, bus_begin_ns, end_ns): (Nanos, Nanos, Nanos),
) {
    let (work, bus_end_ns) = (Work::Read, end_ns);
    recording.note(Stretch { work, die, is_cleaning, begin_ns, bus_begin_ns, bus_end_ns, end_ns });
}
