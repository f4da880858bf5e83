//! What the map keeps beside its tables when its flash outlives its power: where references lie, what the last page
//! holds, and what it superseded.
//!
//! A unit that is a copy is a *reference* to a shared fragment: a record of the page that was programmed when the host
//! wrote it, and of no granules. Cleaning does not copy it, so when its block is erased it goes to the log of the map,
//! and into the log that goes with a checkpoint.
//!
//! A reference is worth nothing without its fragment. So a page with references to a fragment whose page is still being
//! programmed waits for that; and when a reference is superseded, no block at all is erased before that has reached
//! flash: what it refers to may have no other reference, or may have been moved anywhere meanwhile.

use drivelab_nand::op::{NO_CELL, Record};
use drivelab_nand::{BlockIndex, Lpn, Ppn};

use super::fragments::Key;
use super::{CompressedMap, Extent, SHARED, TRIMMED};
use crate::content::{Identity, UnitContent, mix};
use crate::mapping::{Stored, Superseded};
use crate::recovery::{LOG_VERSIONS, log_info};

/// Lowest bit of the information word of a record that names a content, which is above it.
const NAMES_CONTENT: u64 = 1;

/// Contents that are remembered to see which come again.
const SEEN: usize = 1 << 16;

/// State that only drives need whose flash outlives their power.
#[derive(Clone, Debug)]
pub(super) struct Durable {
    /// Page + 1 of the record of every unit that is a reference; 0: it is in the log of the map.
    reference_at: Vec<u32>,
    /// Units whose references lie in a block, outdated ones among them.
    references_in: Vec<Vec<u32>>,
    /// What the page programmed last holds.
    page: Vec<Held>,
    superseded: Vec<Superseded>,
    /// Pages of shared fragments that the page programmed last refers to.
    needed: Vec<Ppn>,
    /// Units whose references have lost their page.
    homeless: Vec<u32>,
    /// Hashes of contents that were written, each in the place that it decides.
    seen: Vec<u64>,
}

/// Something on a page.
#[derive(Clone, Copy, Debug)]
enum Held {
    Fragment(Key),
    Reference(Lpn),
}

impl Durable {
    pub fn new(units: usize, blocks: u32) -> Self {
        Self {
            reference_at: vec![0; units],
            references_in: vec![Vec::new(); blocks as usize],
            page: Vec::new(),
            superseded: Vec::new(),
            needed: Vec::new(),
            homeless: Vec::new(),
            seen: vec![0; SEEN],
        }
    }

    /// A page begins.
    pub fn begin_page(&mut self) {
        self.page.clear();
        self.needed.clear();
    }

    /// A fragment is on the page that is being filled.
    pub fn hold(&mut self, key: Key) {
        self.page.push(Held::Fragment(key));
    }

    /// A unit refers to a shared fragment at `to`, by a record of the page at `place`.
    pub fn refer(&mut self, block: BlockIndex, place: Ppn, lpn: Lpn, to: Ppn) {
        self.page.push(Held::Reference(lpn));
        self.enter_reference(block, place, lpn);
        if to != place {
            self.needed.push(to);
        }
    }

    /// The reference of a unit is on a page.
    pub fn enter_reference(&mut self, block: BlockIndex, place: Ppn, lpn: Lpn) {
        self.reference_at[lpn.0 as usize] = place.0 + 1;
        self.references_in[block.0 as usize].push(lpn.0);
    }

    /// The page before 1 of a unit's reference, 0 if it is in the log.
    pub fn reference_at(&self, lpn: Lpn) -> u32 {
        self.reference_at[lpn.0 as usize]
    }

    /// What flash held in a block is current no more.
    pub fn supersede(&mut self, block: BlockIndex, cell: u32) {
        self.superseded.push(Superseded { block, cell });
    }

    pub fn take_superseded(&mut self, out: &mut Vec<Superseded>) {
        out.append(&mut self.superseded);
    }

