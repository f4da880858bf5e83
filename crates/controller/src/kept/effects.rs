//! What a drive in durable mode does with the host's bytes and with its flash, in the order in which it becomes true.
//!
//! The engine keeps no bytes. It numbers *cells*, each of which holds the bytes of one map unit wherever that unit is:
//! in the write buffer, in a page register, in flash. Whoever owns the drive carries the effects out, in order, after
//! every `advance` and before the host hears of completions. Having carried out any prefix of them is a power cut at
//! that moment; operations that had begun and not ended are torn, or have not happened.

use drivelab_nand::op::FlashOp;
use serde::{Deserialize, Serialize};

/// One effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// Data of the host comes into the write buffer.
    Fill {
        /// Which container it goes into.
        cell: u32,
        /// Where the unit's other sectors come from; `NO_CELL`: they are zeros. May be the cell itself.
        base: u32,
        /// First sector of the unit that the host writes.
        first: u32,
        /// Sectors that the host writes.
        count: u32,
        /// The command.
        tag: u32,
        /// Sector of the command's data that goes to `first`.
        offset: u32,
    },
    /// Data of a read is fetched.
    Send {
        /// Which container it comes from; `NO_CELL`: zeros.
        cell: u32,
        /// First sector of the unit.
        first: u32,
        /// Sectors.
        count: u32,
        /// The command.
        tag: u32,
        /// Sector of the command's data that `first` becomes.
        offset: u32,
    },
    /// A capacitor keeps this unit through a power cut, instead of what it kept of it before.
    Hold {
        /// Which unit.
        lpn: u32,
        /// Its container.
        cell: u32,
    },
    /// The unit is in flash (or was trimmed): the capacitor need not keep this container any more.
    Unhold {
        /// Which unit.
        lpn: u32,
        /// The container that was held; a newer one of the same unit stays.
        cell: u32,
    },
    /// A disk has written sectors to the platter: each of so many containers from `from` on is copied to one from `to` on.
    Copy {
        /// First source.
        from: u32,
        /// First destination.
        to: u32,
        /// How many.
        count: u32,
    },
    /// The bytes of containers will not be wanted again: the host has trimmed what they held. (Containers of what was
    /// overwritten are used again without being mentioned.)
    Free {
        /// The first.
        first: u32,
        /// How many, one after another.
        count: u32,
    },
    /// A flash operation begins. Its words follow with its end.
    Begin {
        /// Number of the operation, increasing.
        number: u64,
        /// What.
        op: FlashOp,
    },
    /// A flash operation has ended: the medium has changed.
    End {
        /// Number of the operation.
        number: u64,
        /// What.
        op: FlashOp,
        /// Its words in [`Effects::words`]: the first, and how many.
        words: (u32, u32),
    },
    /// Every block was erased; no byte of before may ever be read again.
    SecureErase,
}

/// Effects in order, and the words of the flash operations among them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Effects {
    /// The effects.
    pub list: Vec<Effect>,
    /// Words of all operations.
    pub words: Vec<u64>,
}

impl Effects {
    /// Forgets all, keeping the memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.words.clear();
    }

    /// The words of an operation that has ended.
    #[must_use]
    pub fn words_of(&self, words: (u32, u32)) -> &[u64] {
        &self.words[words.0 as usize..(words.0 + words.1) as usize]
    }
}
