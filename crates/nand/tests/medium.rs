//! The medium against what flash can do, after cuts between any two stores, and with arbitrary bytes.

use drivelab_nand::op::{FlashOp, PageKind, Record};
use drivelab_nand::view::{BlockState, FoundBlock, FoundPage, MediumView};
use drivelab_nand::{BlockIndex, CellMode, Lpn, Medium, MediumError, MediumShape};
use proptest::prelude::*;

const SHAPE: MediumShape = MediumShape {
    blocks: 3,
    pages_per_block: 4,
    pages_per_unit: 1,
    records_per_block: 8,
    user_units: 5,
    log_records: 3,
    held_units: 2,
};

fn program(block: u32, page: u32, sequence: u64) -> FlashOp {
    FlashOp::Program {
        block: BlockIndex(block),
        page,
        kind: PageKind::Host,
        mode: CellMode::Native,
        sequence,
    }
}

fn record(lpn: u32, cell: u32) -> Record {
    Record { lpn: Lpn(lpn), cell, info: u64::from(lpn) << 40 | 7 }
}

fn words(records: &[Record]) -> Vec<u64> {
    records.iter().flat_map(|record| record.to_words()).collect()
}

/// All that recovery can see.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    blocks: Vec<FoundBlock>,
    pages: Vec<Option<(FoundPage, Vec<Record>)>>,
    checkpoint: Option<(u64, Vec<u32>)>,
    log: Vec<Record>,
    held: Vec<(u32, u32)>,
}

fn seen(medium: &Medium<Vec<u8>>) -> Seen {
    let shape = *medium.shape();
    let (mut log, mut held) = (Vec::new(), Vec::new());
    medium.log(&mut log);
    medium.held(&mut held);
    let page = |block: u32, page: u32| {
        let mut records = Vec::new();
        medium.records(BlockIndex(block), page, &mut records);
        medium.page(BlockIndex(block), page).map(|found| (found, records))
    };
    Seen {
        blocks: (0..shape.blocks).map(|block| medium.block(BlockIndex(block))).collect(),
        pages: (0..shape.blocks)
            .flat_map(|block| (0..shape.pages_per_block).map(move |index| page(block, index)))
            .collect(),
        checkpoint: medium.checkpoint_sequence().map(|sequence| {
            (sequence, (0..shape.user_units).map(|lpn| medium.checkpoint_entry(lpn)).collect())
        }),
        log,
        held,
    }
}

#[test]
fn what_is_programmed_is_found_and_erased_once() {
    let mut medium = Medium::in_memory(SHAPE).unwrap();
    let first = [record(1, 11), record(2, 12)];
    let second = [record(3, 13)];
    medium.apply(program(1, 0, 5), &words(&first)).unwrap();
    medium.apply(program(1, 1, 6), &words(&second)).unwrap();
    let mut found = Vec::new();
    medium.records(BlockIndex(1), 0, &mut found);
    medium.records(BlockIndex(1), 1, &mut found);
    assert_eq!(found, [first[0], first[1], second[0]]);
    let block = FoundBlock { state: BlockState::Good, erase_count: 0, write_pointer: 2 };
    assert_eq!(medium.block(BlockIndex(1)), block);
    assert_eq!(medium.check(), [""; 0]);

    medium.apply(FlashOp::Erase { block: BlockIndex(1) }, &[]).unwrap();
    assert_eq!(medium.page(BlockIndex(1), 0), None);
    assert_eq!(medium.block(BlockIndex(1)), FoundBlock { erase_count: 1, write_pointer: 0, ..block });
    medium.apply(program(1, 0, 7), &[]).unwrap();
    assert_eq!(medium.check(), [""; 0]);
}

