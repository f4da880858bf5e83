//! What blocks of a flash drive were told by when they were drawn last: finds those that are to be looked at again
//! without a look at each, for that is done many times a second.

use drivelab_controller::Scheduled;
use drivelab_ftl::SettledUses;
use drivelab_nand::BlockIndex;

/// Blocks whose columns are compared at once.
const CHUNK: usize = 64;

/// Of every block of a drive the mark of its use, and how often it was programmed and erased: whatever is drawn of a
/// settled block follows from what changes with these.
#[derive(Clone, Debug, Default)]
pub(crate) struct TileMarks {
    uses: Vec<u32>,
    written: Vec<u32>,
    erased: Vec<u32>,
    /// Whose use was more than its mark, in order.
    unsettled: Vec<BlockIndex>,
}

/// Settled blocks, each in one of the lists, which are in order.
#[derive(Debug, Default)]
pub(crate) struct MayHaveChanged {
    /// By the mark of their use alone: neither programmed nor erased.
    pub(crate) by_mark: Vec<u32>,
    pub(crate) worked_on: Vec<u32>,
}

impl TileMarks {
    /// Whether these are the blocks of this drive.
    pub(crate) fn are_of(&self, now: &SettledUses<'_>) -> bool {
        self.uses.len() == now.marks().len()
    }

    /// Every block counts as looked at.
    pub(crate) fn renew<M: Scheduled>(&mut self, mapping: &M, now: &SettledUses<'_>) {
        self.uses = now.marks().to_vec();
        self.written = mapping.flash().write_pointers().to_vec();
        self.erased = mapping.flash().erase_counts().to_vec();
        self.unsettled = in_order(now);
    }

    /// Blocks that are not settled, and then those that no longer are; they count as looked at.
    pub(crate) fn take_unsettled<M: Scheduled>(
        &mut self,
        mapping: &M,
        now: &SettledUses<'_>,
    ) -> Vec<BlockIndex> {
        let unsettled = in_order(now);
        let is_settled = |block: &&BlockIndex| unsettled.binary_search(block).is_err();
        let settled: Vec<_> = self.unsettled.iter().filter(is_settled).copied().collect();
        for &block in unsettled.iter().chain(&settled) {
            let place = block.0 as usize;
            self.uses[place] = now.marks()[place];
            self.written[place] = mapping.flash().write_pointer(block);
            self.erased[place] = mapping.flash().erase_count(block);
        }
        self.unsettled = unsettled;
        settled
    }

    /// All others that may have changed; they count as looked at.
    pub(crate) fn take_changed<M: Scheduled>(
        &mut self,
        mapping: &M,
        now: &SettledUses<'_>,
    ) -> MayHaveChanged {
        let flash = mapping.flash();
        let uses = self.uses.chunks_mut(CHUNK).zip(now.marks().chunks(CHUNK));
        let written = self.written.chunks_mut(CHUNK).zip(flash.write_pointers().chunks(CHUNK));
        let erased = self.erased.chunks_mut(CHUNK).zip(flash.erase_counts().chunks(CHUNK));
        let mut changed = MayHaveChanged::default();
        let mut found = [0; CHUNK];
        for (first, ((uses, written), erased)) in (0u32..).step_by(CHUNK).zip(uses.zip(written).zip(erased)) {
            // Programs and erases are of few blocks; what is overwritten lies everywhere.
            if *written.0 != *written.1 || *erased.0 != *erased.1 {
                for place in 0..uses.0.len() {
                    if written.0[place] != written.1[place] || erased.0[place] != erased.1[place] {
                        changed.worked_on.push(first + place as u32);
                        uses.0[place] = uses.1[place];
                    }
                }
                written.0.copy_from_slice(written.1);
                erased.0.copy_from_slice(erased.1);
            }
            if *uses.0 == *uses.1 {
                continue;
            }
            let mut count = 0;
            // Without a branch: which of them have changed can't be foretold.
            for (place, (before, now)) in (first..).zip(uses.0.iter().zip(uses.1)) {
                found[count] = place;
                count += usize::from(before != now);
            }
            changed.by_mark.extend_from_slice(&found[..count]);
            uses.0.copy_from_slice(uses.1);
        }
        changed
    }
}

fn in_order(uses: &SettledUses<'_>) -> Vec<BlockIndex> {
    let mut blocks: Vec<_> = uses.unsettled.iter().map(|&(block, _)| block).collect();
    blocks.sort_unstable();
    blocks
}
