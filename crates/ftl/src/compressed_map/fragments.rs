//! Out-of-band data of compressed pages: which fragments lie on which page of a block.
//!
//! One list per block: a marker for each page, then the keys of its fragments. There are no valid bits: a fragment
//! is valid while the map points at its page, and a page is programmed once, so what was outdated never becomes valid
//! again. That is why outdated keys may be dropped from a list, which bounds the memory of a drive full of small
//! fragments; flash itself would keep them until the erase.

use drivelab_nand::{BlockIndex, Lpn};
use serde::{Deserialize, Serialize};

const PAGE: u32 = 1 << 31;
const SHARED: u32 = 1 << 30;

/// Numbers of map units and of shared fragments must stay below this.
pub(super) const KEY_LIMIT: u32 = SHARED;

/// A closed block's list is gone through when it is longer than twice its valid measure and this.
const SLACK: usize = 512;

/// What a fragment belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Key {
    /// A map unit of the host that has the fragment for itself.
    Unit(Lpn),
    /// An entry of the table of shared fragments.
    Shared(u32),
}

/// What a list holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The fragments of this page of the block follow.
    Page(u32),
    /// A fragment.
    Fragment(Key),
}

fn decode(word: u32) -> Word {
    if word & PAGE != 0 {
        Word::Page(word & !PAGE)
    } else if word & SHARED != 0 {
        Word::Fragment(Key::Shared(word & !SHARED))
    } else {
        Word::Fragment(Key::Unit(Lpn(word)))
    }
}

/// The lists of all blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fragments {
    lists: Vec<Vec<u32>>,
}

impl Fragments {
    pub fn new(blocks: u32) -> Self {
        Self { lists: vec![Vec::new(); blocks as usize] }
    }

    /// The fragments that follow lie on this page of the block.
    #[inline]
    pub fn begin_page(&mut self, block: BlockIndex, page: u32) {
        self.lists[block.0 as usize].push(PAGE | page);
    }

    #[inline]
    pub fn push(&mut self, block: BlockIndex, key: Key) {
        self.lists[block.0 as usize].push(match key {
            Key::Unit(lpn) => lpn.0,
            Key::Shared(id) => SHARED | id,
        });
    }

    /// Brings the length of a block's list into the processor's cache.
    #[inline]
    pub fn prefetch(&self, block: BlockIndex) {
        drivelab_sim::prefetch(&self.lists, block.0 as usize);
    }

    /// No page will be added before the next erase.
    pub fn close(&mut self, block: BlockIndex) {
        self.lists[block.0 as usize].shrink_to_fit();
    }

    /// The block was erased.
    pub fn clear(&mut self, block: BlockIndex) {
        self.lists[block.0 as usize] = Vec::new();
    }

    /// What stands at `index` of a block's list.
    #[inline]
    pub fn get(&self, block: BlockIndex, index: u32) -> Option<Word> {
        self.lists[block.0 as usize].get(index as usize).map(|&word| decode(word))
    }

    /// All of a block's list.
    pub fn words(&self, block: BlockIndex) -> impl Iterator<Item = Word> + '_ {
        self.lists[block.0 as usize].iter().map(|&word| decode(word))
    }

    /// The fragments of a block, each with its page.
    pub fn of(&self, block: BlockIndex) -> impl Iterator<Item = (u32, Key)> + '_ {
        let mut page = 0;
        self.words(block).filter_map(move |word| match word {
            Word::Page(next) => {
                page = next;
                None
            }
            Word::Fragment(key) => Some((page, key)),
        })
    }

    /// Whether so little of a closed block is valid that most of its list must be outdated.
    #[inline]
    pub fn is_mostly_outdated(&self, block: BlockIndex, valid: u32) -> bool {
        self.lists[block.0 as usize].len() > 2 * valid as usize + SLACK
    }

    /// Drops the keys of a block for which `keep(page, key)` is false.
    pub fn compact(&mut self, block: BlockIndex, keep: impl Fn(u32, Key) -> bool) {
        let list = &mut self.lists[block.0 as usize];
        let mut page = 0;
        let mut kept = 0;
        let mut marker = None;
        for index in 0..list.len() {
            let word = list[index];
            match decode(word) {
                Word::Page(next) => {
                    page = next;
                    marker = Some(word);
                }
                Word::Fragment(key) => {
                    if keep(page, key) {
                        if let Some(marker) = marker.take() {
                            list[kept] = marker;
                            kept += 1;
                        }
                        list[kept] = word;
                        kept += 1;
                    }
                }
            }
        }
        list.truncate(kept);
        list.shrink_to_fit();
    }

    /// Bytes of memory that the lists take.
    pub fn memory_bytes(&self) -> usize {
        let lists: usize = self.lists.iter().map(Vec::capacity).sum();
        lists * size_of::<u32>() + self.lists.capacity() * size_of::<Vec<u32>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacting_keeps_what_is_kept_on_its_page() {
        let mut fragments = Fragments::new(2);
        let block = BlockIndex(1);
        for page in 0..4 {
            fragments.begin_page(block, page);
            for unit in 0..3 {
                fragments.push(block, Key::Unit(Lpn(page * 3 + unit)));
            }
            fragments.push(block, Key::Shared(page));
        }
        fragments.compact(block, |page, key| {
            assert!(match key {
                Key::Unit(lpn) => lpn.0 / 3 == page,
                Key::Shared(id) => id == page,
            });
            page == 1 && key != Key::Unit(Lpn(4)) || key == Key::Shared(3)
        });
        let words: Vec<_> = fragments.words(block).collect();
        let unit = |lpn| Word::Fragment(Key::Unit(Lpn(lpn)));
        let shared = |id| Word::Fragment(Key::Shared(id));
        assert_eq!(words, [Word::Page(1), unit(3), unit(5), shared(1), Word::Page(3), shared(3)]);
    }
}
