//! Moving valid fragments out of a victim: several fragments at a time, as many as fill a page.

use drivelab_nand::{BlockIndex, DieIndex, Ppn};

use super::duplicates::is_valid;
use super::entry::{Extent, OpenPage, SHARED, TRIMMED};
use super::fragments::{Key, Word};
use super::map::CompressedMap;
use crate::error::FtlError;
use crate::log::{CleaningStep, Job};
use crate::mapping::Mapping;
use crate::placement::Stream;

/// Keys of a victim's list that are looked at before their turn, so that their map entries are in the cache by then: two
/// pages of fragments that don't compress.
const AHEAD: u32 = 16;

/// Pages that fragments of these sizes fill, one after another.
fn pages_filled(sizes: impl Iterator<Item = u32>, page_granules: u32) -> u32 {
    let (mut pages, mut room) = (0, 0);
    for size in sizes {
        if size > room {
            (pages, room) = (pages + 1, page_granules);
        }
        room -= size;
    }
    pages
}

impl CompressedMap {
    /// The next operation of cleaning on a die, after the parity page that the die may owe.
    pub(super) fn clean_step(&mut self, die: DieIndex) -> Result<Option<CleaningStep>, FtlError> {
        if self.is_parity_due(die, Stream::HOST) {
            return self.program_parity(die, Stream::HOST).map(Some);
        }
        let measure = self.measure(die);
        let Self { logs, fragments, map, duplicates, extents, .. } = self;
        let size_of = |key| match key {
            Key::Unit(lpn) => Extent::of(extents[lpn.0 as usize]).size,
            Key::Shared(id) => duplicates.get(id).extent.size,
        };
        let layout = logs.layout;
        let pages_of = |block, _| {
            let first = layout.first_ppn(block).0;
            let valid =
                fragments.of(block).filter(|&(page, key)| is_valid(map, duplicates, Ppn(first + page), key));
            pages_filled(valid.map(|(_, key)| u32::from(size_of(key))), measure.per_page)
        };
        let Some(mut job) = logs.victim(die, measure, pages_of) else { return Ok(None) };
        if self.logs.cleaning.jobs[die.0 as usize].is_none() {
            self.moving.source_page[die.0 as usize] = 0;
            self.logs.cleaning.jobs[die.0 as usize] = Some(job);
        }
        let stream = self.logs.copy_stream(job.purpose);
        if self.is_parity_due(die, stream) {
            return self.program_parity(die, stream).map(Some);
        }
        self.gather(die, &mut job);
        if self.moving.keys.is_empty() {
            self.fragments.clear(job.victim);
            if let Some(durable) = &mut self.durable {
                let first = self.logs.layout.first_ppn(job.victim).0;
                durable.erase(&self.map, job.victim, first..first + self.shape.pages_per_block);
            }
            return Ok(Some(self.logs.erase_victim(die, job)));
        }
        self.logs.cleaning.jobs[die.0 as usize] = Some(job);
        let to = self.copy(die, job)?;
        Ok(Some(CleaningStep::Copy { to, purpose: job.purpose }))
    }

    /// Collects the next valid fragments of a victim that fit on a page.
    fn gather(&mut self, die: DieIndex, job: &mut Job) {
        let first = self.logs.layout.first_ppn(job.victim).0;
        let mut page = self.moving.source_page[die.0 as usize];
        let mut room = self.shape.page_granules;
        self.moving.keys.clear();
        self.moving.source_granules.clear();
        let mut counted_page = None;
        while let Some(word) = self.fragments.get(job.victim, job.cursor) {
            if let Some(Word::Fragment(Key::Unit(lpn))) = self.fragments.get(job.victim, job.cursor + AHEAD) {
                self.prefetch(u64::from(lpn.0));
            }
            match word {
                Word::Page(next) => page = next,
                Word::Fragment(key) => {
                    if is_valid(&self.map, &self.duplicates, Ppn(first + page), key) {
                        let size = self.extent(key).size;
                        if u32::from(size) > room {
                            break;
                        }
                        room -= u32::from(size);
                        self.moving.keys.push((key, size));
                        if counted_page.replace(page) != Some(page) {
                            self.moving.source_granules.push(0);
                        }
                        if let Some(granules) = self.moving.source_granules.last_mut() {
                            *granules += u32::from(size);
                        }
                    }
                }
            }
            job.cursor += 1;
        }
        self.moving.source_page[die.0 as usize] = page;
    }

    /// Programs what was gathered as one page and moves the map entries to it.
    fn copy(&mut self, die: DieIndex, job: Job) -> Result<Ppn, FtlError> {
        let stream = self.logs.copy_stream(job.purpose);
        let (block, place) = self.program_page(die, stream)?;
        self.fragments.begin_page(block, place.0 % self.shape.pages_per_block);
        if let Some(durable) = &mut self.durable {
            durable.begin_page();
        }
        let mut page = OpenPage { block, place, used: 0, last: None };
        let keys = std::mem::take(&mut self.moving.keys);
        for &(key, size) in &keys {
            let charge = self.extent(key).charge;
            let extent = Extent { size, charge: size };
            match key {
                Key::Unit(lpn) => {
                    let entry = &mut self.map[lpn.0 as usize];
                    debug_assert_eq!(*entry & SHARED, 0);
                    // A unit that a broken trim left in place stays so.
                    *entry = *entry & TRIMMED | (place.0 + 1);
                    self.extents[lpn.0 as usize] = extent.word();
                }
                Key::Shared(id) => {
                    let shared = self.duplicates.get_mut(id);
                    shared.page = place;
                    shared.extent = extent;
                }
            }
            self.place(die, &mut page, key, size);
            self.logs.blocks.remove_valid(job.victim, u32::from(charge));
            self.logs.die_valid[die.0 as usize] -= 1;
        }
        self.finish_page(&page);
        self.close_if_full(die, stream, place);
        self.logs.count_copy(keys.len() as u64, job.purpose, job.victim, block);
        for &(key, _) in &keys {
            // The table of shared fragments is small and always in memory.
            if let Key::Unit(lpn) = key {
                self.note_change(lpn, false);
            }
        }
        self.moving.keys = keys;
        Ok(place)
    }

    fn extent(&self, key: Key) -> Extent {
        match key {
            Key::Unit(lpn) => Extent::of(self.extents[lpn.0 as usize]),
            Key::Shared(id) => self.duplicates.get(id).extent,
        }
    }

    /// Whether a page holds valid fragments.
    pub(super) fn has_fragments(&self, place: Ppn) -> bool {
        let block = BlockIndex(place.0 / self.shape.pages_per_block);
        self.fragments.of(block).any(|(page, key)| {
            page == place.0 % self.shape.pages_per_block && is_valid(&self.map, &self.duplicates, place, key)
        })
    }
}
