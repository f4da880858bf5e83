//! What content takes in flash.

use super::map::CompressedMap;
use crate::content::{Identity, UnitContent};
use crate::mapping::Stored;
impl CompressedMap {
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
}
