//! Effects carried out: flash operations against a medium, the host's bytes against cells.

use std::collections::VecDeque;

use drivelab_controller::faults::CutPhase;
use drivelab_controller::{Effect, Effects, FlashShape, PowerCut};
use drivelab_nand::op::{FlashOp, NO_CELL};
use drivelab_nand::{Medium, MediumError};

use crate::cells::Cells;
use crate::room::{NoRoom, Room, Unlimited};
use crate::store_error::StoreError;

/// Bytes of the host's commands, from their submission to their completion.
pub trait HostData {
    /// Sectors of a write's data.
    fn written(&self, tag: u32, offset: u32, count: u32) -> Option<&[u8]>;

    /// Where sectors of a read's data go.
    fn to_read(&mut self, tag: u32, offset: u32, count: u32) -> Option<&mut [u8]>;
}

/// A medium and the payload of its cells.
#[derive(Clone, Debug)]
pub struct Store<B, R> {
    medium: Medium<B>,
    cells: Cells<B>,
    room: R,
    /// Blocks for whose programs there is room, one bit each: the medium's room is never given back.
    roomy: Vec<u64>,
    /// Operations that have begun and not ended.
    begun: VecDeque<(u64, FlashOp)>,
}

impl Store<Vec<u8>, Unlimited> {
    /// A new one in memory.
    ///
    /// # Errors
    /// A shape that can't be.
    pub fn in_memory(shape: &FlashShape) -> Result<Self, MediumError> {
        let medium = Medium::in_memory(shape.medium())?;
        let cells = Cells::new(vec![0; shape.payload_bytes() as usize], shape.cell_bytes);
        Ok(Self::new(medium, cells, Unlimited))
    }

