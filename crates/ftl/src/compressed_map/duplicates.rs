//! Contents that exist more than once: stored as one shared fragment with a count of the map entries that refer to it.

use drivelab_nand::Ppn;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::entry::{Extent, TRIMMED};
use super::fragments::Key;
use crate::content::Identity;

/// A shared fragment.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Shared {
    /// Its page.
    pub page: Ppn,
    /// Its room on the page.
    pub extent: Extent,
    /// Map entries that refer to it. At zero it is outdated.
    pub references: u32,
    /// What it is a copy of.
    pub identity: Identity,
}

/// The table of shared fragments.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Duplicates {
    table: Vec<Shared>,
    /// Asked, never gone through: what order a hash gives is seen nowhere.
    by_identity: FxHashMap<Identity, u32>,
    /// Unused numbers of the table.
    free: Vec<u32>,
    /// Numbers that became unused since the last page was begun. Outdated keys of them lie on that page, so they must
    /// not be given to another fragment of the same page.
    freed: Vec<u32>,
}

impl Duplicates {
    /// A page is begun: it holds no fragment yet, so every unused number may be given to one.
    #[inline]
    pub fn begin_page(&mut self) {
        self.free.append(&mut self.freed);
    }

    /// The number of the fragment that holds a content.
    #[inline]
    pub fn find(&self, identity: Identity) -> Option<u32> {
        self.by_identity.get(&identity).copied()
    }

    /// A fragment by its number.
    #[inline]
    pub fn get(&self, id: u32) -> &Shared {
        &self.table[id as usize]
    }

    /// A fragment by its number, to change.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> &mut Shared {
        &mut self.table[id as usize]
    }

    /// A new fragment, which nothing refers to yet.
    pub fn add(&mut self, identity: Identity, page: Ppn, extent: Extent) -> u32 {
        let shared = Shared { page, extent, references: 0, identity };
        let id = match self.free.pop() {
            Some(id) => {
                self.table[id as usize] = shared;
                id
            }
            None => {
                self.table.push(shared);
                self.table.len() as u32 - 1
            }
        };
        self.by_identity.insert(identity, id);
        id
    }

    /// A map entry refers to a fragment.
    #[inline]
    pub fn refer(&mut self, id: u32) {
        self.table[id as usize].references += 1;
    }

    /// A map entry does not refer to a fragment any more. Gives the fragment if that was the last.
    #[inline]
    pub fn release(&mut self, id: u32) -> Option<Shared> {
        let shared = &mut self.table[id as usize];
        shared.references -= 1;
        if shared.references > 0 {
            return None;
        }
        let shared = *shared;
        self.by_identity.remove(&shared.identity);
        self.freed.push(id);
        Some(shared)
    }

    /// Shared fragments that something refers to, with their numbers.
    pub fn live(&self) -> impl Iterator<Item = (u32, &Shared)> {
        (0..).zip(&self.table).filter(|(_, shared)| shared.references > 0)
    }

    /// Numbers ever given out.
    pub fn table_len(&self) -> usize {
        self.table.len()
    }

    /// Contents that can be found.
    pub fn identity_count(&self) -> usize {
        self.by_identity.len()
    }
}

/// A fragment is valid while the map (or the table of shared fragments) points at its page.
#[inline]
pub(super) fn is_valid(map: &[u32], duplicates: &Duplicates, place: Ppn, key: Key) -> bool {
    match key {
        Key::Unit(lpn) => map[lpn.0 as usize] & !TRIMMED == place.0 + 1,
        Key::Shared(id) => {
            let shared = duplicates.get(id);
            shared.references > 0 && shared.page == place
        }
    }
}
