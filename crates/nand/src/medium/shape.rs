//! Sizes of a medium, and where in its bytes everything lies.

use std::ops::Range;

use super::error::MediumError;

/// Bytes of the words that concern the whole medium.
const HEAD_BYTES: u64 = 64;
/// Bytes of a block's entry: erase count and state in the first word, the rest is zero.
pub(super) const BLOCK_BYTES: usize = 32;
/// Bytes of a page's header.
pub(super) const PAGE_BYTES: usize = 16;
/// Bytes of a record.
pub(super) const RECORD_BYTES: usize = 16;
/// Bytes of a system area's header.
const AREA_BYTES: u64 = 64;
/// Bytes of an entry of the log: a record and its check word.
pub(super) const LOG_ENTRY_BYTES: usize = 24;
/// Bytes of an entry of the hold table.
pub(super) const HOLD_BYTES: usize = 16;

/// Sizes of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumShape {
    /// Erase blocks.
    pub blocks: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Pages that one program operation takes: more than 1 if map units are larger than pages.
    pub pages_per_unit: u32,
    /// Records that the pages of a block have room for together.
    pub records_per_block: u32,
    /// Map units of the host.
    pub user_units: u32,
    /// Records that the log has room for.
    pub log_records: u32,
    /// Units that a capacitor keeps; 0: there is none.
    pub held_units: u32,
}

impl MediumShape {
    /// Bytes of a medium of this shape.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.parts()[PARTS]
    }

    /// Entries of the hold table: one more than units, as a newer version of a unit is there before the older one goes.
    pub(super) fn hold_slots(&self) -> u32 {
        if self.held_units == 0 { 0 } else { self.held_units.saturating_add(1) }
    }

    /// Program operations that a block has room for.
    pub(super) fn programs_per_block(&self) -> u32 {
        self.pages_per_block / self.pages_per_unit
    }

    /// Where parts begin, in order; last where they all end.
    fn parts(&self) -> [u64; PARTS + 1] {
        let of = |count: u32, bytes: usize| u64::from(count) * bytes as u64;
        let pages = u64::from(self.blocks) * u64::from(self.pages_per_block);
        let records = u64::from(self.blocks) * u64::from(self.records_per_block);
        let table = of(self.user_units, 4);
        let log = of(self.log_records, LOG_ENTRY_BYTES);
        let area = [AREA_BYTES, table, log];
        let sizes = [HEAD_BYTES, of(self.blocks, BLOCK_BYTES), pages * PAGE_BYTES as u64]
            .into_iter()
            .chain([records * RECORD_BYTES as u64])
            .chain(area)
            .chain(area)
            .chain([of(self.hold_slots(), HOLD_BYTES)]);
        let mut begins = [0; PARTS + 1];
        let mut begin = 0;
        for (part, size) in sizes.enumerate() {
            begin += size.next_multiple_of(64);
            begins[part + 1] = begin;
        }
        begins
    }

    /// Whether a medium of this shape can be.
    ///
    /// # Errors
    /// [`MediumError::Shape`].
    pub fn validate(&self) -> Result<(), MediumError> {
        self.layout().map(drop)
    }

    /// Where a medium of this shape is loaded from when it is opened: its head, those of its system areas, and what a
    /// capacitor keeps.
    ///
    /// # Errors
    /// [`MediumError::Shape`].
    pub fn loaded_at_first(&self) -> Result<[Range<usize>; 4], MediumError> {
        let layout = self.layout()?;
        let [first, second] = layout.areas.map(|area| area.head..area.table);
        Ok([0..HEAD_BYTES as usize, first, second, layout.holds..layout.end])
    }

    /// Where everything lies.
    pub(super) fn layout(&self) -> Result<Layout, MediumError> {
        let counts = [
            ("blocks", self.blocks, 0, 1 << 24),
            ("pages per block", self.pages_per_block, 1, 1 << 14),
            ("pages per unit", self.pages_per_unit, 1, self.pages_per_block),
            ("records per block", self.records_per_block, 0, 1 << 20),
            ("user units", self.user_units, 0, u32::MAX - 1),
            ("log records", self.log_records, 0, 1 << 30),
            ("held units", self.held_units, 0, 1 << 30),
        ];
        for (what, value, least, most) in counts {
            if value < least || value > most {
                return Err(MediumError::Shape { what, value, least, most });
            }
        }
        let parts = self.parts().map(|begin| begin as usize);
        let area = |first: usize| Area { head: parts[first], table: parts[first + 1], log: parts[first + 2] };
        Ok(Layout {
            blocks: parts[1],
            pages: parts[2],
            records: parts[3],
            areas: [area(4), area(7)],
            holds: parts[10],
            end: parts[PARTS],
        })
    }
}

/// Parts of a medium: head, blocks, pages, records, two areas of three parts, held units.
const PARTS: usize = 11;

/// Where a system area's parts begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) head: usize,
    pub(super) table: usize,
    pub(super) log: usize,
}

/// Where parts begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) blocks: usize,
    pub(super) pages: usize,
    pub(super) records: usize,
    pub(super) areas: [Area; 2],
    pub(super) holds: usize,
    pub(super) end: usize,
}
