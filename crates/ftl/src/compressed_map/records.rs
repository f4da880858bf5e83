//! Records of the compressed map: what out-of-band data and the log of the map say of its units.

use drivelab_nand::op::{NO_CELL, Record};
use drivelab_nand::{Lpn, Ppn};

use super::durable::{Held, is_reference};
use super::entry::{Extent, SHARED, TRIMMED};
use super::fragments::Key;
use super::map::CompressedMap;
use crate::content::Identity;
use crate::mapping::Superseded;
use crate::recovery::{LOG_VERSIONS, log_info};

/// Lowest bit of the information word of a record that names a content, which is above it.
const NAMES_CONTENT: u64 = 1;
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
                    let info = info_of_extent(Extent::of(self.extents[lpn.0 as usize]));
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
