//! What a unit takes in flash.

use std::ops::Range;

use drivelab_nand::{Lpn, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

use crate::content::{Content, Identity, UnitContent};

/// What of a buffered unit's content matters to the scheme that stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Room that it takes on a page, in the scheme's granules (`LogMapping::page_granules`); 1 or more.
    pub granules: u16,
    /// Which content it is a copy of, if the scheme stores copies once.
    pub identity: Option<Identity>,
}

impl Stored {
    /// A unit of a scheme that looks at no content.
    pub const PLAIN: Self = Self { granules: 1, identity: None };
}

/// What a mapping scheme makes of the content of units. What is provided here looks at none.
pub trait Contents {
    /// Whether the content of writes matters at all.
    fn looks_at_content(&self) -> bool {
        false
    }

    /// Whether hints of the host matter.
    #[inline]
    fn takes_hints(&self) -> bool {
        false
    }

    /// The host begins to write these units, with this hint.
    fn note_hint(&mut self, units: Range<u32>, hint: u8) {
        let _ = (units, hint);
    }

    /// What the `index`-th unit of a write takes in flash.
    #[inline]
    fn stored(&self, content: &Content, index: u32) -> Stored {
        let _ = (content, index);
        Stored::PLAIN
    }

    /// What a unit of these bytes takes in flash. `is_whole`: they are all of the unit's; what is mixed with older bytes
    /// is a copy of nothing.
    fn stored_bytes(&mut self, content: UnitContent, is_whole: bool) -> Stored {
        let _ = (content, is_whole);
        Stored::PLAIN
    }

    /// Bytes that the bus carries to read `sectors` sectors of a unit: what is stored compressed is read whole.
    #[inline]
    fn read_bytes(&self, lpn: Lpn, sectors: u32) -> u32 {
        let _ = lpn;
        sectors * SECTOR_BYTES
    }

    /// Bytes that the bus carries for a unit beyond those of `previous`, which is read with it from the same page:
    /// none if both are the same fragment.
    #[inline]
    fn read_bytes_beside(&self, previous: Lpn, lpn: Lpn, sectors: u32) -> u32 {
        let _ = previous;
        self.read_bytes(lpn, sectors)
    }
}
