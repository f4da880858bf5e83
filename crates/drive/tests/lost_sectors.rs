//! Which sectors a drive of the laboratory has lost, against a list that is dumber than any drive: per sector, whether its
//! newest version was written before the drive lay on its shelf, where everything in flash becomes unreadable.
//!
//! What is written later can always be read, wherever cleaning moves what it replaced, and whenever it does so.

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Op, Outcome};
use drivelab_drive::Drive;
use drivelab_sim::Stream;
use proptest::prelude::*;

const HOUR_NS: u64 = 3_600_000_000_000;
/// Commands that are handed over side by side.
const SIDE_BY_SIDE: usize = 32;

/// A small drive of which new data has next to no wrong bits, and old data next to no right codeword.
fn drive(name: &str, seed: u64, overrides: &[(&str, &str)]) -> Drive {
    let mut pairs = vec![
        ("flash.bit_errors", "true"),
        ("flash.retention_hours", "1"),
        ("flash.new_bit_error_rate", "1e-6"),
        ("flash.worn_bit_error_rate", "1e-6"),
        ("flash.slc_new_bit_error_rate", "1e-6"),
        ("flash.slc_worn_bit_error_rate", "1e-6"),
        ("flash.endurance_cycles", "100000"),
        ("flash.slc_endurance_cycles", "100000"),
        ("flash.read_disturb_reads", "1000000000000"),
    ];
    pairs.extend_from_slice(overrides);
    Drive::new(Arc::new(shipped::varied(name, &pairs).unwrap()), seed).unwrap()
}

fn together(drive: &mut Drive, commands: &[(Op, u64, u32)]) -> Vec<Completion> {
    let mut done = Vec::new();
    for (tag, &(op, lba, sectors)) in commands.iter().enumerate() {
        let now = drive.now_ns();
        drive.submit(now, Command::new(tag as u32, op, lba, sectors)).unwrap();
    }
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut done);
    }
    done.sort_by_key(|completion| completion.tag);
    done
}

/// Whether each sector's newest version is lost.
struct Oracle {
    lost: Vec<bool>,
    /// Sectors of a unit: trims free whole ones, if the drive knows them.
    unit: u64,
    trims: bool,
}

impl Oracle {
    fn write(&mut self, lba: u64, sectors: u32) {
        self.lost[lba as usize..][..sectors as usize].fill(false);
    }

    fn trim(&mut self, lba: u64, sectors: u32) {
        if !self.trims {
            return;
        }
        let (first, end) =
            (lba.next_multiple_of(self.unit), (lba + u64::from(sectors)) / self.unit * self.unit);
        for sector in first..end {
            self.lost[sector as usize] = false;
        }
    }

    fn is_lost(&self, lba: u64, sectors: u32) -> bool {
        self.lost[lba as usize..][..sectors as usize].contains(&true)
    }
}

/// Random writes and trims of a full drive that has lain for long, all over a span that cleaning has to move, then reads
/// of what they touched and of anything else. How many reads failed, as they had to.
fn compare(drive: &mut Drive, (unit, trims): (u64, bool), seed: u64) -> u64 {
    let capacity = drive.capacity_sectors() / unit * unit;
    let mut oracle = Oracle { lost: vec![false; drive.capacity_sectors() as usize], unit, trims };
    let mut random = Stream::new(seed, 1);
    let mut failed = 0;
    for lba in (0..capacity).step_by(256) {
        together(drive, &[(Op::Write, lba, (capacity - lba).min(256) as u32)]);
    }
    together(drive, &[(Op::Flush, 0, 0)]);
    drive.age(1_000_000 * HOUR_NS);
    oracle.lost[..capacity as usize].fill(true);
    for round in 0..300 {
        let mut commands = Vec::new();
        for _ in 0..SIDE_BY_SIDE {
            let place = random.below(capacity / unit) * unit;
            let (lba, sectors) = match random.below(8) {
                // Part of a unit, or over the border between two.
                0 => (place + random.below(unit), 1 + random.below(2) as u32),
                _ => (place, unit as u32),
            };
            let sectors = u64::from(sectors).min(capacity - lba) as u32;
            let op = if random.below(16) == 0 { Op::Trim } else { Op::Write };
            commands.push((op, lba, sectors));
        }
        // What runs side by side must not touch the same units: which is the newer one would be anybody's guess.
        commands.sort_by_key(|command| command.1);
        commands.dedup_by(|next, one| next.1 / unit <= (one.1 + u64::from(one.2) - 1) / unit);
        together(drive, &commands);
        for &(op, lba, sectors) in &commands {
            match op {
                Op::Trim => oracle.trim(lba, sectors),
                _ => oracle.write(lba, sectors),
            }
        }
        let elsewhere = (0..4).map(|_| (Op::Read, random.below(capacity), 1));
        let reads: Vec<_> =
            commands.iter().map(|&(_, lba, sectors)| (Op::Read, lba, sectors)).chain(elsewhere).collect();
        for reads in reads.chunks(SIDE_BY_SIDE) {
            for (read, done) in reads.iter().zip(together(drive, reads)) {
                let expected = oracle.is_lost(read.1, read.2);
                failed += u64::from(expected);
                let found = done.outcome == Outcome::Uncorrectable;
                assert_eq!(found, expected, "seed {seed}, round {round}: {read:?} of units of {unit}");
            }
        }
    }
    // In the end every sector by itself.
    for lba in 0..capacity {
        let found = together(drive, &[(Op::Read, lba, 1)])[0].outcome == Outcome::Uncorrectable;
        assert_eq!(found, oracle.lost[lba as usize], "seed {seed}: sector {lba} of units of {unit}");
    }
    failed
}

/// An X25-M of few blocks and much to clean.
fn small(seed: u64, overrides: &[(&str, &str)]) -> Drive {
    let mut pairs = vec![
        ("flash.blocks_per_plane", "12"),
        ("flash.channel_count", "4"),
        ("flash.dies_per_channel", "1"),
        ("flash.pages_per_block", "32"),
        ("spare_ratio", "0.8"),
        ("ftl.checkpoint_updates", "0"),
        ("ftl.checkpoint_bytes", "0"),
    ];
    pairs.extend_from_slice(overrides);
    drive("intel-x25-m-g1-80gb", seed, &pairs)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_lost_is_what_nobody_wrote_since(
        seed in 0u64..1_000_000,
        unit in prop::sample::select(vec![4u64, 8]),
        copies_at_once in 1u32..4,
        buffer_pages in 2u32..16,
        coalesce: bool,
        trims: bool,
    ) {
        let bytes = (unit * 512).to_string();
        let buffer = (buffer_pages * 4096).to_string();
        let copies = copies_at_once.to_string();
        let mut drive = small(seed, &[
            ("ftl.map_unit_bytes", &bytes),
            // Most writes wait for room in it.
            ("write_buffer.size_bytes", &buffer),
            ("controller.cleaning_copies_at_once", &copies),
            ("write_buffer.coalesce", if coalesce { "true" } else { "false" }),
            ("ftl.trim_supported", if trims { "true" } else { "false" }),
        ]);
        let failed = compare(&mut drive, (unit, trims), seed);
        prop_assert!(failed > 0, "some sectors are lost");
    }
}
