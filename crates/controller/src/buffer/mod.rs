//! The write buffer: map units on their way to flash, first in first out, found by LPN.

pub(crate) mod clusters;
mod entering;
mod entry;
mod index;
mod leaving;

use std::collections::VecDeque;

use drivelab_ftl::Stored;
use drivelab_nand::Lpn;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

pub use self::entry::{Dropped, Entry, EntryState};
pub use self::index::NONE;
use clusters::Clusters;
use index::UnitIndex;

/// The bits of `count` sectors from `first` on.
#[inline]
pub(crate) fn sector_bits(first: u32, count: u32) -> u64 {
    let bits = if count >= 64 { u64::MAX } else { (1 << count) - 1 };
    bits << first.min(63)
}

/// The buffer. What a read or write does takes constant time and allocates nothing; rewrite-in-place may push the
/// buffer beyond its capacity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WriteBuffer {
    entries: Vec<Entry>,
    free: Vec<u32>,
    queue: VecDeque<u32>,
    index: UnitIndex,
    capacity: u32,
    /// Sectors that fit: those of the capacity, less what is free and withheld.
    limit_sectors: u64,
    used: u32,
    /// Entries of word lines between two passes: they leave when others are programmed.
    held: u32,
    /// Those of them that a command waits for.
    held_awaited: u32,
    /// The unit that came last as a new entry.
    newest: Lpn,
    queued: u32,
    /// What the waiting entries will take in flash.
    queued_granules: u32,
    /// Waiting entries that a command waits for.
    awaited: u32,
    /// Sectors of space taken; data in page registers takes none.
    filled_sectors: u64,
    /// Waiting entries by superblock, instead of `queue`.
    clusters: Option<Clusters>,
    /// Entries whose rest came from flash.
    partial: u32,
    next_order: u64,
    sectors_per_unit: usize,
    words_per_unit: usize,
    stamps: Option<Vec<u64>>,
}

impl WriteBuffer {
    /// A buffer of `capacity` units.
    #[must_use]
    pub fn new(capacity: u32, sectors_per_unit: u32) -> Self {
        let unused = Entry {
            lpn: Lpn(0),
            state: EntryState::Free,
            ready_ns: 0,
            inserted_ns: 0,
            waiter: NONE,
            order: 0,
            stored: Stored::PLAIN,
            sectors: 0,
            was_partial: false,
        };
        Self {
            entries: vec![unused; capacity as usize],
            free: (0..capacity).rev().collect(),
            queue: VecDeque::with_capacity(capacity as usize),
            index: UnitIndex::new(capacity),
            capacity,
            limit_sectors: u64::from(capacity) * u64::from(sectors_per_unit),
            used: 0,
            held: 0,
            held_awaited: 0,
            newest: Lpn(0),
            queued: 0,
            queued_granules: 0,
            awaited: 0,
            filled_sectors: 0,
            clusters: None,
            partial: 0,
            next_order: 1,
            sectors_per_unit: sectors_per_unit as usize,
            words_per_unit: 0,
            stamps: None,
        }
    }

    /// Groups waiting units by superblock from now on, instead of keeping them in the order of arrival. Units of which
    /// the host has written only some sectors take space for those: the rest is fetched when they are programmed.
    pub(crate) fn cluster(&mut self, clusters: Option<Clusters>) {
        self.clusters = clusters;
    }

    /// The groups, if units are grouped.
    #[inline]
    pub(crate) fn clusters(&self) -> Option<&Clusters> {
        self.clusters.as_ref()
    }

    /// The groups, to choose one.
    #[inline]
    pub(crate) fn clusters_mut(&mut self) -> Option<&mut Clusters> {
        self.clusters.as_mut()
    }

    /// Keeps so many words of every unit from now on.
    pub fn keep_words(&mut self, words_per_unit: u32) {
        self.words_per_unit = words_per_unit as usize;
        self.stamps = Some(vec![0; self.entries.len() * self.words_per_unit]);
    }

    /// Space that the sectors of a mask take, as part of one unit.
    #[inline]
    fn space_of(&self, sectors: u64) -> u64 {
        if self.clusters.is_some() { u64::from(sectors.count_ones()) } else { self.sectors_per_unit as u64 }
    }

    /// Whether some sectors of a unit more fit; `into`: the entry that they would join.
    #[inline]
    #[must_use]
    pub fn has_space(&self, sectors: u64, into: Option<u32>) -> bool {
        let held = into.map(|id| self.entries[id as usize].sectors);
        let needed =
            held.map_or(self.space_of(sectors), |held| self.space_of(held | sectors) - self.space_of(held));
        self.filled_sectors + needed <= self.limit_sectors
    }

