//! What blocks are used for, to look at.

use std::fmt;

/// What a block is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BlockRole {
    /// Erased, or with nothing on it that counts: the next to be opened.
    Free,
    /// Takes data: of the host, or copies.
    Open,
    /// Holds data.
    Closed,
    /// Its data is being moved elsewhere.
    Emptied,
    /// A log block of a scheme that merges.
    Log,
    /// Belongs to the map, its journal or its checkpoints.
    Metadata,
    /// Has failed.
    Failed,
}

impl BlockRole {
    /// All roles, each at its number.
    pub const ALL: [Self; 7] =
        [Self::Free, Self::Open, Self::Closed, Self::Emptied, Self::Log, Self::Metadata, Self::Failed];
}

impl fmt::Display for BlockRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Free => "free",
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Emptied => "emptied",
            Self::Log => "log",
            Self::Metadata => "metadata",
            Self::Failed => "failed",
        })
    }
}

/// A block, as its scheme's books have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockUse {
    /// What it is used for.
    pub role: BlockRole,
    /// The write stream that an open block takes data of; `None` of other blocks, and of schemes without streams.
    pub stream: Option<u8>,
    /// Bytes on it that hold current data, as they are stored: compressed, where the scheme does.
    pub valid_bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_has_its_number_and_a_word_of_its_own() {
        for (number, role) in BlockRole::ALL.into_iter().enumerate() {
            assert_eq!(role as usize, number);
        }
        let words: std::collections::BTreeSet<_> = BlockRole::ALL.iter().map(BlockRole::to_string).collect();
        assert_eq!(words.len(), BlockRole::ALL.len());
    }
}
