//! Durable mode of an array: every medium of every member is one of the array's, and what members do with the bytes of
//! pieces is told in terms of the host's commands.

use drivelab_controller::{Command, Effect, Effects};
use serde::{Deserialize, Serialize};

use super::port::SLOT_BITS;
use super::stripes::Stripes;

/// A piece inside a member.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Piece {
    tag: u32,
    member: u32,
    lba: u64,
    host: Command,
    is_done: bool,
}

/// Pieces whose bytes may be spoken of.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Pieces {
    pieces: Vec<Piece>,
    next_number: u16,
    scratch: Vec<Effect>,
}

impl Pieces {
    /// A piece of a host's command goes to a member; it gets a tag of its own.
    pub fn issued(&mut self, member: u32, piece: &mut Command, host: Command) {
        piece.tag |= u32::from(self.next_number) << SLOT_BITS;
        self.next_number = self.next_number.wrapping_add(1);
        self.pieces.push(Piece { tag: piece.tag, member, lba: piece.lba, host, is_done: false });
    }

    /// A member has done a piece.
    pub fn done(&mut self, member: u32, tag: u32) {
        let belongs = |piece: &&mut Piece| piece.member == member && piece.tag == tag;
        if let Some(piece) = self.pieces.iter_mut().find(belongs) {
            piece.is_done = true;
        }
    }

    /// Effects of a member in terms of the host's commands; `is_last`: all others of the member were taken before.
    pub fn translate(&mut self, stripes: &Stripes, member: u32, effects: &mut Effects, is_last: bool) {
        self.scratch.clear();
        for &effect in &effects.list {
            let (Effect::Fill { first, count, tag, offset, .. }
            | Effect::Send { first, count, tag, offset, .. }) = effect
            else {
                self.scratch.push(effect);
                continue;
            };
            let belongs = |piece: &&Piece| piece.member == member && piece.tag == tag;
            let Some(piece) = self.pieces.iter().find(belongs) else { continue };
            let host = piece.host;
            // A unit may lie across strips, which lie apart in the command's data.
            let (mut sector, end) = (piece.lba + u64::from(offset), piece.lba + u64::from(offset + count));
            let begin = sector;
            while sector < end {
                let part = stripes.next_strip(sector).min(end) - sector;
                let at = first + (sector - begin) as u32;
                let offset = (stripes.sector(member, sector) - host.lba) as u32;
                let (count, tag) = (part as u32, host.tag);
                self.scratch.push(match effect {
                    Effect::Fill { cell, base, .. } => {
                        let base = if sector == begin { base } else { cell };
                        Effect::Fill { cell, base, first: at, count, tag, offset }
                    }
                    Effect::Send { cell, .. } => Effect::Send { cell, first: at, count, tag, offset },
                    other => other,
                });
                sector += part;
            }
        }
        std::mem::swap(&mut effects.list, &mut self.scratch);
        if is_last {
            self.pieces.retain(|piece| piece.member != member || !piece.is_done);
        }
    }
}
