//! Where units lie.

use std::fmt::Debug;

use drivelab_nand::{DieIndex, FlashArray, Lpn, Ppn, UnitLayout};
use serde::{Deserialize, Serialize};

/// Bytes of a map entry in flash: a place among 2^32, or a page (25 bits or so) and a place on it. Assumed.
pub const MAP_ENTRY_BYTES: u32 = 4;

/// A read of the map itself that must come before a unit can be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapFetch {
    /// Which piece of the map it is, as the scheme counts them.
    pub line: u32,
    /// Where that piece of the map lies.
    pub die: DieIndex,
    /// Its size.
    pub bytes: u32,
}

/// Where a mapping scheme has the units of the host.
pub trait Mapping: Clone + Debug + Send {
    /// Whether what changes the map may have to wait for pieces of it ([`Self::take_map_fetch`]).
    const LOADS_MAP_ON_DEMAND: bool = false;

    /// How places lie on pages: what the numbers of [`Self::lookup`] mean.
    fn layout(&self) -> &UnitLayout;

    /// The array, to look at.
    fn flash(&self) -> &FlashArray;

    /// Map units that the host can address.
    fn user_units(&self) -> u32;

    /// Sectors of a map unit.
    #[inline]
    fn sectors_per_unit(&self) -> u32 {
        self.layout().sectors_per_unit
    }

    /// Where a unit lies in flash, or `None` if it reads as zeros without looking there.
    fn lookup(&self, lpn: Lpn) -> Option<Ppn>;

    /// The read of the map that must come before anything is known of a unit, if only that it isn't mapped; its entry is
    /// in memory afterwards. None is needed where the scheme's directory of the map, which is always in memory, says that
    /// no unit around it was ever written.
    #[inline]
    fn fetch_map(&mut self, lpn: Lpn) -> Option<MapFetch> {
        let _ = lpn;
        None
    }

    /// The next read of the map that what has just been programmed or trimmed needs, and that it waits for.
    #[inline]
    fn take_map_fetch(&mut self) -> Option<MapFetch> {
        None
    }

    /// A piece of the map that is being read will be there then; the scheme only keeps the number.
    #[inline]
    fn note_map_arrival(&mut self, line: u32, at: u64) {
        let _ = (line, at);
    }

    /// When the map entry of a unit, if it is in memory, was or will be there.
    #[inline]
    fn map_arrival(&self, lpn: Lpn) -> u64 {
        let _ = lpn;
        0
    }

    /// How long the last [`Self::fetch_map`] takes that needs no flash: a map may lie in the host's memory.
    #[inline]
    fn map_trip_ns(&self) -> u64 {
        0
    }

    /// The page that a read of a unit senses: [`Self::lookup`], unless firmware reads what the host has trimmed.
    #[inline]
    fn sensed(&self, lpn: Lpn) -> Option<Ppn> {
        self.lookup(lpn)
    }

    /// Whether sensing the page of `first` brings `lpn` too, which follows the unit at `first` by `distance` units.
    fn is_on_page_of(&self, first: Ppn, distance: u32, lpn: Lpn) -> bool;

    /// Whether a place holds current data.
    fn is_valid(&self, ppn: Ppn) -> bool;

    /// Whether trims have an effect; otherwise they are accepted and ignored.
    #[inline]
    fn takes_trims(&self) -> bool {
        true
    }

    /// A range of units is about to be trimmed, each by [`Self::trim`].
    fn begin_trim(&mut self) {}

    /// The host does not need a unit any more.
    fn trim(&mut self, lpn: Lpn);

    /// Units of one extent were trimmed, each by [`Self::trim`], and some of them held something: that must reach
    /// flash. It is one update of the map: first unit and count instead of unit and place.
    fn note_trimmed_extent(&mut self) {}

    /// Frees every unit and erases every block that is not erased. Gives the most blocks erased on one die (they
    /// are erased one after another there, while dies work side by side) and the blocks erased in all.
    fn secure_erase(&mut self) -> (u32, u64);

    /// Brings the map entry of a unit into the processor's cache.
    #[inline]
    fn prefetch(&self, lpn: u64) {
        let _ = lpn;
    }

    /// Brings what a new place of a unit will change into the processor's cache: the books about its present place. Its map
    /// entry should be there by now.
    #[inline]
    fn prefetch_change(&self, lpn: Lpn) {
        let _ = lpn;
    }
}
