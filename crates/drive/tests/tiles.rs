//! What a picture of a drive is told add up to what the drive is: blocks that have changed, whatever told of them.

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Device, Op};
use drivelab_drive::{Drive, TileChanges, Tiles};
use drivelab_sim::Stream;

/// A drive of each kind of map, with streams, superblocks, an SLC cache and failing blocks, and an array.
const MODELS: &[(&str, &[(&str, &str)])] = &[
    ("intel-x25-m-g1-80gb", &[("scale_divisor", "128")]),
    ("intel-x25-m-g1-80gb", &[("scale_divisor", "64"), ("ftl.placement", "sepbit")]),
    ("corsair-force-f100-100gb", &[("scale_divisor", "128")]),
    ("ocz-summit-128gb", &[("scale_divisor", "200")]),
    ("ocz-vertex-120gb@pre-release", &[("scale_divisor", "128")]),
    ("samsung-pm9a3-960gb", &[("scale_divisor", "128")]),
    ("intel-x25-v-40gb-raid0-x2", &[("scale_divisor", "64")]),
    ("crucial-t500-2tb", &[("scale_divisor", "70")]),
];
const WIDTHS: [usize; 7] = [4, 2, 1, 1, 1, 1, 1];
const VALID: usize = 2;

/// Every column of all blocks, as whoever draws has it.
#[derive(Debug, Default, PartialEq)]
struct Drawn(Vec<Vec<u8>>);

impl Drawn {
    fn take(&mut self, changes: &TileChanges) {
        let mut rest = changes.bytes.as_slice();
        let mut column = |width: usize| -> Vec<u8> {
            let (found, others) = rest.split_at(width * changes.count);
            rest = others;
            found.to_vec()
        };
        if changes.is_whole {
            self.0 = WIDTHS.map(column).to_vec();
            assert!(rest.is_empty() && changes.valid_count == 0);
            return;
        }
        let index: Vec<usize> =
            column(4).chunks(4).map(|four| u32::from_le_bytes(four.try_into().unwrap()) as usize).collect();
        for (all, width) in self.0.iter_mut().zip(WIDTHS) {
            for (place, value) in index.iter().zip(column(width).chunks(width)) {
                all[place * width..][..width].copy_from_slice(value);
            }
        }
        let (valid, between) = rest.split_at(changes.valid_count);
        let (mut block, mut valid) = (0, valid.iter());
        for &count in between {
            block += usize::from(count);
            if count < 255 {
                self.0[VALID][block] = *valid.next().unwrap();
                block += 1;
            }
        }
        assert!(valid.next().is_none(), "a share without a block");
    }
}

fn go(drive: &mut Drive, op: Op, lba: u64, sectors: u32) {
    drive.submit(drive.now_ns(), Command::new(0, op, lba, sectors)).unwrap();
    drive.advance_to_completion(u64::MAX, &mut Vec::new());
}

#[test]
fn changes_add_up_to_what_a_viewer_who_comes_now_gets() {
    for (name, changed) in MODELS {
        let mut drive = Drive::new(Arc::new(shipped::varied(name, changed).unwrap()), 1).unwrap();
        let (mut tiles, mut drawn) = (Tiles::default(), Drawn::default());
        let (mut places, mut partial, mut valid_only) = (Stream::new(1, 1), 0, 0);
        let capacity = drive.capacity_sectors();
        for look in 0..60 {
            match look {
                0 => {}
                30 => go(&mut drive, Op::Trim, 0, (capacity / 8) as u32 * 2),
                40 => drive.secure_erase(),
                41..50 => (0..64).for_each(|part| {
                    go(
                        &mut drive,
                        Op::Write,
                        (u64::from(look as u32 - 41) * 64 + part) % (capacity / 256) * 256,
                        256,
                    );
                }),
                1..10 => (0..capacity / 256 / 9).for_each(|part| {
                    go(&mut drive, Op::Write, ((look as u64 - 1) * (capacity / 256 / 9) + part) * 256, 256);
                }),
                _ => (0..10 + 40 * (look % 7)).for_each(|_| {
                    go(&mut drive, Op::Write, places.next_u64() % (capacity / 8) * 8, 8);
                }),
            }
            let changes = tiles.changes(drive.engine());
            assert!(changes.is_whole || look > 0, "{name}: a viewer begins with all blocks");
            partial += usize::from(!changes.is_whole);
            valid_only += changes.valid_count;
            drawn.take(&changes);
            let mut anew = Drawn::default();
            anew.take(&Tiles::default().changes(drive.engine()));
            assert!(drawn == anew, "{name}: look {look} leaves something out");
            let nothing = tiles.changes(drive.engine());
            assert_eq!(
                (nothing.is_whole, nothing.count, nothing.valid_count),
                (false, 0, 0),
                "{name}: {look}"
            );
            assert!(nothing.bytes.is_empty());
        }
        assert!(partial > 20 && valid_only > 0, "{name}: {partial} {valid_only}");
    }
}
