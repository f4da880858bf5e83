//! All that a mapping scheme is.

use super::books::Books;
use super::contents::Contents;
use super::failing_blocks::FailingBlocks;
use super::kept_words::KeptWords;
use super::places::Mapping;
use super::recoverable::Recoverable;

/// A mapping scheme over its flash array: what the rest of a drive asks for.
pub trait Scheme: Mapping + Contents + Books + KeptWords + Recoverable + FailingBlocks {}

impl<M: Mapping + Contents + Books + KeptWords + Recoverable + FailingBlocks> Scheme for M {}
