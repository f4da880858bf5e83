//! Which entry of the write buffer holds a map unit. A general map hashes and probes at twice the cost, three times
//! per write.

use serde::{Deserialize, Serialize};

/// No entry, no command.
pub const NONE: u32 = u32::MAX;

/// An entry in the index.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Link {
    lpn: u32,
    /// The entry behind it at the same place; [`NONE`]: it is the last.
    next: u32,
}

/// LPN -> entry: places with a chain of entries each, four times as many as there are entries, so that a chain mostly has
/// one. An entry leaves its chain without a look at others, where open addressing would have to move what lies behind it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnitIndex {
    /// The first entry of every place; [`NONE`]: there is none.
    heads: Vec<u32>,
    /// By entry.
    links: Vec<Link>,
}

impl UnitIndex {
    /// An index for `capacity` entries.
    pub(crate) fn new(capacity: u32) -> Self {
        let places = (capacity.max(4) * 4).next_power_of_two();
        Self {
            heads: vec![NONE; places as usize],
            links: vec![Link { lpn: 0, next: NONE }; capacity as usize],
        }
    }

    #[inline]
    fn place_of(&self, lpn: u32) -> usize {
        (lpn.wrapping_mul(0x9E37_79B1) >> 7) as usize & (self.heads.len() - 1)
    }

    /// The entry of an LPN.
    #[inline]
    pub(crate) fn get(&self, lpn: u32) -> Option<u32> {
        let mut id = self.heads[self.place_of(lpn)];
        while id != NONE {
            let link = self.links[id as usize];
            if link.lpn == lpn {
                return Some(id);
            }
            id = link.next;
        }
        None
    }

    /// The entry of an LPN is this one now.
    #[inline]
    pub(crate) fn set(&mut self, lpn: u32, id: u32) {
        if let Some(old) = self.get(lpn) {
            self.remove_if(lpn, old);
        }
        self.add(lpn, id);
    }

    /// The same of an LPN that has none.
    #[inline]
    pub(crate) fn add(&mut self, lpn: u32, id: u32) {
        let place = self.place_of(lpn);
        self.links[id as usize] = Link { lpn, next: self.heads[place] };
        self.heads[place] = id;
    }

    /// Forgets an LPN if its entry is still this one.
    #[inline]
    pub(crate) fn remove_if(&mut self, lpn: u32, id: u32) {
        let place = self.place_of(lpn);
        if self.heads[place] == id {
            self.heads[place] = self.links[id as usize].next;
        } else {
            self.remove_behind(place, id);
        }
    }

    /// The same of one that isn't the first of its place.
    #[cold]
    #[inline(never)]
    fn remove_behind(&mut self, place: usize, id: u32) {
        let mut before = self.heads[place];
        while before != NONE {
            let next = self.links[before as usize].next;
            if next == id {
                self.links[before as usize].next = self.links[id as usize].next;
                return;
            }
            before = next;
        }
    }

    /// Grows the index for so many entries.
    pub(crate) fn reserve(&mut self, entries: u32) {
        if entries as usize * 4 <= self.heads.len() {
            self.links.resize(self.links.len().max(entries as usize), Link { lpn: 0, next: NONE });
            return;
        }
        // Twice as many, or every entry more would make all places anew.
        let old = std::mem::replace(self, Self::new(entries * 2));
        for &head in &old.heads {
            let mut id = head;
            while id != NONE {
                let link = old.links[id as usize];
                self.add(link.lpn, id);
                id = link.next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn index_agrees_with_a_plain_map(steps in prop::collection::vec((any::<bool>(), 0u32..40), 1..400)) {
            let mut index = UnitIndex::new(4);
            let mut plain = BTreeMap::new();
            for (id, (insert, lpn)) in steps.into_iter().enumerate() {
                // Multiples that collide in the low bits.
                let lpn = lpn << 20;
                index.reserve(id as u32 + 1);
                if insert {
                    index.set(lpn, id as u32);
                    if let Some(before) = plain.insert(lpn, id as u32) {
                        // It has been replaced, and leaves later.
                        index.remove_if(lpn, before);
                    }
                } else if let Some(id) = plain.remove(&lpn) {
                    index.remove_if(lpn, id);
                }
                for key in 0..40u32 {
                    prop_assert_eq!(index.get(key << 20), plain.get(&(key << 20)).copied());
                }
            }
        }
    }
}
