//! Payload: containers of one map unit each, numbered from 1.

use std::ops::Range;

use drivelab_nand::SECTOR_BYTES;
use drivelab_nand::op::NO_CELL;

use crate::store_error::StoreError;

/// Bytes of a sector, in memory.
const SECTOR: usize = SECTOR_BYTES as usize;

/// Cells in bytes that may belong to a file.
#[derive(Clone, Debug)]
pub struct Cells<B> {
    bytes: B,
    cell_bytes: usize,
    count: u32,
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Cells<B> {
    /// As many cells of `cell_bytes` (whole sectors) as the bytes have room for.
    #[must_use]
    pub fn new(bytes: B, cell_bytes: u32) -> Self {
        let cell_bytes = cell_bytes.max(SECTOR_BYTES) as usize;
        let count = u32::try_from(bytes.as_ref().len() / cell_bytes).unwrap_or(u32::MAX);
        Self { bytes, cell_bytes, count }
    }

    /// Cells.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Where the bytes of cells lie.
    ///
    /// # Errors
    /// [`StoreError::Cell`].
    #[inline]
    pub fn place(&self, first: u32, count: u32) -> Result<Range<usize>, StoreError> {
        let end = u64::from(first) + u64::from(count);
        if first == NO_CELL || end > u64::from(self.count) + 1 {
            return Err(StoreError::Cell { first, end, count: self.count });
        }
        let begin = (first as usize - 1) * self.cell_bytes;
        Ok(begin..begin + count as usize * self.cell_bytes)
    }

    /// Where sectors of a cell lie.
    #[inline]
    pub(crate) fn sectors(&self, cell: u32, first: u32, count: u32) -> Result<Range<usize>, StoreError> {
        let place = self.place(cell, 1)?;
        let begin = first as usize * SECTOR;
        let end = begin + count as usize * SECTOR;
        if end > self.cell_bytes {
            return Err(StoreError::Sectors { first, count, sectors: (self.cell_bytes / SECTOR) as u32 });
        }
        Ok(place.start + begin..place.start + end)
    }

    /// The host's sectors come into a cell; its others are those of `base`, or zeros.
    ///
    /// # Errors
    /// A cell or sectors that aren't there.
    #[inline]
    pub fn fill(&mut self, cell: u32, base: u32, first: u32, data: &[u8]) -> Result<(), StoreError> {
        let target = self.sectors(cell, first, (data.len() / SECTOR) as u32)?;
        let whole = self.place(cell, 1)?;
        if base != cell && target != whole {
            let (before, after) = (whole.start..target.start, target.end..whole.end);
            if base == NO_CELL {
                let bytes = self.bytes.as_mut();
                bytes[before].fill(0);
                bytes[after].fill(0);
            } else {
                let from = self.place(base, 1)?;
                let bytes = self.bytes.as_mut();
                for part in [before, after] {
                    let offset = part.start - whole.start;
                    let length = part.len();
                    bytes.copy_within(from.start + offset..from.start + offset + length, part.start);
                }
            }
        }
        self.bytes.as_mut()[target].copy_from_slice(data);
        Ok(())
    }

    /// Sectors of a cell go to the host.
    ///
    /// # Errors
    /// A cell or sectors that aren't there.
    #[inline]
    pub fn send(&self, cell: u32, first: u32, data: &mut [u8]) -> Result<(), StoreError> {
        if cell == NO_CELL {
            data.fill(0);
        } else {
            let source = self.sectors(cell, first, (data.len() / SECTOR) as u32)?;
            data.copy_from_slice(&self.bytes.as_ref()[source]);
        }
        Ok(())
    }

    /// Cells are copied one by one.
    ///
    /// # Errors
    /// Cells that aren't there.
    pub fn copy(&mut self, from: u32, to: u32, count: u32) -> Result<(), StoreError> {
        let source = self.place(from, count)?;
        let target = self.place(to, count)?;
        self.bytes.as_mut().copy_within(source, target.start);
        Ok(())
    }

    /// Bytes become zeros.
    pub(crate) fn clear(&mut self, place: Range<usize>) {
        self.bytes.as_mut()[place].fill(0);
    }

    /// The bytes of all cells.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells() -> Cells<Vec<u8>> {
        let mut cells = Cells::new(vec![9; 3 * 2048], 2048);
        for cell in 1..=3u8 {
            cells.fill(u32::from(cell), NO_CELL, 0, &[cell; 2048]).unwrap();
        }
        cells
    }

    /// First byte of each sector.
    fn sectors(cells: &Cells<Vec<u8>>, cell: u32) -> Vec<u8> {
        let mut data = vec![0; 2048];
        cells.send(cell, 0, &mut data).unwrap();
        data.chunks(SECTOR).map(|sector| sector[0]).collect()
    }

    #[test]
    fn a_partial_write_keeps_the_rest_of_its_base() {
        let mut cells = cells();
        cells.fill(1, 2, 1, &[7; 1024]).unwrap();
        assert_eq!(sectors(&cells, 1), [2, 7, 7, 2]);
        cells.fill(1, 1, 3, &[8; 512]).unwrap();
        assert_eq!(sectors(&cells, 1), [2, 7, 7, 8]);
        cells.fill(1, NO_CELL, 0, &[5; 512]).unwrap();
        assert_eq!(sectors(&cells, 1), [5, 0, 0, 0]);
        cells.copy(2, 1, 2).unwrap();
        assert_eq!((sectors(&cells, 1), sectors(&cells, 2)), (vec![2; 4], vec![3; 4]));
    }

    #[test]
    fn cells_that_are_not_there_are_refused() {
        let mut cells = cells();
        let mut data = vec![1; 512];
        cells.send(NO_CELL, 99, &mut data).unwrap();
        assert_eq!(data, [0; 512]);
        assert_eq!(cells.send(4, 0, &mut data), Err(StoreError::Cell { first: 4, end: 5, count: 3 }));
        assert_eq!(cells.send(1, 4, &mut data), Err(StoreError::Sectors { first: 4, count: 1, sectors: 4 }));
        assert!(cells.fill(NO_CELL, 1, 0, &data).is_err());
        assert!(cells.fill(1, 4, 0, &data).is_err());
        assert!(cells.copy(2, 3, 2).is_err());
        assert!(cells.place(u32::MAX, u32::MAX).is_err());
    }
}
