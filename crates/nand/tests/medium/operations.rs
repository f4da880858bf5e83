//! What each operation does to the medium, and what flash refuses.

use drivelab_nand::op::{FlashOp, PageKind};
use drivelab_nand::view::{BlockState, FoundBlock, FoundPage, MediumView};
use drivelab_nand::{BlockIndex, CellMode, Medium, MediumError, MediumShape};

use super::{SHAPE, checkpoint, program, record, seen, words};

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