    /// Whether so many whole units more fit.
    #[inline]
    pub(crate) fn has_room_for(&self, units: u64) -> bool {
        self.filled_sectors + units * self.sectors_per_unit as u64 <= self.limit_sectors
    }

    /// Space of so many units that has become free is not given to anybody yet; of how many it is: a buffer that was pushed
    /// beyond its capacity has less.
    pub(crate) fn withhold(&mut self, units: u32) -> u32 {
        let free = self.limit_sectors.saturating_sub(self.filled_sectors) / self.sectors_per_unit as u64;
        let units = u64::from(units).min(free);
        self.limit_sectors -= units * self.sectors_per_unit as u64;
        units as u32
    }

    /// Units whose space is withheld.
    pub(crate) fn withheld(&self) -> u32 {
        self.capacity - (self.limit_sectors / self.sectors_per_unit as u64) as u32
    }

    /// Whether space is withheld.
    #[inline]
    pub(crate) fn withholds(&self) -> bool {
        self.limit_sectors < u64::from(self.capacity) * self.sectors_per_unit as u64
    }

    /// Space of so many units that was withheld may be used.
    pub(crate) fn give_back(&mut self, units: u32) {
        self.limit_sectors += u64::from(units) * self.sectors_per_unit as u64;
    }

    /// The host has written more sectors of a waiting unit, which are there at `ready_ns`.
    #[inline]
    pub fn join(&mut self, id: u32, sectors: u64, ready_ns: Nanos) {
        let held = self.entries[id as usize].sectors;
        self.filled_sectors += self.space_of(held | sectors) - self.space_of(held);
        let entry = &mut self.entries[id as usize];
        entry.sectors |= sectors;
        entry.ready_ns = entry.ready_ns.max(ready_ns);
    }

    /// The unit that came last as a new entry; any unit of a buffer that has never held one.
    #[inline]
    #[must_use]
    pub fn newest(&self) -> Lpn {
        self.newest
    }

    /// Whether nothing is on its way.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Whether nothing is on its way but what leaves with something else.
    #[inline]
    #[must_use]
    pub fn is_resting(&self) -> bool {
        self.used == self.held
    }

    /// These entries are on word lines between two passes from now on.
    pub(crate) fn hold(&mut self, ids: &[u32]) {
        self.held += ids.len() as u32;
        self.held_awaited += self.awaited_of(ids);
    }

    /// These entries are no longer on word lines between two passes.
    pub(crate) fn let_go(&mut self, ids: &[u32]) {
        self.held -= ids.len() as u32;
        self.held_awaited -= self.awaited_of(ids);
    }

    /// So many of these entries are waited for by a command.
    fn awaited_of(&self, ids: &[u32]) -> u32 {
        ids.iter().filter(|&&id| self.entries[id as usize].waiter != NONE).count() as u32
    }

    /// Entries on word lines between two passes, and those of them that a command waits for.
    pub(crate) fn held(&self) -> (u32, u32) {
        (self.held, self.held_awaited)
    }

    /// Units that wait for a page.
    #[inline]
    #[must_use]
    pub fn queued(&self) -> u32 {
        self.queued
    }

    /// What the waiting units will take in flash, in granules of the mapping scheme.
    #[inline]
    #[must_use]
    pub fn queued_granules(&self) -> u32 {
        self.queued_granules
    }

    /// A waiting unit was overwritten in place: it takes something else now.
    #[inline]
    pub fn restore(&mut self, id: u32, stored: Stored) {
        let entry = &mut self.entries[id as usize];
        debug_assert_eq!(entry.state, EntryState::Queued);
        self.queued_granules += u32::from(stored.granules);
        self.queued_granules -= u32::from(entry.stored.granules);
        entry.stored = stored;
    }

    /// Units that wait or are being programmed.
    #[must_use]
    pub fn live(&self) -> u32 {
        self.used
    }

