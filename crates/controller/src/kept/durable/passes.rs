//! Word lines of two passes: what they hold counts with the second. Until then cells that it supersedes are not free, and
//! blocks that hold what it supersedes are not erased.

use drivelab_ftl::Recoverable;
use drivelab_nand::op::{FlashOp, PageKind, Record};
use drivelab_nand::{BlockIndex, DieIndex, Ppn};
use drivelab_sim::sabotage::{self, Sabotage};

use super::Durable;
use super::coarse_line::CoarseLine;
use crate::kept::effects::Effect;

impl Durable {
    /// A word line has its coarse pass, from `from` on at the earliest.
    pub fn program_coarse<M: Recoverable>(
        &mut self,
        die: DieIndex,
        mapping: &M,
        first: Ppn,
        kind: PageKind,
        waits: bool,
    ) {
        let layout = mapping.layout();
        let (block, page) = (layout.block_of(first), layout.page_of(first));
        let sequence = mapping.flash().next_sequence() - 1;
        self.begin(die, FlashOp::Coarse { block, page }, waits, |words| {
            if kind != PageKind::Metadata {
                mapping.page_records(first, words);
            }
        });
        if !self.cells.torn.is_empty() {
            self.name_torn_cells(die, kind);
        }
        let work = &mut self.dies[die.0 as usize];
        let (at, count) = work.pending.last().map_or((0, 0), |pending| pending.words);
        let words = work.words[at as usize..(at + count) as usize].to_vec();
        if self.has_capacitor && kind == PageKind::Host {
            for words in words.chunks_exact(Record::WORDS) {
                self.cells.pin(Record::from_words([words[0], words[1]]).cell);
            }
        }
        let op = FlashOp::Fine { block, page, kind, sequence };
        let (freed, fenced) = (std::mem::take(&mut work.freed), std::mem::take(&mut work.fenced));
        work.coarse.push_back(CoarseLine { op, words, freed, fenced, is_under_way: true });
    }

    /// A word line of a die has had its fine pass.
    pub fn fine_done(&mut self, die: u32, place: (BlockIndex, u32)) {
        let lines = &mut self.dies[die as usize].coarse;
        let Some(line) = lines.iter().position(|line| line.place() == Some(place)) else { return };
        let Some(line) = lines.remove(line) else { return };
        self.whole(line.op, &line.words);
        if self.has_capacitor && matches!(line.op, FlashOp::Fine { kind: PageKind::Host, .. }) {
            let (records, _) = line.words.as_chunks::<{ Record::WORDS }>();
            for record in records.iter().map(|&words| Record::from_words(words)) {
                self.effects.list.push(Effect::Unhold { lpn: record.lpn.0, cell: record.cell });
                self.cells.unpin(record.cell);
            }
        }
        line.freed.into_iter().for_each(|cell| self.cells.give(cell));
    }

    /// Whether data of a block is superseded on a word line that has not had its fine pass.
    pub fn is_needed(&self, block: BlockIndex) -> bool {
        !sabotage::is(Sabotage::CoarseFencesNothing)
            && self.dies.iter().flat_map(|work| &work.coarse).any(|line| line.supersedes(block))
    }

    /// Whether any word line with data has not had its fine pass.
    pub fn has_coarse_data(&self) -> bool {
        self.dies
            .iter()
            .any(|work| work.coarse.iter().any(CoarseLine::holds_data) || work.kept_block.is_some())
    }

    /// The erase of a block of a die, which may fail, waits for word lines that supersede its data.
    pub fn keep_block(&mut self, die: u32, block: BlockIndex, fails: bool) {
        self.dies[die as usize].kept_block = Some((block, fails));
    }

    /// The block of a die whose erase waits so.
    pub fn kept_block(&self, die: u32) -> Option<BlockIndex> {
        self.dies[die as usize].kept_block.map(|(block, _)| block)
    }

    /// The erase of the block of a die goes on; whether it fails.
    pub fn forget_kept_block(&mut self, die: u32) -> bool {
        self.dies[die as usize].kept_block.take().is_some_and(|(_, fails)| fails)
    }

    /// Whether any erase waits for a fine pass.
    pub fn keeps_blocks(&self) -> bool {
        self.dies.iter().any(|work| work.kept_block.is_some())
    }

    /// The block on a die of whose word lines between their passes one has data that is waited for: by an erase, or because
    /// the drive goes to rest.
    pub fn awaited_coarse(&self, die: DieIndex) -> Option<BlockIndex> {
        let lines = self.dies[die.0 as usize].coarse.iter();
        let mut waiting = lines.filter(|line| !line.is_under_way);
        let is_awaited = |line: &&CoarseLine| {
            let kept = self.dies.iter().filter_map(|work| work.kept_block);
            self.is_halted && line.holds_data() || kept.into_iter().any(|(block, _)| line.supersedes(block))
        };
        waiting.find(is_awaited).and_then(CoarseLine::place).map(|(block, _)| block)
    }
}
