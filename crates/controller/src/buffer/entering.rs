//! How entries come into the buffer.

use drivelab_ftl::Stored;
use drivelab_nand::Lpn;
use drivelab_sim::Nanos;

use super::{Entry, EntryState, NONE, WriteBuffer, sector_bits};

impl WriteBuffer {
    /// Appends a unit. The caller has checked [`Self::has_space`], or grows the buffer on purpose.
    #[allow(clippy::inline_always, reason = "hot, and called by too many schemes to be inlined otherwise")]
    #[inline(always)]
    pub fn insert(
        &mut self,
        lpn: Lpn,
        now: Nanos,
        ready_ns: Nanos,
        waiter: u32,
        stored: Stored,
        sectors: u64,
    ) -> u32 {
        self.newest = lpn;
        let id = self.put((lpn, sectors, stored), (now, ready_ns), waiter, self.next_order);
        self.next_order += 1;
        self.used += 1;
        self.filled_sectors += self.space_of(sectors);
        self.queued += 1;
        self.queued_granules += u32::from(stored.granules);
        self.awaited += u32::from(waiter != NONE);
        match &mut self.clusters {
            Some(clusters) => clusters.insert(id, lpn, now),
            None => self.queue.push_back(id),
        }
        self.index.set(lpn.0, id);
        id
    }

    /// Appends whole units that follow one another, until one is here already or there is no space, `most` of them; how
    /// many. Of each, in order, `unit` says when it is ready and what it will take.
    #[inline]
    pub(crate) fn insert_new(
        &mut self,
        first: Lpn,
        most: u32,
        (now, waiter): (Nanos, u32),
        mut unit: impl FnMut(Lpn) -> (Nanos, Stored),
    ) -> u32 {
        let each = self.sectors_per_unit as u64;
        let space = self.limit_sectors.saturating_sub(self.filled_sectors) / each;
        let sectors = sector_bits(0, self.sectors_per_unit as u32);
        let (mut count, mut granules) = (0, 0);
        while u64::from(count) < space.min(u64::from(most)) {
            let lpn = Lpn(first.0 + count);
            if self.index.get(lpn.0).is_some() {
                break;
            }
            let (ready_ns, stored) = unit(lpn);
            let order = self.next_order + u64::from(count);
            let id = self.put((lpn, sectors, stored), (now, ready_ns), waiter, order);
            self.queue.push_back(id);
            self.index.add(lpn.0, id);
            granules += u32::from(stored.granules);
            count += 1;
        }
        if count > 0 {
            self.newest = Lpn(first.0 + count - 1);
        }
        self.next_order += u64::from(count);
        self.used += count;
        self.filled_sectors += u64::from(count) * each;
        self.queued += count;
        self.queued_granules += granules;
        self.awaited += if waiter == NONE { 0 } else { count };
        count
    }

    /// A waiting entry at a free place: what is counted of it is the caller's.
    #[allow(clippy::inline_always, reason = "hot, a part of functions that are inlined themselves")]
    #[inline(always)]
    fn put(
        &mut self,
        (lpn, sectors, stored): (Lpn, u64, Stored),
        (now, ready_ns): (Nanos, Nanos),
        waiter: u32,
        order: u64,
    ) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        self.entries[id as usize] = Entry {
            lpn,
            state: EntryState::Queued,
            ready_ns,
            inserted_ns: now,
            waiter,
            order,
            stored,
            sectors,
            was_partial: false,
        };
        id
    }

    fn grow(&mut self) -> u32 {
        let id = self.entries.len() as u32;
        self.entries.push(self.entries[0]);
        if let Some(stamps) = &mut self.stamps {
            stamps.resize(self.entries.len() * self.words_per_unit, 0);
        }
        self.index.reserve(self.entries.len() as u32);
        id
    }

    /// Appends a unit that was in flash before: every flush waits for it, also one that began earlier.
    pub fn insert_from_flash(&mut self, lpn: Lpn, now: Nanos, ready_ns: Nanos) -> u32 {
        let id = self.insert(lpn, now, ready_ns, NONE, Stored::PLAIN, u64::MAX);
        self.entries[id as usize].order = 0;
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_sim::Stream;

    /// A buffer into which units are put at once is the one into which they are put one by one.
    #[test]
    fn units_that_come_at_once_are_there_as_if_they_came_one_by_one() {
        let random = &mut Stream::new(1, 0);
        let (mut came_at_once, mut stopped_by_space, mut stopped_by_a_unit) = (0, 0, 0);
        for _ in 0..2000 {
            let mut one = WriteBuffer::new(1 + random.below(40) as u32, 8);
            for _ in 0..random.below(4) {
                if one.has_space(0xFF, None) {
                    one.insert(Lpn(random.below(60) as u32), 1, 2, NONE, Stored::PLAIN, 0xFF);
                }
            }
            let mut other = one.clone();
            let (first, most) = (random.below(60) as u32, random.below(50) as u32);
            let waiter = if random.below(2) == 0 { NONE } else { 7 };
            let of =
                |lpn: Lpn| (u64::from(lpn.0) * 10, Stored { granules: 1 + lpn.0 as u16 % 5, identity: None });
            let count = one.insert_new(Lpn(first), most, (100, waiter), of);
            for lpn in (first..first + count).map(Lpn) {
                assert!(other.has_space(0xFF, None) && other.find(lpn).is_none());
                let (ready_ns, stored) = of(lpn);
                other.insert(lpn, 100, ready_ns, waiter, stored, 0xFF);
            }
            if count < most {
                let next = Lpn(first + count);
                assert!(!other.has_space(0xFF, None) || other.find(next).is_some(), "room for {next:?}");
                stopped_by_space += u32::from(!other.has_space(0xFF, None));
                stopped_by_a_unit += u32::from(other.find(next).is_some());
            }
            came_at_once += count;
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
            one.check().unwrap();
        }
        assert!(came_at_once > 1000 && stopped_by_space > 100 && stopped_by_a_unit > 100);
    }
}
