//! Lines of the map that the controller's memory holds. The one that was used least recently makes room.
//!
//! What is kept is whole lines, not single entries as in the cached mapping table of [DFTL]: the unit of reading and
//! writing is the line anyway, neighbours come for nothing, and what is written back is whole, so that no line is read
//! again when it leaves. The price is memory where entries far apart are used one at a time.

use serde::{Deserialize, Serialize};

/// The line is in no slot; there is no slot.
const NONE: u32 = u32::MAX;

/// A line in memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Slot {
    line: u32,
    newer: u32,
    older: u32,
    is_changed: bool,
    /// When it has been read, as the controller said.
    arrives_at: u64,
}

/// What came of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// The line is in memory.
    Hit,
    /// It wasn't, and has taken the place of another that had changed.
    Miss { changed: Option<u32> },
}

/// Slots in the order of their last use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LineCache {
    /// Per line: its slot + 1; 0: it isn't in memory. (Zero, so that the memory of a new drive is never touched.)
    slot_of: Vec<u32>,
    slots: Vec<Slot>,
    newest: u32,
    oldest: u32,
    /// Slots whose lines are gone, by `older`.
    unused: u32,
    capacity: u32,
}

impl LineCache {
    /// Nothing of so many lines is in memory, which has room for `capacity`, at least one.
    pub fn new(capacity: u32, lines: u32) -> Self {
        let capacity = capacity.min(lines).max(1);
        Self {
            slot_of: vec![0; lines as usize],
            slots: Vec::with_capacity(capacity as usize),
            newest: NONE,
            oldest: NONE,
            unused: NONE,
            capacity,
        }
    }

    /// Lines that there is room for.
    #[inline]
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// The slot of a line, or [`NONE`].
    #[inline]
    fn slot_of(&self, line: u32) -> u32 {
        self.slot_of[line as usize].wrapping_sub(1)
    }

    /// Brings a line into memory, if it isn't there, and makes it the one used last.
    #[inline]
    pub fn touch(&mut self, line: u32, changes: bool) -> Use {
        let slot = self.slot_of(line);
        if slot != NONE {
            if slot != self.newest {
                self.unlink(slot);
                self.link(slot);
            }
            self.slots[slot as usize].is_changed |= changes;
            return Use::Hit;
        }
        let (slot, changed) = self.room();
        self.slots[slot as usize] =
            Slot { line, newer: NONE, older: NONE, is_changed: changes, arrives_at: 0 };
        self.slot_of[line as usize] = slot + 1;
        self.link(slot);
        Use::Miss { changed }
    }

    /// A slot for another line, and the line that had changed which leaves it.
    fn room(&mut self) -> (u32, Option<u32>) {
        if self.unused != NONE {
            let slot = self.unused;
            self.unused = self.slots[slot as usize].older;
            return (slot, None);
        }
        if (self.slots.len() as u32) < self.capacity {
            let slot = self.slots.len() as u32;
            self.slots.push(Slot { line: NONE, newer: NONE, older: NONE, is_changed: false, arrives_at: 0 });
            return (slot, None);
        }
        let slot = self.oldest;
        self.unlink(slot);
        let Slot { line, is_changed, .. } = self.slots[slot as usize];
        self.slot_of[line as usize] = 0;
        (slot, is_changed.then_some(line))
    }

    /// Nothing of a line is mapped any more.
    pub fn forget(&mut self, line: u32) {
        let slot = std::mem::take(&mut self.slot_of[line as usize]).wrapping_sub(1);
        if slot != NONE {
            self.unlink(slot);
            self.slots[slot as usize].older = self.unused;
            self.unused = slot;
        }
    }