#[test]
fn flash_refuses_what_it_cannot_do() {
    let mut medium = Medium::in_memory(SHAPE).unwrap();
    let order = |page, next| Err(MediumError::ProgramOrder { block: 0, page, next });
    assert_eq!(medium.apply(program(0, 1, 1), &[]), order(1, 0));
    medium.apply(program(0, 0, 1), &[]).unwrap();
    assert_eq!(medium.apply(program(0, 0, 2), &[]), order(0, 1));
    assert!(matches!(medium.apply(program(0, 1, 1), &[]), Err(MediumError::Sequence { last: 1, .. })));
    let many = words(&[record(0, 1); 9]);
    let refused = MediumError::Records { block: 0, page: 1, records: 9, room: 8 };
    assert_eq!(medium.apply(program(0, 1, 2), &many), Err(refused));
    assert_eq!(refused.to_string(), "block 0, page 1: 9 records, room for 8");
    assert_eq!(medium.apply(program(0, 1, 2), &[0]), Err(MediumError::HalfRecord { words: 1 }));
    assert_eq!(medium.apply(program(3, 0, 2), &[]), Err(MediumError::NoBlock { block: 3, blocks: 3 }));
    for page in 1..4 {
        medium.apply(program(0, page, 9 + u64::from(page)), &[]).unwrap();
    }
    assert_eq!(medium.apply(program(0, 4, 20), &[]), order(4, 4));
    medium.apply(FlashOp::Retire { block: BlockIndex(0) }, &[]).unwrap();
    assert!(medium.page(BlockIndex(0), 3).is_some(), "what can be read of a failed block stays readable");
    let erase = FlashOp::Erase { block: BlockIndex(0) };
    assert_eq!(medium.apply(erase, &[]), Err(MediumError::Retired { block: 0 }));
    assert_eq!(medium.apply(FlashOp::Checkpoint { first_lpn: 0 }, &[0]), Err(MediumError::NoCheckpoint));
    assert_eq!(medium.check(), [""; 0]);
}

#[test]
fn all_pages_of_a_block_have_as_many_bits_a_cell_and_say_so() {
    let of = |page: u32, mode: CellMode, sequence: u64| FlashOp::Program {
        block: BlockIndex(0),
        page,
        kind: PageKind::Moved,
        mode,
        sequence,
    };
    let (native, slc) = (CellMode::Native, CellMode::Slc);
    let mut medium = Medium::in_memory(SHAPE).unwrap();
    // A torn page says nothing of what it should have been.
    medium.tear(of(0, native, 1)).unwrap();
    medium.apply(of(1, slc, 2), &words(&[record(1, 11)])).unwrap();
    medium.tear(of(2, slc, 3)).unwrap();
    let refused = MediumError::Mode { block: 0, page: 3, mode: native };
    assert_eq!(medium.apply(of(3, native, 4), &[]), Err(refused));
    assert_eq!(
        refused.to_string(),
        "block 0: page 3 is programmed in native mode, but the pages before it were not"
    );
    medium.apply(of(3, slc, 4), &[]).unwrap();
    let found = FoundPage { sequence: 4, kind: PageKind::Moved, mode: slc };
    assert_eq!(medium.page(BlockIndex(0), 3), Some(found));
    assert_eq!(medium.check(), [""; 0]);

    medium.apply(FlashOp::Erase { block: BlockIndex(0) }, &[]).unwrap();
    medium.apply(of(0, native, 5), &[]).unwrap();
    medium.apply(of(1, native, 6), &[]).unwrap();
    let found = FoundPage { sequence: 5, kind: PageKind::Moved, mode: native };
    assert_eq!(medium.page(BlockIndex(0), 0), Some(found));
    // The highest bit of the second page's kind.
    let mut bytes = medium.bytes().to_vec();
    let last = bytes.iter().rposition(|&byte| byte == 6).unwrap() + 14;
    bytes[last] |= 0x80;
    let wrong = Medium::new(SHAPE, bytes).unwrap().check();
    assert_eq!(wrong, ["block 0, page 1: programmed in slc mode, but pages before it were not"]);
}

#[test]
fn a_unit_of_two_pages_takes_both() {
    let mut medium = Medium::in_memory(MediumShape { pages_per_unit: 2, ..SHAPE }).unwrap();
    medium.apply(program(0, 0, 1), &words(&[record(1, 1)])).unwrap();
    assert_eq!(medium.block(BlockIndex(0)).write_pointer, 2);
    assert!(medium.apply(program(0, 1, 2), &[]).is_err());
    medium.apply(program(0, 2, 2), &words(&[record(2, 2)])).unwrap();
    assert_eq!(medium.block(BlockIndex(0)).write_pointer, 4);
    assert_eq!((medium.page(BlockIndex(0), 1), medium.check()), (None, vec![]));
}

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

/// A checkpoint whose entries are all `entry`.
fn checkpoint(medium: &mut Medium<Vec<u8>>, entry: u64, sequence: u64) {
    medium.apply(FlashOp::CheckpointBegin, &[]).unwrap();
    medium.apply(FlashOp::Checkpoint { first_lpn: 2 }, &[entry; 3]).unwrap();
    medium.apply(FlashOp::CheckpointLog, &words(&[record(4, 1)])).unwrap();
    medium.apply(FlashOp::Checkpoint { first_lpn: 0 }, &[entry; 2]).unwrap();
    medium.apply(FlashOp::CheckpointEnd { sequence }, &[]).unwrap();
}

