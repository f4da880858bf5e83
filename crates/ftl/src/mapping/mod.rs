//! What a mapping scheme is to the rest of a drive, a trait for each subject.
//!
//! [`Mapping`] says where a unit lies, and what a trim or a secure erase does to it; [`Contents`] what a unit takes in
//! flash; [`Books`] what there is to count; [`KeptWords`] are those that go where a unit's data goes; [`Recoverable`] is
//! what power cuts need, [`FailingBlocks`] what failing blocks need. [`Scheme`] is all of it. [`LogMapping`] is what
//! schemes add that write a log on every die and clean die by die (the page map, the compressed map); schemes that
//! merge whole superblocks are driven through steps of their own. The controller is generic over the scheme, so a flash
//! operation costs no virtual call.

mod block_use;
mod books;
mod contents;
mod failing_blocks;
mod kept_words;
mod log;
mod places;
mod recoverable;
mod scheme;

pub use block_use::{BlockRole, BlockUse, SettledUses};
pub use books::{Books, SlcUse, UnitPiece};
pub use contents::{Contents, Stored};
pub use failing_blocks::FailingBlocks;
pub use kept_words::KeptWords;
pub use log::LogMapping;
pub use places::{MAP_ENTRY_BYTES, MapFetch, Mapping};
pub(crate) use recoverable::LOG_RECORDS;
pub use recoverable::{Recoverable, Superseded};
pub use scheme::Scheme;
