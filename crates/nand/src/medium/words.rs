//! Little-endian words in bytes that may belong to a file.

use std::ops::Range;
use std::sync::atomic::{Ordering, compiler_fence};

/// The word at a byte offset, which must be in range.
#[inline]
pub(super) fn load(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Stores a word.
#[inline]
pub(super) fn store(bytes: &mut [u8], at: usize, word: u64) {
    bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
}

/// Stores the one word that makes what was stored before count. The process may be killed between any two stores, and
/// what it stored in a mapped file stays; so the compiler must not move stores across this one.
#[inline]
pub(super) fn commit(bytes: &mut [u8], at: usize, word: u64) {
    compiler_fence(Ordering::SeqCst);
    store(bytes, at, word);
    compiler_fence(Ordering::SeqCst);
}

/// The half word at a byte offset.
#[inline]
pub(super) fn load_half(bytes: &[u8], at: usize) -> u32 {
    let mut half = [0; 4];
    half.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(half)
}

/// Stores a half word.
#[inline]
pub(super) fn store_half(bytes: &mut [u8], at: usize, half: u32) {
    bytes[at..at + 4].copy_from_slice(&half.to_le_bytes());
}

/// Makes bytes zero. Those that are already are not touched, so that a file that was never written there stays sparse.
pub(super) fn wipe(bytes: &mut [u8], range: Range<usize>) {
    for part in bytes[range].chunks_mut(4096) {
        if part.iter().any(|&byte| byte != 0) {
            part.fill(0);
        }
    }
}
