//! Units that a capacitor keeps through a power cut: written, acknowledged, and not in flash yet.

use super::Medium;
use super::error::MediumError;
use super::shape::HOLD_BYTES;
use super::state::{HoldEntry, Holds};
use super::words::{commit, load, store, wipe};

impl<B: AsRef<[u8]> + AsMut<[u8]>> Medium<B> {
    fn hold_at(&self, slot: u32) -> usize {
        self.layout.holds + slot as usize * HOLD_BYTES
    }

    fn hold_entry(&self, slot: u32) -> HoldEntry {
        let at = self.hold_at(slot);
        let word = load(self.bytes.as_ref(), at);
        let order = load(self.bytes.as_ref(), at + 8);
        HoldEntry { lpn: word as u32, cell: (word >> 32) as u32, order }
    }

    fn release(&mut self, slot: u32) {
        let at = self.hold_at(slot);
        commit(self.bytes.as_mut(), at + 8, 0);
        self.holds.free.push(slot);
    }

    /// Finds what is held. Of two versions of one unit, which a kill between two stores leaves, the newer one counts.
    pub(super) fn find_held(&mut self) {
        self.holds = Holds::default();
        for slot in (0..self.shape.hold_slots()).rev() {
            let entry = self.hold_entry(slot);
            if entry.order == 0 {
                self.holds.free.push(slot);
                continue;
            }
            self.holds.last_order = self.holds.last_order.max(entry.order);
            if let Some(other) = self.holds.slot_of.insert(entry.lpn, slot) {
                let is_older = self.hold_entry(other).order < entry.order;
                let (older, newer) = if is_older { (other, slot) } else { (slot, other) };
                self.holds.slot_of.insert(entry.lpn, newer);
                self.release(older);
            }
        }
    }

    /// A capacitor keeps a unit, instead of what it kept of it before.
    ///
    /// # Errors
    /// [`MediumError::HoldFull`].
    pub fn hold(&mut self, lpn: u32, cell: u32) -> Result<(), MediumError> {
        let held_units = self.shape.held_units;
        let older = self.holds.slot_of.get(&lpn).copied();
        let has_room = older.is_some() || self.holds.slot_of.len() < held_units as usize;
        let Some(slot) = has_room.then(|| self.holds.free.pop()).flatten() else {
            return Err(MediumError::HoldFull { held_units });
        };
        self.holds.last_order = self.holds.last_order.wrapping_add(1);
        let (at, order) = (self.hold_at(slot), self.holds.last_order);
        let bytes = self.bytes.as_mut();
        store(bytes, at, u64::from(lpn) | u64::from(cell) << 32);
        commit(bytes, at + 8, order);
        self.holds.slot_of.insert(lpn, slot);
        if let Some(older) = older {
            self.release(older);
        }
        Ok(())
    }

    /// A unit need not be kept any more; if a newer version of it is held, that one stays.
    pub fn unhold(&mut self, lpn: u32, cell: u32) {
        let slot = self.holds.slot_of.get(&lpn).copied();
        if let Some(slot) = slot.filter(|&slot| self.hold_entry(slot).cell == cell) {
            self.holds.slot_of.remove(&lpn);
            self.release(slot);
        }
    }

    /// Entries in order of holding.
    pub(super) fn held_entries(&self) -> Vec<HoldEntry> {
        let slots = (0..self.shape.hold_slots()).map(|slot| self.hold_entry(slot));
        let mut entries: Vec<_> = slots.filter(|entry| entry.order != 0).collect();
        entries.sort_by_key(|entry| entry.order);
        entries
    }

    pub(super) fn wipe_holds(&mut self) {
        let begin = self.layout.holds;
        wipe(self.bytes.as_mut(), begin..self.layout.end);
        self.find_held();
    }
}
