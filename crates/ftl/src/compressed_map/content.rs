//! What content takes in flash.

use drivelab_nand::Lpn;

use super::entry::{Extent, SHARED, TRIMMED};
use super::map::CompressedMap;
use crate::content::{Content, Identity, UnitContent};
use crate::mapping::{Contents, Stored};

impl Contents for CompressedMap {
    #[inline]
    fn read_bytes(&self, lpn: Lpn, _sectors: u32) -> u32 {
        let entry = self.map[lpn.0 as usize];
        let size = if entry & SHARED != 0 {
            self.duplicates.get(entry & !(SHARED | TRIMMED)).extent.size
        } else {
            Extent::of(self.extents[lpn.0 as usize]).size
        };
        u32::from(size) * self.config.granule_bytes
    }

    #[inline]
    fn read_bytes_beside(&self, previous: Lpn, lpn: Lpn, sectors: u32) -> u32 {
        let entry = self.map[lpn.0 as usize];
        if entry & SHARED != 0 && entry == self.map[previous.0 as usize] {
            0
        } else {
            self.read_bytes(lpn, sectors)
        }
    }

    #[inline]
    fn stored(&self, content: &Content, index: u32) -> Stored {
        let bytes =
            (u64::from(content.compressed_permille) * u64::from(self.config.unit_bytes)).div_ceil(1000);
        let granules = bytes.div_ceil(u64::from(self.config.granule_bytes)) as u32;
        Stored {
            granules: granules.clamp(1, self.shape.unit_granules) as u16,
            identity: content.identity(index),
        }
    }

    fn looks_at_content(&self) -> bool {
        true
    }

    fn stored_bytes(&mut self, content: UnitContent, is_whole: bool) -> Stored {
        self.stored_of(content, is_whole)
    }
}

impl CompressedMap {
    /// What real bytes take. Contents that come again are worth sharing, so a content is shared from the second time on
    /// that it is written, as long as it is remembered that long; zeros always.
    fn stored_of(&mut self, content: UnitContent, is_whole: bool) -> Stored {
        let granules = content.compressed_bytes.div_ceil(self.config.granule_bytes);
        let granules = granules.clamp(1, self.shape.unit_granules) as u16;
        let identity = Identity::of_hash(content.hash);
        let is_shared = is_whole
            && (content == UnitContent::ZEROS
                || self.duplicates.find(identity).is_some()
                || self.durable.as_mut().is_some_and(|durable| durable.has_seen(content.hash)));
        Stored { granules, identity: is_shared.then_some(identity) }
    }
}
