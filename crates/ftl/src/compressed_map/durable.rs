//! What the map keeps beside its tables when its flash outlives its power: where references lie, what the last page
//! holds, and what it superseded.
//!
//! A unit that is a copy is a *reference* to a shared fragment: a record of the page that was programmed when the host
//! wrote it, and of no granules. Cleaning does not copy it, so when its block is erased it goes to the log of the map,
//! and into the log that goes with a checkpoint.
//!
//! A reference is worth nothing without its fragment. So a page with references to a fragment whose page is still being
//! programmed waits for that; and when a reference is superseded, no block at all is erased before that has reached
//! flash: what it refers to may have no other reference, or may have been moved anywhere meanwhile.

use drivelab_nand::{BlockIndex, Lpn, Ppn};
use drivelab_sim::rng::mix;
use serde::{Deserialize, Serialize};

use super::entry::{SHARED, TRIMMED};
use super::fragments::Key;
use crate::mapping::Superseded;

/// Contents that are remembered to see which come again.
const SEEN: usize = 1 << 16;

/// State that only drives need whose flash outlives their power.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Durable {
    /// Page + 1 of the record of every unit that is a reference; 0: it is in the log of the map.
    reference_at: Vec<u32>,
    /// Units whose references lie in a block, outdated ones among them.
    references_in: Vec<Vec<u32>>,
    /// What the page programmed last holds.
    pub page: Vec<Held>,
    superseded: Vec<Superseded>,
    /// Pages of shared fragments that the page programmed last refers to.
    needed: Vec<Ppn>,
    /// Units whose references have lost their page.
    pub homeless: Vec<u32>,
    /// Hashes of contents that were written, each in the place that it decides.
    seen: Vec<u64>,
}

/// Something on a page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Held {
    Fragment(Key),
    Reference(Lpn),
}

impl Durable {
    pub fn new(units: usize, blocks: u32) -> Self {
        Self {
            reference_at: vec![0; units],
            references_in: vec![Vec::new(); blocks as usize],
            page: Vec::new(),
            superseded: Vec::new(),
            needed: Vec::new(),
            homeless: Vec::new(),
            seen: vec![0; SEEN],
        }
    }

    /// A page begins.
    pub fn begin_page(&mut self) {
        self.page.clear();
        self.needed.clear();
    }

    /// A fragment is on the page that is being filled.
    pub fn hold(&mut self, key: Key) {
        self.page.push(Held::Fragment(key));
    }

    /// A unit refers to a shared fragment at `to`, by a record of the page at `place`.
    pub fn refer(&mut self, block: BlockIndex, place: Ppn, lpn: Lpn, to: Ppn) {
        self.page.push(Held::Reference(lpn));
        self.enter_reference(block, place, lpn);
        if to != place {
            self.needed.push(to);
        }
    }

    /// The reference of a unit is on a page.
    pub fn enter_reference(&mut self, block: BlockIndex, place: Ppn, lpn: Lpn) {
        self.reference_at[lpn.0 as usize] = place.0 + 1;
        self.references_in[block.0 as usize].push(lpn.0);
    }

    /// The page before 1 of a unit's reference, 0 if it is in the log.
    pub fn reference_at(&self, lpn: Lpn) -> u32 {
        self.reference_at[lpn.0 as usize]
    }

    /// What flash held in a block is current no more.
    pub fn supersede(&mut self, block: BlockIndex, cell: u32) {
        self.superseded.push(Superseded { block, cell });
    }

    pub fn take_superseded(&mut self, out: &mut Vec<Superseded>) {
        out.append(&mut self.superseded);
    }

    pub fn take_needed(&mut self, out: &mut Vec<Ppn>) {
        out.append(&mut self.needed);
    }

    /// A block is erased that held these pages: its current references go to the log.
    pub fn erase(&mut self, map: &[u32], block: BlockIndex, pages: std::ops::Range<u32>) {
        for lpn in std::mem::take(&mut self.references_in[block.0 as usize]) {
            let at = &mut self.reference_at[lpn as usize];
            if is_reference(map[lpn as usize]) && pages.contains(&at.wrapping_sub(1)) {
                *at = 0;
                self.homeless.push(lpn);
            }
        }
    }

    /// Whether a content was seen before.
    pub fn has_seen(&mut self, hash: u64) -> bool {
        let place = &mut self.seen[mix(hash) as usize % SEEN];
        std::mem::replace(place, hash) == hash
    }

    /// Every current reference that has a page is in the list of its block.
    pub fn check(&self, map: &[u32], pages_per_block: u32) -> Result<(), String> {
        let mut listed = vec![false; map.len()];
        for (block, list) in (0..).zip(&self.references_in) {
            for &lpn in list {
                let at = self.reference_at[lpn as usize];
                listed[lpn as usize] |= at > 0 && (at - 1) / pages_per_block == block;
            }
        }
        let lost =
            (0..map.len()).find(|&lpn| is_reference(map[lpn]) && self.reference_at[lpn] > 0 && !listed[lpn]);
        match lost {
            Some(lpn) => Err(format!("the reference of unit {lpn} is not in the list of its block")),
            None => Ok(()),
        }
    }
}

/// Whether a map entry is a reference that reads as data.
#[inline]
pub(super) fn is_reference(entry: u32) -> bool {
    entry & SHARED != 0 && entry & TRIMMED == 0
}