#[test]
fn a_checkpoint_counts_from_its_end_on() {
    let mut medium = Medium::in_memory(SHAPE).unwrap();
    medium.apply(FlashOp::Log, &words(&[record(1, 2)])).unwrap();
    for round in 1..5u64 {
        let before = seen(&medium);
        medium.apply(FlashOp::CheckpointBegin, &[]).unwrap();
        medium.apply(FlashOp::Checkpoint { first_lpn: 0 }, &[7, 7, 7, 7]).unwrap();
        let short = Err(MediumError::CheckpointShort { entries: 4, user_units: 5 });
        assert_eq!(medium.apply(FlashOp::CheckpointEnd { sequence: 3 }, &[]), short);
        assert!(medium.apply(FlashOp::Checkpoint { first_lpn: 4 }, &[7, 7]).is_err(), "one unit too many");
        assert_eq!(seen(&medium), before);
        medium.tear(FlashOp::Checkpoint { first_lpn: 4 }).unwrap();
        let last = FlashOp::Checkpoint { first_lpn: 4 };
        assert_eq!(medium.apply(last, &[7]), Err(MediumError::NoCheckpoint), "it is torn");
        medium = Medium::new(SHAPE, medium.into_bytes()).unwrap();
        assert_eq!(seen(&medium), before);

        checkpoint(&mut medium, round, round * 10);
        assert_eq!(medium.checkpoint_sequence(), Some(round * 10));
        assert!((0..5).all(|lpn| medium.checkpoint_entry(lpn) == round as u32));
        assert_eq!(seen(&medium).log, [record(4, 1)], "the older log is in the checkpoint");
        medium.apply(FlashOp::Log, &words(&[record(round as u32, 2)])).unwrap();
        let reopened = Medium::new(SHAPE, medium.bytes().to_vec()).unwrap();
        assert_eq!(seen(&reopened), seen(&medium));
        assert_eq!(medium.check(), [""; 0]);
    }
    medium.apply(FlashOp::Log, &words(&[record(0, 1)])).unwrap();
    assert_eq!(
        medium.apply(FlashOp::Log, &words(&[record(0, 1)])),
        Err(MediumError::LogFull { records: 1, room: 0 })
    );
}

#[test]
fn a_capacitor_keeps_the_newest_version_in_order() {
    let mut medium = Medium::in_memory(SHAPE).unwrap();
    medium.hold(3, 30).unwrap();
    medium.hold(1, 10).unwrap();
    assert_eq!(medium.hold(2, 20), Err(MediumError::HoldFull { held_units: 2 }));
    medium.hold(3, 31).unwrap();
    assert_eq!(seen(&medium).held, [(1, 10), (3, 31)]);
    medium.unhold(3, 30);
    assert_eq!(seen(&medium).held, [(1, 10), (3, 31)], "a newer version stays");
    let mut reopened = Medium::new(SHAPE, medium.into_bytes()).unwrap();
    reopened.unhold(1, 10);
    reopened.hold(4, 40).unwrap();
    assert_eq!(seen(&reopened).held, [(3, 31), (4, 40)]);
    assert_eq!(reopened.check(), [""; 0]);
}

