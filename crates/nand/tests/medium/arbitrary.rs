//! The medium with damage, with arbitrary bytes, and after any operations in any order.

use drivelab_nand::op::{FlashOp, PageKind};
use drivelab_nand::view::MediumView;
use drivelab_nand::{BlockIndex, CellMode, Medium};
use proptest::prelude::*;

use super::{SHAPE, changed_words, record, seen, used};

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
