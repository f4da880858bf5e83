//! How entries leave the buffer: to flash, by trims, with the power.

use drivelab_nand::Lpn;
use drivelab_sim::sabotage::{self, Sabotage};

use super::{Dropped, Entry, EntryState, NONE, WriteBuffer};

impl WriteBuffer {
    /// Takes the oldest waiting entries, as long as `takes` wants the next and `ids` has room for it; they are being
    /// programmed now. How many.
    #[allow(clippy::inline_always, reason = "hot, and called by too many schemes to be inlined otherwise")]
    #[inline(always)]
    pub fn take_oldest(&mut self, ids: &mut [u32], mut takes: impl FnMut(&Entry) -> bool) -> usize {
        let (mut count, mut granules, mut awaited) = (0, 0, 0);
        for place in ids {
            let Some(&id) = self.queue.get(count) else { break };
            let entry = &mut self.entries[id as usize];
            if !takes(entry) {
                break;
            }
            *place = id;
            entry.state = EntryState::Programming;
            granules += u32::from(entry.stored.granules);
            awaited += u32::from(entry.waiter != NONE);
            count += 1;
        }
        // Of a page of one unit it would cost more than the page.
        if count == 1 {
            self.queue.pop_front();
        } else {
            self.queue.drain(..count);
        }
        self.queued -= count as u32;
        self.queued_granules -= granules;
        self.awaited -= awaited;
        count
    }

    #[inline]
    fn begin_programming(&mut self, id: u32) {
        self.entries[id as usize].state = EntryState::Programming;
        let entry = self.entries[id as usize];
        self.leave_queue(&entry);
    }

    /// Takes a waiting entry out of its group; it is being programmed now.
    #[inline]
    pub(crate) fn take(&mut self, id: u32) {
        if let Some(clusters) = &mut self.clusters {
            clusters.remove(id);
        }
        self.begin_programming(id);
    }

    /// A part of a superblock's entries was taken: the rest has waited since the first of it came.
    pub(crate) fn age_rest(&mut self, superblock: u32) {
        let Some(clusters) = &mut self.clusters else { return };
        let since = clusters.members(superblock).map(|id| self.entries[id as usize].inserted_ns).min();
        if let Some(since_ns) = since {
            clusters.age_rest(superblock, since_ns);
        }
    }

    /// An entry's data has moved to a page register. It stays readable here until it is programmed.
    #[inline]
    pub(crate) fn move_to_register(&mut self, id: u32) {
        self.entries[id as usize].state = EntryState::InRegister;
        self.filled_sectors -= self.space_of(self.entries[id as usize].sectors);
    }

    /// Entries are in flash: their space is free again. Whether a command waits for one of them.
    #[allow(clippy::inline_always, reason = "hot, and called by too many schemes to be inlined otherwise")]
    #[inline(always)]
    pub fn finish(&mut self, ids: &[u32]) -> bool {
        let mut is_awaited = false;
        for &id in ids {
            let entry = &self.entries[id as usize];
            is_awaited |= entry.waiter != NONE;
            self.index.remove_if(entry.lpn.0, id);
            if !sabotage::is(Sabotage::BufferLeaks) || id % 61 != 60 {
                self.release(id);
            }
        }
        is_awaited
    }

    /// A unit was trimmed: it is not found any more, and copies of it that still waited leave at once.
    /// Gives what is left of those. Takes time in proportion to the queue if there is one.
    pub fn trim(&mut self, lpn: Lpn) -> Vec<Dropped> {
        let mut waited = Vec::new();
        let Some(id) = self.find(lpn) else { return waited };
        self.index.remove_if(lpn.0, id);
        if self.clusters.is_some() {
            self.trim_cluster(lpn, &mut waited);
            return waited;
        }
        let mut queue = std::mem::take(&mut self.queue);
        queue.retain(|&queued| {
            if self.entries[queued as usize].lpn != lpn {
                return true;
            }
            waited.push(self.drop_queued(queued));
            false
        });
        self.queue = queue;
        waited
    }

    /// As [`Self::trim`], where units are grouped.
    fn trim_cluster(&mut self, lpn: Lpn, waited: &mut Vec<Dropped>) {
        let Some(clusters) = &self.clusters else { return };
        let mut members: Vec<u32> = clusters.members_with(lpn).collect();
        members.retain(|&id| self.entries[id as usize].lpn == lpn);
        for id in members {
            if let Some(clusters) = &mut self.clusters {
                clusters.remove(id);
            }
            waited.push(self.drop_queued(id));
        }
    }

    /// Forgets an entry that waited.
    fn drop_queued(&mut self, id: u32) -> Dropped {
        let entry = self.entries[id as usize];
        self.leave_queue(&entry);
        self.release(id);
        let word = self.stamps(id).and_then(|words| words.first()).copied().unwrap_or(0);
        let all = self.sectors_per_unit as u32;
        // Of a larger unit bits say nothing.
        let sectors = if all > u64::BITS { all } else { entry.sectors.count_ones() };
        Dropped { waiter: entry.waiter, order: entry.order, word, sectors }
    }

    /// An entry waits no longer.
    #[inline]
    fn leave_queue(&mut self, entry: &Entry) {
        self.awaited -= u32::from(entry.waiter != NONE);
        self.queued -= 1;
        self.queued_granules -= u32::from(entry.stored.granules);
    }

    /// The commands that wait for entries; they wait no longer.
    pub(crate) fn take_waiters(&mut self) -> Vec<u32> {
        let mut waiters = Vec::new();
        self.held_awaited = 0;
        for entry in self.entries.iter_mut().filter(|entry| entry.state != EntryState::Free) {
            if entry.waiter != NONE {
                self.awaited -= u32::from(entry.state == EntryState::Queued);
                waiters.push(std::mem::replace(&mut entry.waiter, NONE));
            }
        }
        waiters
    }

    /// Forgets everything (secure erase).
    pub fn clear(&mut self) {
        let mut fresh = Self::new(self.capacity, self.sectors_per_unit as u32);
        fresh.clusters = self.clusters.take();
        if let Some(clusters) = &mut fresh.clusters {
            clusters.clear();
        }
        let words = self.stamps.is_some().then_some(self.words_per_unit);
        *self = fresh;
        if let Some(words) = words {
            self.keep_words(words as u32);
        }
    }

    #[inline]
    fn release(&mut self, id: u32) {
        let state = std::mem::replace(&mut self.entries[id as usize].state, EntryState::Free);
        if state != EntryState::InRegister {
            self.filled_sectors -= self.space_of(self.entries[id as usize].sectors);
        }
        self.partial -= u32::from(self.entries[id as usize].was_partial);
        self.used -= 1;
        self.free.push(id);
    }
}
