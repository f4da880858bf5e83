//! The medium after power cuts between any two stores.

use drivelab_nand::op::FlashOp;
use drivelab_nand::view::{BlockState, FoundBlock, MediumView};
use drivelab_nand::{BlockIndex, Medium, MediumError};

use super::{SHAPE, changed_words, program, record, seen, used, words};

#[test]
fn torn_pages_are_passed_over_and_torn_erases_erased_again() {
    let mut medium = Medium::in_memory(SHAPE).unwrap();
    medium.apply(program(0, 0, 1), &words(&[record(1, 1)])).unwrap();
    medium.tear(program(0, 1, 2)).unwrap();
    assert_eq!((medium.page(BlockIndex(0), 1), medium.block(BlockIndex(0)).write_pointer), (None, 2));
    assert!(medium.apply(program(0, 2, 1), &[]).is_err(), "the order is seen beyond a torn page");
    medium.apply(program(0, 2, 3), &words(&[record(2, 2)])).unwrap();
    let mut found = Vec::new();
    medium.records(BlockIndex(0), 2, &mut found);
    assert_eq!(found, [record(2, 2)]);

    let erase = FlashOp::Erase { block: BlockIndex(0) };
    medium.tear(erase).unwrap();
    assert_eq!(medium.page(BlockIndex(0), 0), None, "nothing of it can be read");
    let block = FoundBlock { state: BlockState::TornErase, erase_count: 0, write_pointer: 4 };
    assert_eq!(medium.block(BlockIndex(0)), block);
    assert_eq!(medium.apply(program(0, 3, 4), &[]), Err(MediumError::TornErase { block: 0 }));
    medium.apply(erase, &[]).unwrap();
    medium.apply(program(0, 0, 5), &[]).unwrap();
    assert_eq!(medium.check(), [""; 0]);
}

/// Bytes that remember what they were before each store.
struct Watched {
    bytes: Vec<u8>,
    before: Vec<Vec<u8>>,
}

impl AsRef<[u8]> for Watched {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsMut<[u8]> for Watched {
    fn as_mut(&mut self) -> &mut [u8] {
        self.before.push(self.bytes.clone());
        &mut self.bytes
    }
}

#[test]
fn a_retired_block_stays_so_wherever_a_secure_erase_is_cut() {
    let mut medium = Medium::in_memory(SHAPE).unwrap();
    medium.apply(program(0, 0, 1), &words(&[record(1, 1)])).unwrap();
    medium.apply(program(1, 0, 2), &words(&[record(2, 2)])).unwrap();
    medium.apply(FlashOp::Retire { block: BlockIndex(1) }, &[]).unwrap();
    let mut watched = Medium::new(SHAPE, Watched { bytes: medium.into_bytes(), before: Vec::new() }).unwrap();
    let opened = watched.bytes().len();
    watched.secure_erase();
    let cuts = watched.into_bytes().before;
    assert!(cuts.len() > 5 && cuts[0].len() == opened, "{} stores", cuts.len());
    for (cut, bytes) in cuts.into_iter().enumerate() {
        let found = seen(&Medium::new(SHAPE, bytes).unwrap());
        assert_eq!(found.blocks[1].state, BlockState::Retired, "before store {cut}");
    }
}

/// Operations on a medium in use, each with its words.
fn next_operations() -> Vec<(FlashOp, Vec<u64>)> {
    vec![
        (program(0, 2, 20), words(&[record(1, 5), record(2, 6)])),
        (FlashOp::Retire { block: BlockIndex(0) }, vec![]),
        (FlashOp::Log, words(&[record(2, 2)])),
        (FlashOp::CheckpointBegin, vec![]),
        (FlashOp::Checkpoint { first_lpn: 4 }, vec![3]),
        (FlashOp::CheckpointLog, words(&[record(2, 2)])),
        (FlashOp::CheckpointEnd { sequence: 19 }, vec![]),
    ]
}

/// Whatever of an operation's words reach the medium without the last one, it has not happened.
#[test]
fn one_word_makes_an_operation_count() {
    let before = used();
    let old = seen(&before);
    for (op, words) in next_operations() {
        let mut after = before.clone();
        after.apply(op, &words).unwrap_or_else(|_| assert!(matches!(op, FlashOp::Checkpoint { .. })));
        let changed = changed_words(before.bytes(), after.bytes());
        let is_not_there = |subset: u32| {
            let mut bytes = before.bytes().to_vec();
            for (_, &at) in changed.iter().enumerate().filter(|&(index, _)| subset & 1 << index != 0) {
                bytes[at..at + 8].copy_from_slice(&after.bytes()[at..at + 8]);
            }
            let medium = Medium::new(SHAPE, bytes).unwrap();
            seen(&medium) == old && medium.check().is_empty()
        };
        let counts = |word: usize| {
            (0..1u32 << changed.len()).filter(|subset| subset & 1 << word == 0).all(is_not_there)
        };
        let is_seen = seen(&after) != old;
        assert!(!is_seen || (0..changed.len()).any(counts), "{op:?} changes {changed:?}");
    }
}

#[test]
fn an_erase_that_is_cut_is_torn() {
    let mut medium = used();
    let before = medium.bytes().to_vec();
    medium.apply(FlashOp::Erase { block: BlockIndex(0) }, &[]).unwrap();
    let changed = changed_words(&before, medium.bytes());
    let mut bytes = before;
    bytes[changed[0] + 4] = 1;
    for &at in &changed[1..] {
        bytes[at..at + 8].copy_from_slice(&medium.bytes()[at..at + 8]);
        let cut = Medium::new(SHAPE, bytes.clone()).unwrap();
        assert_eq!(cut.block(BlockIndex(0)).state, BlockState::TornErase);
        assert_eq!((cut.page(BlockIndex(0), 0), cut.check()), (None, vec![]));
    }
}
