//! What mapping schemes refuse.

use drivelab_nand::FlashRule;

/// What the FTL refuses: always a mistake of the caller, never of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FtlError {
    /// A rule of flash would be broken.
    #[error(transparent)]
    Flash(#[from] FlashRule),
    /// The die has no room; it must be cleaned first.
    #[error("die {die} has no free block for this write")]
    NoFreeBlock {
        /// The die.
        die: u32,
    },
}