    pub fn take_needed(&mut self, out: &mut Vec<Ppn>) {
        out.append(&mut self.needed);
    }

    /// A block is erased that held these pages: its current references go to the log.
    pub fn erase(&mut self, map: &[u32], block: BlockIndex, pages: std::ops::Range<u32>) {
        for lpn in std::mem::take(&mut self.references_in[block.0 as usize]) {
            let at = &mut self.reference_at[lpn as usize];
            if is_reference(map[lpn as usize]) && pages.contains(&at.wrapping_sub(1)) {
                *at = 0;
                self.homeless.push(lpn);
            }
        }
    }

    /// Whether a content was seen before.
    fn has_seen(&mut self, hash: u64) -> bool {
        let place = &mut self.seen[mix(hash) as usize % SEEN];
        std::mem::replace(place, hash) == hash
    }

    /// Every current reference that has a page is in the list of its block.
    pub fn check(&self, map: &[u32], pages_per_block: u32) -> Result<(), String> {
        let mut listed = vec![false; map.len()];
        for (block, list) in (0..).zip(&self.references_in) {
            for &lpn in list {
                let at = self.reference_at[lpn as usize];
                listed[lpn as usize] |= at > 0 && (at - 1) / pages_per_block == block;
            }
        }
        let lost =
            (0..map.len()).find(|&lpn| is_reference(map[lpn]) && self.reference_at[lpn] > 0 && !listed[lpn]);
        match lost {
            Some(lpn) => Err(format!("the reference of unit {lpn} is not in the list of its block")),
            None => Ok(()),
        }
    }
}

/// Whether a map entry is a reference that reads as data.
#[inline]
fn is_reference(entry: u32) -> bool {
    entry & SHARED != 0 && entry & TRIMMED == 0
}

/// The information word of a fragment.
fn info_of_extent(extent: Extent) -> u64 {
    u64::from(extent.charge) << 16 | u64::from(extent.size) << 8
}

/// The information word of what names a content.
fn info_of_identity(identity: Identity) -> u64 {
    identity.number() << 1 | NAMES_CONTENT
}

/// What a record of a unit says, or two records of a shared fragment, which is of no unit: first its size, then its
/// content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A unit has this fragment for itself.
    Unit(Extent),
    /// A shared fragment.
    Shared(Identity, Extent),
    /// A unit is a copy of this content.
    Reference(Identity),
}

/// What the records of a page, or of versions in the log, say. What this map doesn't write is passed over.
pub(super) fn meanings(records: &[Record]) -> impl Iterator<Item = (&Record, Meaning)> {
    let mut size = None;
    records.iter().filter_map(move |record| {
        let is_of_unit = record.lpn != Lpn::PADDING;
        let meaning = if record.info & NAMES_CONTENT != 0 {
            let identity = Identity::from_number(record.info >> 1)?;
            if is_of_unit { Meaning::Reference(identity) } else { Meaning::Shared(identity, size.take()?) }
        } else {
            let extent = Extent { size: (record.info >> 8) as u8, charge: (record.info >> 16) as u8 };
            if !is_of_unit {
                size = Some(extent);
                return None;
            }
            Meaning::Unit(extent)
        };
        Some((record, meaning))
    })
}

impl CompressedMap {
    /// The payload cell of a unit.
    fn cell(&self, lpn: Lpn) -> u32 {
        self.stamps.as_ref().map_or(NO_CELL, |cells| cells[lpn.0 as usize] as u32)
    }

    fn reference_record(&self, lpn: Lpn) -> Record {
        let shared = self.duplicates.get(self.map[lpn.0 as usize] & !(SHARED | TRIMMED));
        Record { lpn, cell: self.cell(lpn), info: info_of_identity(shared.identity) }
    }

