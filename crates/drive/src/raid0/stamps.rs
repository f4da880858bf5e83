//! Stamps of an array, for oracles: what the members read, put back into the order of the array.

use drivelab_controller::{Command, Op};
use serde::{Deserialize, Serialize};

use super::port::SLOT_BITS;
use super::stripes::Stripes;

/// A read on its way.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Reading {
    slot: u32,
    command: Command,
    found: Vec<u64>,
    missing: u64,
}

/// A piece of a read inside a member.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Piece {
    tag: u32,
    member: u32,
    read: usize,
    lba: u64,
}

/// Reads in order, and their pieces.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Stamps {
    reads: Vec<Reading>,
    pieces: Vec<Piece>,
    next_number: u16,
}

impl Stamps {
    /// The host has handed over a command.
    pub fn submitted(&mut self, slot: u32, command: &Command) {
        if command.op == Op::Read {
            let missing = u64::from(command.sector_count);
            let found = vec![0; missing as usize];
            self.reads.push(Reading { slot, command: *command, found, missing });
        }
    }

    /// A piece goes to a member. Pieces of reads get a number above their slot, because members may reorder them.
    pub fn issued(&mut self, member: u32, piece: &mut Command) {
        let slot = piece.tag;
        if piece.op == Op::Read
            && let Some(read) = self.reads.iter().rposition(|reading| reading.slot == slot)
        {
            piece.tag |= u32::from(self.next_number) << SLOT_BITS;
            self.next_number = self.next_number.wrapping_add(1);
            self.pieces.push(Piece { tag: piece.tag, member, read, lba: piece.lba });
        }
    }

    pub fn worked_on(&mut self, stripes: &Stripes, member: u32, tag: u32, stamps: &[u64]) {
        let belongs = |piece: &Piece| piece.member == member && piece.tag == tag;
        let Some(place) = self.pieces.iter().position(belongs) else { return };
        let piece = self.pieces.remove(place);
        let reading = &mut self.reads[piece.read];
        for (lba, &stamp) in (piece.lba..).zip(stamps) {
            reading.found[(stripes.sector(member, lba) - reading.command.lba) as usize] = stamp;
        }
        reading.missing -= stamps.len() as u64;
    }

    /// Tag and stamps of every read; nothing is outstanding.
    pub fn take(&mut self) -> Vec<(u32, Vec<u64>)> {
        debug_assert!(self.reads.iter().all(|reading| reading.missing == 0));
        self.pieces.clear();
        self.reads.drain(..).map(|reading| (reading.command.tag, reading.found)).collect()
    }
}
