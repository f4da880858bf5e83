//! What flash physically holds across power cycles, in bytes of a defined layout that may belong to a file.
//!
//! | part | bytes | words (little-endian, 64 bits) |
//! |---|---|---|
//! | head | 64 | 1 while a secure erase is under way |
//! | blocks | 32 a block | erase count (32 bits), state (8 bits); the rest is zero |
//! | pages | 16 a page | sequence number; first record within the block (32 bits), records (16), kind (8; its highest bit: one bit a cell), status (8) |
//! | records | 16 a record | two words of [`Record`], packed in the order of a block's pages |
//! | area 0, area 1 | 64 + 4 a user unit + 24 a log record | `area.rs` |
//! | held units | 16 an entry | unit and cell; order in which it was held, 0 of a free entry |
//!
//! Every part begins at a multiple of 64 bytes; all zeros is a new medium. Within an operation contents are stored
//! first and the one word that makes them count last (a page's second word, an area's state or log count, a held unit's
//! order), so that a process that is killed between any two stores leaves an operation that has happened or has not.

mod area;
mod block;
mod check;
mod error;
mod findings;
mod found;
mod hold;
mod shape;
mod state;
mod words;

use std::ops::Range;

use self::shape::{LOG_ENTRY_BYTES, Layout};
use crate::op::{FlashOp, Record};
use crate::view::BlockState;

use self::state::{AreaState, Holds};

pub use self::error::MediumError;
pub use self::shape::MediumShape;

/// Flash, in bytes that may belong to a file.
#[derive(Clone, Debug)]
pub struct Medium<B> {
    bytes: B,
    shape: MediumShape,
    layout: Layout,
    /// The area whose log is appended to.
    active: usize,
    holds: Holds,
}

