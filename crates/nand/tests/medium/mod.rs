//! The medium against what flash can do: a small one, what can be seen of it, and one that has been used.
//!
//! `operations.rs` has what each operation does, and what is refused; `cuts.rs` power cuts between any two stores;
//! `arbitrary.rs` damage, any bytes and any operations.

mod arbitrary;
mod cuts;
mod operations;

use drivelab_nand::op::{FlashOp, PageKind, Record};
use drivelab_nand::view::{FoundBlock, FoundPage, MediumView};
use drivelab_nand::{BlockIndex, CellMode, Lpn, Medium, MediumShape};

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

/// A checkpoint whose entries are all `entry`.
fn checkpoint(medium: &mut Medium<Vec<u8>>, entry: u64, sequence: u64) {
    medium.apply(FlashOp::CheckpointBegin, &[]).unwrap();
    medium.apply(FlashOp::Checkpoint { first_lpn: 2 }, &[entry; 3]).unwrap();
    medium.apply(FlashOp::CheckpointLog, &words(&[record(4, 1)])).unwrap();
    medium.apply(FlashOp::Checkpoint { first_lpn: 0 }, &[entry; 2]).unwrap();
    medium.apply(FlashOp::CheckpointEnd { sequence }, &[]).unwrap();
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
