//! What a word line holds that has had the first of two passes.

use drivelab_nand::BlockIndex;
use drivelab_nand::op::{FlashOp, Record};
use serde::{Deserialize, Serialize};

/// A word line from its coarse pass on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CoarseLine {
    /// Its fine pass.
    pub op: FlashOp,
    pub words: Vec<u64>,
    /// Cells that are free when it has had that.
    pub freed: Vec<u32>,
    /// Blocks with data that it supersedes.
    pub fenced: Vec<BlockIndex>,
    /// It is having its coarse pass.
    pub is_under_way: bool,
}

impl CoarseLine {
    pub fn place(&self) -> Option<(BlockIndex, u32)> {
        match self.op {
            FlashOp::Fine { block, page, .. } => Some((block, page)),
            _ => None,
        }
    }

    pub fn holds_data(&self) -> bool {
        let (records, _) = self.words.as_chunks::<{ Record::WORDS }>();
        records.iter().any(|&words| Record::from_words(words).lpn != drivelab_nand::Lpn::PADDING)
    }

    pub fn supersedes(&self, block: BlockIndex) -> bool {
        self.fenced.iter().any(|&fenced| fenced == block || fenced == drivelab_ftl::Superseded::ANYWHERE)
    }
}
