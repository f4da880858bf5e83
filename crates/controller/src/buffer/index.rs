//! Which entry of the write buffer holds a map unit. A general map hashes and probes at twice the cost, three times
//! per write.

/// No entry, no command.
pub const NONE: u32 = u32::MAX;

/// LPN -> entry: open addressing, linear probing, at most a quarter full (fuller ones look further, by a distance that
/// no processor can foresee), removal by shifting back.
#[derive(Clone, Debug)]
pub(crate) struct UnitIndex {
    /// LPN + 1 above (0: empty), entry below.
    slots: Vec<u64>,
    mask: u32,
    used: u32,
}

impl UnitIndex {
    /// An index that never has to grow below `capacity` entries.
    pub(crate) fn new(capacity: u32) -> Self {
        let size = (capacity.max(4) * 4).next_power_of_two();
        Self { slots: vec![0; size as usize], mask: size - 1, used: 0 }
    }

    #[inline]
    fn home(&self, lpn: u32) -> u32 {
        (lpn.wrapping_mul(0x9E37_79B1) >> 7) & self.mask
    }

    #[inline]
    fn slot_of(&self, lpn: u32) -> (u32, bool) {
        let mut slot = self.home(lpn);
        loop {
            let word = self.slots[slot as usize];
            if word == 0 {
                return (slot, false);
            }
            if word >> 32 == u64::from(lpn) + 1 {
                return (slot, true);
            }
            slot = (slot + 1) & self.mask;
        }
    }

    /// The entry of an LPN.
    #[inline]
    pub(crate) fn get(&self, lpn: u32) -> Option<u32> {
        let (slot, found) = self.slot_of(lpn);
        found.then(|| self.slots[slot as usize] as u32)
    }

    /// The entry of an LPN is this one now.
    #[inline]
    pub(crate) fn set(&mut self, lpn: u32, id: u32) {
        let (slot, found) = self.slot_of(lpn);
        self.slots[slot as usize] = (u64::from(lpn) + 1) << 32 | u64::from(id);
        self.used += u32::from(!found);
    }

    /// Forgets an LPN if its entry is still this one.
    #[inline]
    pub(crate) fn remove_if(&mut self, lpn: u32, id: u32) {
        let (mut hole, found) = self.slot_of(lpn);
        if !found || self.slots[hole as usize] as u32 != id {
            return;
        }
        self.used -= 1;
        let mut next = (hole + 1) & self.mask;
        while self.slots[next as usize] != 0 {
            let home = self.home(((self.slots[next as usize] >> 32) - 1) as u32);
            // Move back unless that would put it before its home slot.
            if (next.wrapping_sub(home) & self.mask) >= (next.wrapping_sub(hole) & self.mask) {
                self.slots[hole as usize] = self.slots[next as usize];
                hole = next;
            }
            next = (next + 1) & self.mask;
        }
        self.slots[hole as usize] = 0;
    }

    /// Grows the index for so many entries.
    pub(crate) fn reserve(&mut self, entries: u32) {
        if entries * 4 <= self.mask {
            return;
        }
        let old = std::mem::replace(self, Self::new(entries));
        for word in old.slots.into_iter().filter(|&word| word != 0) {
            self.set(((word >> 32) - 1) as u32, word as u32);
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
            let mut index = UnitIndex::new(64);
            let mut plain = BTreeMap::new();
            for (id, (insert, lpn)) in steps.into_iter().enumerate() {
                // Multiples that collide in the low bits.
                let lpn = lpn << 20;
                if insert {
                    index.set(lpn, id as u32);
                    plain.insert(lpn, id as u32);
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