    /// A line that is being read will be there then.
    #[inline]
    pub fn arrives(&mut self, line: u32, at: u64) {
        let slot = self.slot_of(line);
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.arrives_at = at;
        }
    }

    /// When a line in memory was or will be there; 0 if it isn't in memory, or was never read.
    #[inline]
    pub fn arrival(&self, line: u32) -> u64 {
        self.slots.get(self.slot_of(line) as usize).map_or(0, |slot| slot.arrives_at)
    }

    #[inline]
    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match self.slots.get_mut(newer as usize) {
            Some(other) => other.older = older,
            None => self.newest = older,
        }
        match self.slots.get_mut(older as usize) {
            Some(other) => other.newer = newer,
            None => self.oldest = newer,
        }
    }

    #[inline]
    fn link(&mut self, slot: u32) {
        let older = std::mem::replace(&mut self.newest, slot);
        let own = &mut self.slots[slot as usize];
        (own.older, own.newer) = (older, NONE);
        match self.slots.get_mut(older as usize) {
            Some(other) => other.newer = slot,
            None => self.oldest = slot,
        }
    }

    /// Recounts the books.
    pub fn check(&self) -> Result<(), String> {
        let (mut linked, mut slot, mut newer) = (0, self.newest, NONE);
        while let Some(found) = self.slots.get(slot as usize) {
            if found.newer != newer || self.slot_of(found.line) != slot {
                return Err(format!("slot {slot} of the map's cache is not where it should be: {found:?}"));
            }
            linked += 1;
            (newer, slot) = (slot, found.older);
        }
        let there = self.slot_of.iter().filter(|&&slot| slot != 0).count();
        if linked != there || there > self.capacity as usize || self.oldest != newer {
            return Err(format!(
                "the map's cache holds {there} lines of {}, and {linked} in order",
                self.capacity
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use drivelab_sim::Stream;

    use super::*;

    /// Lines with the time of their last use, and whether they have changed. The oldest is looked for among all.
    #[derive(Default)]
    struct Plain {
        lines: HashMap<u32, (u64, bool)>,
        now: u64,
    }

    impl Plain {
        fn touch(&mut self, line: u32, changes: bool, capacity: usize) -> Use {
            self.now += 1;
            if let Some((used, changed)) = self.lines.get_mut(&line) {
                (*used, *changed) = (self.now, *changed || changes);
                return Use::Hit;
            }
            let mut left = None;
            if self.lines.len() == capacity {
                let oldest = *self.lines.iter().min_by_key(|(_, (used, _))| *used).unwrap().0;
                let (_, changed) = self.lines.remove(&oldest).unwrap();
                left = changed.then_some(oldest);
            }
            self.lines.insert(line, (self.now, changes));
            Use::Miss { changed: left }
        }
    }

    #[test]
    fn every_use_is_what_a_plain_table_says() {
        for seed in 0..200 {
            let mut random = Stream::new(seed, 1);
            let lines = 1 + random.below(60) as u32;
            let capacity = 1 + random.below(20) as u32;
            let mut cache = LineCache::new(capacity, lines);
            let mut plain = Plain::default();
            for _ in 0..600 {
                // Half of them are near one another.
                let spread = if random.below(2) == 0 { lines } else { lines.div_ceil(4) };
                let line = random.below(u64::from(spread)) as u32;
                if random.below(20) == 0 {
                    cache.forget(line);
                    plain.lines.remove(&line);
                } else {
                    let changes = random.below(3) == 0;
                    let expected = plain.touch(line, changes, cache.capacity() as usize);
                    assert_eq!(cache.touch(line, changes), expected, "seed {seed}, line {line}");
                }
                cache.check().unwrap();
            }
        }
    }

    #[test]
    fn what_is_being_read_arrives_unless_it_has_left() {
        let mut cache = LineCache::new(1, 4);
        cache.touch(2, false);
        cache.arrives(2, 70);
        assert_eq!((cache.arrival(2), cache.arrival(3)), (70, 0));
        cache.touch(3, false);
        cache.arrives(2, 90);
        assert_eq!((cache.arrival(2), cache.arrival(3)), (0, 0), "another has its place");
    }
}