impl Medium<Vec<u8>> {
    /// A new medium in memory.
    ///
    /// # Errors
    /// [`MediumError::Shape`].
    pub fn in_memory(shape: MediumShape) -> Result<Self, MediumError> {
        let bytes = shape.layout()?.end;
        Self::new(shape, vec![0; bytes])
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Medium<B> {
    /// Takes bytes for a medium; all zeros is a new one. Whatever they hold, no method panics because of it; what can't
    /// be right about them is said by [`Self::check`]. A secure erase that was cut is finished first.
    ///
    /// # Errors
    /// [`MediumError::Shape`], or [`MediumError::Size`] if these are not as many bytes as the shape needs.
    pub fn new(shape: MediumShape, bytes: B) -> Result<Self, MediumError> {
        let layout = shape.layout()?;
        let given = bytes.as_ref().len();
        if given != layout.end {
            return Err(MediumError::Size { bytes: given as u64, needed: layout.end as u64 });
        }
        let mut medium = Self { bytes, shape, layout, active: 0, holds: Holds::default() };
        if words::load(medium.bytes.as_ref(), 0) != 0 {
            medium.secure_erase();
        }
        medium.find_active();
        medium.find_held();
        Ok(medium)
    }

    /// Its sizes.
    #[must_use]
    pub fn shape(&self) -> &MediumShape {
        &self.shape
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Gives the bytes back.
    pub fn into_bytes(self) -> B {
        self.bytes
    }

    /// Carries out an operation. Words: two for each [`Record`] of a program or of the log, one for each entry of a
    /// checkpoint page.
    ///
    /// # Errors
    /// What flash can't do; nothing has changed then.
    pub fn apply(&mut self, op: FlashOp, words: &[u64]) -> Result<(), MediumError> {
        match op {
            FlashOp::Program { block, page, kind, mode, sequence } => {
                self.program(block.0, page, (kind, mode), sequence, whole_records(words)?)
            }
            FlashOp::Coarse { block, page } => {
                self.program_coarse(block.0, page, words.len() / Record::WORDS)
            }
            FlashOp::Fine { block, page, kind, sequence } => {
                self.program_fine(block.0, page, kind, sequence, whole_records(words)?)
            }
            FlashOp::Erase { block } => self.erase(block.0),
            FlashOp::Retire { block } => self.set_state(block.0, BlockState::Retired),
            FlashOp::Log => self.append_log(self.active, whole_records(words)?),
            FlashOp::CheckpointBegin => {
                self.begin_checkpoint();
                Ok(())
            }
            FlashOp::Checkpoint { first_lpn } => self.store_checkpoint(first_lpn, words),
            FlashOp::CheckpointLog => {
                let area = self.area_under_construction()?;
                self.append_log(area, whole_records(words)?)
            }
            FlashOp::CheckpointEnd { sequence } => self.end_checkpoint(sequence),
        }
    }

    /// The power fails during an operation. The page of a program is consumed and can't be read, of an erase nothing of
    /// the block can be read until it is erased again, a checkpoint under construction never becomes complete; log
    /// records are not there, as their check word doesn't fit, and a block is not retired.
    ///
    /// # Errors
    /// What flash can't do; nothing has changed then.
    pub fn tear(&mut self, op: FlashOp) -> Result<(), MediumError> {
        match op {
            FlashOp::Program { block, page, .. } | FlashOp::Coarse { block, page } => {
                self.tear_program(block.0, page)
            }
            FlashOp::Erase { block } => self.tear_erase(block.0),
            FlashOp::CheckpointBegin
            | FlashOp::Checkpoint { .. }
            | FlashOp::CheckpointLog
            | FlashOp::CheckpointEnd { .. } => {
                let area = 1 - self.active;
                if self.area_state(area) == Some(AreaState::Building) || op == FlashOp::CheckpointBegin {
                    self.set_area_state(area, AreaState::Torn);
                }
                Ok(())
            }
            // Between its passes nothing could be read of it either.
            FlashOp::Fine { .. } | FlashOp::Retire { .. } | FlashOp::Log => Ok(()),
        }
    }

    /// Where an operation with so many words may store something: byte ranges, some of them empty. Whoever keeps the
    /// bytes in a sparse file makes sure of their space first.
    #[inline]
    #[must_use]
    pub fn touched_by(&self, op: FlashOp, words: usize) -> [Range<usize>; 3] {
        match op {
            FlashOp::Program { block, .. } | FlashOp::Coarse { block, .. } | FlashOp::Fine { block, .. } => {
                self.touched_block(block.0, true)
            }
            FlashOp::Erase { block } | FlashOp::Retire { block } => self.touched_block(block.0, false),
            FlashOp::Log => self.touched_log(self.active, words / Record::WORDS),
            FlashOp::CheckpointLog => self.touched_log(1 - self.active, words / Record::WORDS),
            FlashOp::Checkpoint { first_lpn } => self.touched_table(first_lpn, words),
            FlashOp::CheckpointBegin | FlashOp::CheckpointEnd { .. } => self.touched_log(1 - self.active, 0),
        }
    }

    /// Where a secure erase stores something that was zero before.
    #[must_use]
    pub fn touched_by_secure_erase(&self) -> Range<usize> {
        0..self.layout.pages
    }

    /// Where holding a unit stores something.
    #[must_use]
    pub fn touched_by_hold(&self) -> Range<usize> {
        self.layout.holds..self.layout.end
    }

    /// Bytes that the next checkpoint will take about, with a log as long as the one now.
    #[must_use]
    pub fn checkpoint_bytes(&self) -> u64 {
        u64::from(self.shape.user_units) * 4 + u64::from(self.log_records()) * LOG_ENTRY_BYTES as u64
    }

    /// Whether bytes are those of a medium whose secure erase was begun and not finished.
    #[must_use]
    pub fn is_erasing(bytes: &[u8]) -> bool {
        bytes.len() >= 8 && words::load(bytes, 0) != 0
    }

    /// A secure erase begins: from now on [`Self::new`] finishes it, and [`Self::is_erasing`] says that cells' bytes
    /// must go too.
    pub fn begin_secure_erase(&mut self) {
        words::commit(self.bytes.as_mut(), 0, 1);
    }

    /// Erases every block that is not erased (failed ones too lose what they hold), and forgets checkpoints, log and
    /// held units. Cut anywhere, it is finished by [`Self::new`].
    pub fn secure_erase(&mut self) {
        self.begin_secure_erase();
        for block in 0..self.shape.blocks {
            self.wipe_block(block);
        }
        self.wipe_areas();
        self.wipe_holds();
        words::commit(self.bytes.as_mut(), 0, 0);
        self.active = 0;
    }
}

/// Words that are whole records.
fn whole_records(words: &[u64]) -> Result<&[[u64; Record::WORDS]], MediumError> {
    match words.as_chunks() {
        (records, []) => Ok(records),
        _ => Err(MediumError::HalfRecord { words: words.len() }),
    }
}
