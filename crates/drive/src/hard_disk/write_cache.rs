//! The cache of writes: extents that wait for the heads.
//!
//! An extent is what one positioning writes. A write that continues a waiting extent joins it, one that lies inside
//! replaces its data there, everything else is an extent of its own. How many extents the cache keeps track of is how
//! many the scheduler can choose among.

use super::geometry::Place;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

/// No command waits.
pub(crate) const NOBODY: u32 = u32::MAX;

/// Consecutive sectors that are not on the media yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Extent {
    pub lba: u64,
    pub sectors: u32,
    /// Of all accesses, reads included: lower came earlier.
    pub order: u64,
    pub arrived_ns: Nanos,
    /// Command that is done only when this is on the media, or `NOBODY`.
    pub waiter: u32,
    /// A flush waits for it: nothing joins any more.
    pub sealed: bool,
    /// The heads are at it.
    pub active: bool,
    /// Place of `lba`.
    pub place: Place,
    /// One stamp per sector, if stamps are kept.
    pub stamps: Vec<u64>,
}

impl Extent {
    #[inline]
    pub fn end(&self) -> u64 {
        self.lba + u64::from(self.sectors)
    }

    #[inline]
    pub fn overlaps(&self, lba: u64, end: u64) -> bool {
        self.lba < end && lba < self.end()
    }
}

/// What becomes of data that enters the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Continues this extent.
    Join(usize),
    /// Lies inside this extent.
    Replace(usize),
    /// Is an extent of its own.
    New,
}

/// All extents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WriteCache {
    extents: Vec<Extent>,
    extents_max: usize,
    sectors_max: u64,
    /// Claimed sectors: of extents, and of data on its way over the link.
    sectors: u64,
    /// Extents claimed for data on its way.
    coming: usize,
}

impl WriteCache {
    pub fn new(extents_max: u32, sectors_max: u64, queue_depth: u32) -> Self {
        // Data on its way that was to join an extent may find it gone.
        let room = extents_max as usize + queue_depth as usize + 1;
        Self {
            extents: Vec::with_capacity(room),
            extents_max: extents_max as usize,
            sectors_max,
            sectors: 0,
            coming: 0,
        }
    }

    /// Sectors that are held or on their way over the link.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    #[inline]
    pub fn extents(&self) -> &[Extent] {
        &self.extents
    }

    #[inline]
    pub fn extent_mut(&mut self, index: usize) -> &mut Extent {
        &mut self.extents[index]
    }

    /// What data at `lba..end` becomes; `alone`: a command waits for it.
    #[inline]
    pub fn fit(&self, lba: u64, end: u64, alone: bool) -> Fit {
        let (mut touched, mut joins, mut inside) = (0, None, None);
        for (index, extent) in self.extents.iter().enumerate() {
            if extent.overlaps(lba, end) {
                touched += 1;
                let free = !extent.active && extent.waiter == NOBODY;
                if free && extent.lba <= lba && end <= extent.end() {
                    inside = Some(index);
                }
            } else if extent.end() == lba && !extent.sealed && extent.waiter == NOBODY {
                joins = Some(index);
            }
        }
        match (touched, joins, inside) {
            _ if alone => Fit::New,
            (0, Some(index), _) => Fit::Join(index),
            (1, _, Some(index)) => Fit::Replace(index),
            _ => Fit::New,
        }
    }

    /// Room for at most this many sectors that need an extent of their own, or not.
    #[inline]
    pub fn room(&self, sectors: u32, needs_extent: bool) -> bool {
        self.sectors + u64::from(sectors) <= self.sectors_max
            && !(needs_extent && self.extents.len() + self.coming >= self.extents_max)
    }

    /// Claims room for data that is on its way.
    #[inline]
    pub fn claim(&mut self, sectors: u32, needs_extent: bool) {
        self.sectors += u64::from(sectors);
        self.coming += usize::from(needs_extent);
    }

    /// Data has arrived for which an extent was claimed.
    #[inline]
    pub fn arrived(&mut self, claimed_extent: bool) {
        self.coming -= usize::from(claimed_extent);
    }

    #[inline]
    pub fn push(&mut self, extent: Extent) {
        self.extents.push(extent);
    }

    /// Gives back the room of sectors that have left, or of data that replaced older.
    #[inline]
    pub fn release(&mut self, sectors: u32) {
        self.sectors -= u64::from(sectors);
    }

    /// Takes an extent out.
    #[inline]
    pub fn remove(&mut self, index: usize) -> Extent {
        self.extents.swap_remove(index)
    }

    /// The extent that the heads are at.
    #[inline]
    pub fn active(&self) -> Option<usize> {
        self.extents.iter().position(|extent| extent.active)
    }

    /// Of extents that overlap this one, the oldest, if it is older: it must reach the media before.
    #[inline]
    pub fn before(&self, index: usize) -> usize {
        let mut first = index;
        loop {
            let this = &self.extents[first];
            let older = |(_, other): &(usize, &Extent)| {
                other.order < this.order && other.overlaps(this.lba, this.end())
            };
            let oldest = self.extents.iter().enumerate().filter(older).min_by_key(|(_, other)| other.order);
            match oldest {
                Some((other, _)) => first = other,
                None => return first,
            }
        }
    }

    /// Whether one extent holds all of `lba..end`, and no other any of it.
    #[inline]
    pub fn holds(&self, lba: u64, end: u64) -> bool {
        let mut touched = self.extents.iter().filter(|extent| extent.overlaps(lba, end));
        let inside = touched.next().is_some_and(|extent| extent.lba <= lba && end <= extent.end());
        inside && touched.next().is_none()
    }

    /// Puts the stamps of waiting data over those from the media, older first.
    pub fn overlay(&self, lba: u64, stamps: &mut [u64]) {
        let end = lba + stamps.len() as u64;
        let mut touched: Vec<&Extent> =
            self.extents.iter().filter(|extent| extent.overlaps(lba, end)).collect();
        touched.sort_unstable_by_key(|extent| extent.order);
        for extent in touched {
            for sector in extent.lba.max(lba)..extent.end().min(end) {
                stamps[(sector - lba) as usize] = extent.stamps[(sector - extent.lba) as usize];
            }
        }
    }

    /// Extents that commands wait for.
    pub fn awaited(&self) -> usize {
        self.extents.iter().filter(|extent| extent.waiter != NOBODY).count()
    }

    /// A flush waits for everything that is here: how many extents that is.
    pub fn seal(&mut self) -> u32 {
        for extent in &mut self.extents {
            extent.sealed = true;
        }
        self.extents.len() as u32
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.extents.clear();
        self.sectors = 0;
        self.coming = 0;
    }

    /// Recounts; `coming_sectors` are on their way.
    pub fn check(&self, coming_sectors: u64) -> Result<(), String> {
        let held: u64 = self.extents.iter().map(|extent| u64::from(extent.sectors)).sum();
        if held + coming_sectors != self.sectors {
            return Err(format!(
                "the write cache holds {held} + {coming_sectors} sectors, its book says {}",
                self.sectors
            ));
        }
        if self.sectors > self.sectors_max {
            return Err(format!(
                "the write cache holds {} sectors, more than {}",
                self.sectors, self.sectors_max
            ));
        }
        if self.extents.iter().filter(|extent| extent.active).count() > 1 {
            return Err("the heads are at two extents".to_owned());
        }
        Ok(())
    }
}