    /// A new one in memory that keeps what a recovery reads, and none of the host's bytes.
    ///
    /// # Errors
    /// A shape that can't be.
    pub fn without_bytes(shape: &FlashShape) -> Result<Self, MediumError> {
        let medium = Medium::in_memory(shape.medium())?;
        Ok(Self::new(medium, Cells::new(Vec::new(), shape.cell_bytes), Unlimited))
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>, R: Room> Store<B, R> {
    pub(crate) fn new(medium: Medium<B>, cells: Cells<B>, room: R) -> Self {
        let roomy = vec![0; medium.shape().blocks.div_ceil(64) as usize];
        Self { medium, cells, room, roomy, begun: VecDeque::new() }
    }

    /// The medium.
    #[must_use]
    pub fn medium(&self) -> &Medium<B> {
        &self.medium
    }

    /// The cells.
    #[must_use]
    pub fn cells(&self) -> &Cells<B> {
        &self.cells
    }

    pub(crate) fn room(&self) -> &R {
        &self.room
    }

    pub(crate) fn room_mut(&mut self) -> &mut R {
        &mut self.room
    }

    /// Carries out effects, in order.
    ///
    /// # Errors
    /// At the first that can't be: those before it are carried out, it and those behind it are not.
    pub fn carry_out(&mut self, effects: &Effects, host: &mut impl HostData) -> Result<(), StoreError> {
        effects.list.iter().try_for_each(|&effect| self.carry_out_one(effect, effects, host))
    }

    /// Carries out effects, in order, up to where the power fails. Gives whether it has: then what had begun is torn.
    ///
    /// # Errors
    /// As [`Self::carry_out`].
    pub fn carry_out_until(
        &mut self,
        cut: PowerCut,
        effects: &Effects,
        host: &mut impl HostData,
    ) -> Result<bool, StoreError> {
        for &effect in &effects.list {
            let (is_cut, is_done) = match effect {
                Effect::Begin { number, .. } => {
                    (number == cut.operation && cut.phase == CutPhase::Before, false)
                }
                Effect::End { number, .. } => {
                    (number == cut.operation && cut.phase != CutPhase::Before, cut.phase == CutPhase::After)
                }
                _ => (false, false),
            };
            if !is_cut || is_done {
                self.carry_out_one(effect, effects, host)?;
            }
            if is_cut {
                self.cut();
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Carries out one effect of a list.
    ///
    /// # Errors
    /// Nothing has changed then.
    #[inline]
    pub fn carry_out_one(
        &mut self,
        effect: Effect,
        effects: &Effects,
        host: &mut impl HostData,
    ) -> Result<(), StoreError> {
        match effect {
            Effect::Fill { cell, base, first, count, tag, offset } => {
                let data = host.written(tag, offset, count).ok_or(StoreError::Host { tag, offset, count })?;
                self.room.make_for_cells(self.cells.place(cell, 1)?)?;
                if base != NO_CELL {
                    self.room.make_for_copies(self.cells.place(base, 1)?)?;
                }
                self.cells.fill(cell, base, first, data)
            }
            Effect::Send { cell, first, count, tag, offset } => {
                let data = host.to_read(tag, offset, count).ok_or(StoreError::Host { tag, offset, count })?;
                if cell != NO_CELL {
                    let begin = self.cells.sectors(cell, first, count)?.start;
                    if self.room.read_cells(begin, data)? {
                        return Ok(());
                    }
                }
                self.cells.send(cell, first, data)
            }
            Effect::Hold { lpn, cell } => {
                self.room.make_for_medium(self.medium.touched_by_hold())?;
                Ok(self.medium.hold(lpn, cell)?)
            }
            Effect::Unhold { lpn, cell } => {
                self.medium.unhold(lpn, cell);
                Ok(())
            }
            Effect::Copy { from, to, count } => {
                self.room.make_for_cells(self.cells.place(to, count)?)?;
                self.room.make_for_copies(self.cells.place(from, count)?)?;
                self.cells.copy(from, to, count)
            }
            Effect::Free { first, count } => {
                let place = self.cells.place(first, count)?;
                self.room.release_cells(place);
                Ok(())
            }
            Effect::Begin { number, op } => {
                self.begun.push_back((number, op));
                Ok(())
            }
            Effect::End { number, op, words } => {
                let words = effects.words_of(words);
                self.make_room(op, words.len())?;
                self.medium.apply(op, words)?;
                // Among the oldest, as a rule; their order stays, for a power cut tears them in it.
                if let Some(place) = self.begun.iter().position(|&(begun, _)| begun == number) {
                    self.begun.remove(place);
                }
                Ok(())
            }
            Effect::SecureErase => self.secure_erase(),
        }
    }

    /// Makes sure of the room of an operation with so many words.
    #[inline]
    fn make_room(&mut self, op: FlashOp, words: usize) -> Result<(), NoRoom> {
        let (FlashOp::Program { block, .. }
        | FlashOp::Coarse { block, .. }
        | FlashOp::Fine { block, .. }
        | FlashOp::Erase { block }) = op
        else {
            return self.make_all_room(op, words);
        };
        let (word, bit) = ((block.0 / 64) as usize, 1 << (block.0 % 64));
        if self.roomy.get(word).is_some_and(|blocks| blocks & bit != 0) {
            return Ok(());
        }
        self.make_all_room(op, words)?;
        let is_program = matches!(op, FlashOp::Program { .. } | FlashOp::Coarse { .. });
        if let (true, Some(blocks)) = (is_program, self.roomy.get_mut(word)) {
            *blocks |= bit;
        }
        Ok(())
    }

    fn make_all_room(&mut self, op: FlashOp, words: usize) -> Result<(), NoRoom> {
        self.medium.touched_by(op, words).into_iter().try_for_each(|place| self.room.make_for_medium(place))
    }

    /// The power fails: what has begun is torn. Gives how many programs and how many erases that are.
    pub fn cut(&mut self) -> (u64, u64) {
        let (mut programs, mut erases) = (0, 0);
        for (_, op) in std::mem::take(&mut self.begun) {
            // An operation may not be possible because the one before it was torn too: then it has not happened.
            if self.make_room(op, 0).is_ok() && self.medium.tear(op).is_ok() {
                programs += u64::from(matches!(op, FlashOp::Program { .. } | FlashOp::Coarse { .. }));
                erases += u64::from(matches!(op, FlashOp::Erase { .. }));
            }
        }
        (programs, erases)
    }

    /// Every block that holds anything is erased, and every byte of every cell is gone.
    pub(crate) fn secure_erase(&mut self) -> Result<(), StoreError> {
        self.begun.clear();
        self.room.make_for_medium(self.medium.touched_by_secure_erase())?;
        // What is zero already is only loaded.
        self.room.make_to_load(0..self.medium.bytes().len())?;
        self.medium.begin_secure_erase();
        wipe(&mut self.cells, &mut self.room)?;
        self.medium.secure_erase();
        Ok(())
    }
}

/// The bytes of all cells become zeros.
pub(crate) fn wipe<B: AsRef<[u8]> + AsMut<[u8]>, R: Room>(
    cells: &mut Cells<B>,
    room: &mut R,
) -> Result<(), StoreError> {
    let all = 0..cells.bytes().len();
    if !room.release_cells(all.clone()) {
        // In pieces: those that were never used need no room to stay zeros.
        for begin in all.clone().step_by(1 << 20) {
            let piece = begin..(begin + (1 << 20)).min(all.end);
            if cells.bytes()[piece.clone()].iter().any(|&byte| byte != 0) {
                room.make_for_cells(piece.clone())?;
                cells.clear(piece);
            }
        }
    }
    Ok(())
}