    /// Whether a command waits for an entry that itself waits for a page.
    #[inline]
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.awaited > 0
    }

    /// The newest entry of an LPN.
    #[inline]
    #[must_use]
    pub fn find(&self, lpn: Lpn) -> Option<u32> {
        if self.used == 0 { None } else { self.index.get(lpn.0) }
    }

    /// An entry.
    #[inline]
    #[must_use]
    pub fn entry(&self, id: u32) -> &Entry {
        &self.entries[id as usize]
    }

    /// Order number that the next insertion will have.
    #[must_use]
    pub fn next_order(&self) -> u64 {
        self.next_order
    }

    /// The rest of an entry comes from flash: it is a partial one until its space is free again.
    #[inline]
    pub fn mark_partial(&mut self, id: u32) {
        self.entries[id as usize].was_partial = true;
        self.partial += 1;
    }

    /// An entry has been programmed, and stays only until it can be read: it is no partial one any more.
    pub(crate) fn mark_whole(&mut self, id: u32) {
        self.partial -= u32::from(std::mem::take(&mut self.entries[id as usize].was_partial));
    }

    /// Entries whose rest came from flash.
    #[inline]
    #[must_use]
    pub fn partial(&self) -> u32 {
        self.partial
    }

    /// The oldest waiting entry.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<u32> {
        self.queue.front().copied()
    }

    /// The entries that are used, in no order: of a unit there may be several, each newer than what is being programmed.
    pub(crate) fn used_entries(&self) -> impl Iterator<Item = (u32, &Entry)> {
        let numbered = self.entries.iter().enumerate().map(|(id, entry)| (id as u32, entry));
        numbered.filter(|(_, entry)| entry.state != EntryState::Free)
    }

    /// Recounts what is kept beside the entries.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check(&self) -> Result<(), String> {
        let (mut used, mut queued, mut granules, mut awaited, mut partial, mut filled) = (0, 0, 0, 0, 0, 0);
        for (id, entry) in self.entries.iter().enumerate() {
            if entry.state == EntryState::Free {
                continue;
            }
            used += 1;
            partial += u32::from(entry.was_partial);
            if entry.state != EntryState::InRegister {
                filled += self.space_of(entry.sectors);
            }
            if entry.state == EntryState::Queued {
                queued += 1;
                granules += u32::from(entry.stored.granules);
                awaited += u32::from(entry.waiter != NONE);
                let newest = self.index.get(entry.lpn.0);
                if newest.is_none_or(|newest| self.entries[newest as usize].lpn != entry.lpn) {
                    return Err(format!("entry {id} of the buffer waits and is not found by its LPN"));
                }
            }
        }
        let found = [used, queued, granules, awaited, partial];
        let kept = [self.used, self.queued, self.queued_granules, self.awaited, self.partial];
        if found != kept || filled != self.filled_sectors {
            return Err(format!(
                "the buffer's used, queued, granules, awaited, partial are {found:?} and {filled} sectors, its books say \
                 {kept:?} and {}",
                self.filled_sectors
            ));
        }
        if self.free.len() + used as usize != self.entries.len() {
            return Err(format!(
                "{} entries are free and {used} are used of {}",
                self.free.len(),
                self.entries.len()
            ));
        }
        if self.clusters.is_none() && self.queue.len() != queued as usize {
            return Err(format!("{queued} entries wait, {} are in the queue", self.queue.len()));
        }
        Ok(())
    }

    /// Stamps of an entry, if they are kept.
    #[must_use]
    pub fn stamps(&self, id: u32) -> Option<&[u64]> {
        let first = id as usize * self.words_per_unit;
        Some(&self.stamps.as_ref()?[first..first + self.words_per_unit])
    }

    /// Stamps of an entry, to write.
    pub fn stamps_mut(&mut self, id: u32) -> Option<&mut [u64]> {
        let first = id as usize * self.words_per_unit;
        Some(&mut self.stamps.as_mut()?[first..first + self.words_per_unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_in_first_out_and_trim_forgets() {
        let mut buffer = WriteBuffer::new(3, 8);
        for lpn in [5, 6, 7] {
            buffer.insert(Lpn(lpn), 0, 0, NONE, Stored::PLAIN, 0xFF);
        }
        assert!(!buffer.has_space(1, None));
        buffer.trim(Lpn(5));
        assert_eq!(buffer.find(Lpn(5)), None);
        let mut ids = [NONE; 2];
        assert_eq!(buffer.take_oldest(&mut ids, |entry| entry.lpn == Lpn(6)), 1);
        let id = ids[0];
        assert_eq!(buffer.entry(id).lpn, Lpn(6));
        assert_eq!(buffer.find(Lpn(6)), Some(id), "readable while it is programmed");
        assert!(!buffer.finish(&[id]), "no command waits for it");
        assert_eq!(buffer.find(Lpn(6)), None);
        assert_eq!(buffer.queued(), 1);
    }
}