    /// Records of the page programmed last.
    pub(super) fn records_of_page(&self, out: &mut Vec<u64>) {
        let Some(durable) = &self.durable else { return };
        for &held in &durable.page {
            let record = match held {
                Held::Reference(lpn) => self.reference_record(lpn),
                Held::Fragment(Key::Unit(lpn)) => {
                    // What a broken trim left in place must not be found again.
                    if self.map[lpn.0 as usize] & TRIMMED != 0 {
                        continue;
                    }
                    let info = info_of_extent(self.extents[lpn.0 as usize]);
                    Record { lpn, cell: self.cell(lpn), info }
                }
                Held::Fragment(Key::Shared(id)) => {
                    let shared = self.duplicates.get(id);
                    let of_none = |info| Record { lpn: Lpn::PADDING, cell: NO_CELL, info };
                    out.extend(of_none(info_of_extent(shared.extent)).to_words());
                    of_none(info_of_identity(shared.identity))
                }
            };
            out.extend(record.to_words());
        }
    }

    /// References among `units` that are in no page, as one entry of the log.
    fn log_references(&self, units: impl Iterator<Item = u32>, out: &mut Vec<u64>) {
        let Some(durable) = &self.durable else { return };
        let head = out.len();
        let mut count = 0;
        for lpn in units.map(Lpn) {
            if is_reference(self.map[lpn.0 as usize]) && durable.reference_at(lpn) == 0 {
                if count == 0 {
                    out.extend([0; Record::WORDS]);
                }
                out.extend(self.reference_record(lpn).to_words());
                count += 1;
            }
        }
        if count > 0 {
            let info = log_info(self.logs.flash.next_sequence(), LOG_VERSIONS);
            let words = Record { lpn: Lpn::PADDING, cell: count, info }.to_words();
            out[head..head + Record::WORDS].copy_from_slice(&words);
        }
    }

    /// References that have lost their page since this was last called.
    pub(super) fn log_homeless(&mut self, out: &mut Vec<u64>) {
        let Some(durable) = &mut self.durable else { return };
        if durable.homeless.is_empty() {
            return;
        }
        let homeless = std::mem::take(&mut durable.homeless);
        self.log_references(homeless.iter().copied(), out);
    }

    /// All references that are in the log, for the log of a checkpoint.
    pub(super) fn log_all(&self, out: &mut Vec<u64>) {
        self.log_references(0..self.map.len() as u32, out);
    }

    /// What real bytes take. Contents that come again are worth sharing, so a content is shared from the second time on
    /// that it is written, as long as it is remembered that long; zeros always.
    pub(super) fn stored_of(&mut self, content: UnitContent, is_whole: bool) -> Stored {
        let granules = content.compressed_bytes.div_ceil(self.config.granule_bytes);
        let granules = granules.clamp(1, self.shape.unit_granules) as u16;
        let identity = Identity::of_hash(content.hash);
        let is_shared = is_whole
            && (content == UnitContent::ZEROS
                || self.duplicates.find(identity).is_some()
                || self.durable.as_mut().is_some_and(|durable| durable.has_seen(content.hash)));
        Stored { granules, identity: is_shared.then_some(identity) }
    }

    /// A map entry is being replaced: what an erase must wait for.
    #[inline]
    pub(super) fn note_superseded(&mut self, entry: u32) {
        let Some(durable) = &mut self.durable else { return };
        if entry & SHARED != 0 {
            durable.supersede(Superseded::ANYWHERE, NO_CELL);
        } else if entry != 0 {
            let block = self.logs.layout.block_of(Ppn((entry & !TRIMMED) - 1));
            durable.supersede(block, NO_CELL);
        }
    }

    /// A unit gets another payload cell.
    pub(super) fn replace_cell(&mut self, place: Ppn, lpn: Lpn, cell: u64) {
        let (Some(durable), Some(cells)) = (&mut self.durable, &mut self.stamps) else { return };
        let old = std::mem::replace(&mut cells[lpn.0 as usize], cell);
        if old != 0 {
            durable.supersede(self.logs.layout.block_of(place), old as u32);
        }
    }
}