#[test]
fn a_secure_erase_leaves_erase_counts_and_nothing_else() {
    let mut medium = Medium::in_memory(SHAPE).unwrap();
    medium.apply(program(0, 0, 1), &words(&[record(1, 1)])).unwrap();
    medium.apply(program(1, 0, 2), &words(&[record(2, 2)])).unwrap();
    medium.apply(FlashOp::Retire { block: BlockIndex(1) }, &[]).unwrap();
    checkpoint(&mut medium, 1, 2);
    medium.hold(1, 10).unwrap();
    let mut expected = Medium::in_memory(SHAPE).unwrap();
    expected.apply(FlashOp::Erase { block: BlockIndex(0) }, &[]).unwrap();
    expected.apply(FlashOp::Erase { block: BlockIndex(1) }, &[]).unwrap();
    expected.apply(FlashOp::Retire { block: BlockIndex(1) }, &[]).unwrap();

    let mut begun = medium.clone().into_bytes();
    begun[0] = 1;
    assert_eq!(Medium::new(SHAPE, begun).unwrap().bytes(), expected.bytes(), "finished when found cut");
    medium.secure_erase();
    assert_eq!(medium.bytes(), expected.bytes());
    medium.hold(1, 10).unwrap();
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

#[test]
fn sizes_that_cannot_be_are_named() {
    let wrong = Medium::new(SHAPE, vec![0; 100]).unwrap_err();
    let needed = SHAPE.bytes();
    assert_eq!(wrong.to_string(), format!("the medium has 100 bytes, its shape needs {needed}"));
    let shape = MediumShape { pages_per_unit: 5, ..SHAPE };
    assert_eq!(
        Medium::in_memory(shape).unwrap_err().to_string(),
        "a medium of 5 pages per unit: must be 1 to 4"
    );
    let largest = MediumShape {
        blocks: 1 << 24,
        pages_per_block: 1 << 14,
        pages_per_unit: 1,
        records_per_block: 1 << 20,
        user_units: u32::MAX - 1,
        log_records: 1 << 30,
        held_units: 1 << 30,
    };
    assert!(largest.bytes() > 1 << 48);
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

/// A medium that has seen two checkpoints and builds a third one.
fn used() -> Medium<Vec<u8>> {
    let mut medium = Medium::in_memory(SHAPE).unwrap();
    medium.apply(program(0, 0, 1), &words(&[record(1, 1), record(3, 2)])).unwrap();
    medium.apply(program(0, 1, 2), &words(&[record(2, 3)])).unwrap();
    checkpoint(&mut medium, 1, 1);
    checkpoint(&mut medium, 2, 2);
    medium.hold(1, 10).unwrap();
    medium.apply(FlashOp::CheckpointBegin, &[]).unwrap();
    medium.apply(FlashOp::Checkpoint { first_lpn: 0 }, &[1, 2, 3, 4, 5]).unwrap();
    medium
}

fn changed_words(before: &[u8], after: &[u8]) -> Vec<usize> {
    (0..before.len()).step_by(8).filter(|&at| before[at..at + 8] != after[at..at + 8]).collect()
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

#[test]
fn damage_is_said() {
    let check = |at: usize, byte: u8| {
        let mut bytes = used().into_bytes();
        bytes[at] ^= byte;
        Medium::new(SHAPE, bytes).unwrap().check()
    };
    let bytes = used().into_bytes();
    let log = record(4, 1).to_words()[1].to_le_bytes();
    let logged: Vec<_> = (0..bytes.len() - 8).filter(|&at| bytes[at..at + 8] == log).collect();
    let pages = 64 + 128;
    assert_eq!(check(64 + 4, 8), ["block 0: state 8 is none"]);
    assert_eq!(
        check(pages + 7, 0x80),
        ["block 0, page 1: program 2 comes after program 9223372036854775809"]
    );
    assert_eq!(check(pages + 14, 9), ["block 0, page 0: kind 8 is none"]);
    assert_eq!(check(pages + 15, 1), ["block 0, page 1: not erased, but one before it is"]);
    let damaged = |line: &&str| line.contains("log record 0 is damaged: its check word doesn't fit");
    let of_log: Vec<_> = logged.iter().flat_map(|&at| check(at, 1)).collect();
    assert_eq!(of_log.iter().map(String::as_str).filter(damaged).count(), 1, "{of_log:?}");
    for byte in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[byte] = !bytes[byte];
        let medium = Medium::new(SHAPE, bytes).unwrap();
        seen(&medium);
        medium.check();
    }
}

fn arbitrary_op() -> impl Strategy<Value = (FlashOp, Vec<u64>)> {
    let block = (0u32..4).prop_map(BlockIndex);
    let op = prop_oneof![
        4 => (block.clone(), 0u32..6, 0usize..9, any::<u64>()).prop_map(|(block, page, mode, sequence)| FlashOp::Program {
            block,
            page,
            kind: PageKind::Moved,
            mode: CellMode::ALL[mode / 8],
            sequence,
        }),
        2 => block.clone().prop_map(|block| FlashOp::Erase { block }),
        1 => block.prop_map(|block| FlashOp::Retire { block }),
        1 => Just(FlashOp::Log),
        1 => Just(FlashOp::CheckpointBegin),
        2 => (0u32..6).prop_map(|first_lpn| FlashOp::Checkpoint { first_lpn }),
        1 => Just(FlashOp::CheckpointLog),
        1 => (0u64..9).prop_map(|sequence| FlashOp::CheckpointEnd { sequence }),
    ];
    (op, prop::collection::vec(any::<u64>(), 0..6))
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        fill in prop::collection::vec((0usize..10_000, any::<u64>()), 0..200),
        is_noise in any::<bool>(),
        noise in any::<u64>(),
        ops in prop::collection::vec((arbitrary_op(), any::<bool>()), 0..30),
    ) {
        let mut bytes = vec![0; SHAPE.bytes() as usize];
        if is_noise {
            let mut word = noise | 1;
            for byte in &mut bytes {
                word = word.wrapping_mul(0x2545_F491_4F6C_DD1D).rotate_left(17);
                *byte = word as u8 & (word >> 8) as u8;
            }
        }
        for (at, word) in fill {
            let at = at % (bytes.len() / 8) * 8;
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        let mut medium = Medium::new(SHAPE, bytes).unwrap();
        for ((op, words), is_torn) in ops {
            let _ = if is_torn { medium.tear(op) } else { medium.apply(op, &words) };
            let _ = medium.hold(words.len() as u32, 9);
            medium.unhold(words.len() as u32 / 2, 9);
        }
        seen(&medium);
        medium.check();
        medium.secure_erase();
        prop_assert_eq!(medium.check(), [""; 0]);
    }

    /// Whatever is done or torn in any order, recovery and check see no contradiction.
    #[test]
    fn what_flash_accepts_is_sound(ops in prop::collection::vec((arbitrary_op(), 0u8..8), 0..200)) {
        let mut medium = Medium::in_memory(SHAPE).unwrap();
        for (index, ((op, words), cut)) in ops.into_iter().enumerate() {
            let words: Vec<u64> = words.iter().map(|word| word % 5).collect();
            let op = match op {
                FlashOp::Program { block, page, kind, mode, .. } => {
                    let next = medium.block(BlockIndex(block.0.min(2))).write_pointer;
                    let page = if page < 4 { next } else { page };
                    FlashOp::Program { block, page, kind, mode, sequence: index as u64 + 1 }
                }
                op => op,
            };
            if cut == 0 {
                let _ = medium.tear(op);
                medium = Medium::new(SHAPE, medium.into_bytes()).unwrap();
            } else {
                let before = medium.bytes().to_vec();
                let touched = medium.touched_by(op, words.len());
                let is_refused = medium.apply(op, &words).is_err();
                for at in changed_words(&before, medium.bytes()) {
                    prop_assert!(touched.iter().any(|range| range.start < at + 8 && at < range.end), "{:?} touches {}", op, at);
                }
                if is_refused {
                    prop_assert_eq!(medium.bytes(), &before, "a refusal changes nothing");
                }
            }
        }
        prop_assert_eq!(medium.check(), [""; 0]);
        let reopened = Medium::new(SHAPE, medium.bytes().to_vec()).unwrap();
        prop_assert_eq!(seen(&reopened), seen(&medium));
    }
}

#[test]
fn a_word_line_between_its_passes_is_used_up_and_can_not_be_read() {
    let mut medium = Medium::in_memory(SHAPE).unwrap();
    let block = BlockIndex(0);
    let records = words(&[record(1, 1), record(2, 2)]);
    let fine = |page: u32, sequence: u64| FlashOp::Fine { block, page, kind: PageKind::Host, sequence };
    let first = medium.apply(fine(0, 1), &records);
    assert_eq!(first, Err(MediumError::FineFirst { block: 0, page: 0 }));
    medium.apply(FlashOp::Coarse { block, page: 0 }, &records).unwrap();
    medium.apply(FlashOp::Coarse { block, page: 1 }, &[]).unwrap();
    assert_eq!(medium.block(block).write_pointer, 2);
    assert!(medium.page(block, 0).is_none() && medium.check().is_empty(), "{:?}", medium.check());
    // A power cut in the middle of the second pass, and a drive that has its bytes only.
    let mut cut = Medium::new(*medium.shape(), medium.bytes().to_vec()).unwrap();
    cut.tear(fine(0, 1)).unwrap();
    assert!(cut.page(block, 0).is_none() && cut.check().is_empty());
    medium.apply(fine(0, 1), &records).unwrap();
    let mut found = Vec::new();
    medium.records(block, 0, &mut found);
    assert_eq!(found, [record(1, 1), record(2, 2)]);
    assert!(medium.page(block, 1).is_none() && medium.check().is_empty(), "{:?}", medium.check());
}
