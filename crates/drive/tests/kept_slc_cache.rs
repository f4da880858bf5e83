//! A drive with an SLC cache finds after a power cut what it had: which blocks have one bit a cell, what is in the cache,
//! and the block that it was writing; and works on with it.

use std::sync::Arc;

use crate::shipped;
use drivelab_controller::{Command, Completion, Device, Effect, Effects, Op, Outcome};
use drivelab_drive::{Drive, Inside, Model};
use drivelab_nand::Medium;

/// Blocks of a die, and dies.
const BLOCKS: u64 = 28;
const DIES: u64 = 2;
/// A page of four planes of 16 KiB with three bits a cell, and how many a block has.
const LINE_BYTES: u64 = 4 * 16384 * 3;
const LINES: u64 = 8;
const SLC_BLOCK: u64 = LINES * LINE_BYTES / 3;
/// Sectors of a write.
const SECTORS: u64 = 128;

fn model(overrides: &[(&str, &str)]) -> Arc<Model> {
    let (blocks, pages) = (BLOCKS.to_string(), (3 * LINES).to_string());
    let user = (DIES * BLOCKS * LINES * LINE_BYTES * 45 / 100).to_string();
    let max = (10 * SLC_BLOCK).to_string();
    let mut pairs = vec![
        ("flash.channel_count", "2"),
        ("flash.dies_per_channel", "1"),
        ("flash.blocks_per_plane", &*blocks),
        ("flash.planes_per_die", "4"),
        ("flash.pages_per_block", &*pages),
        ("slc_cache.max_bytes", &*max),
        ("slc_cache.reserve_bytes", "0"),
        ("write_buffer.size_bytes", "1572864"),
        ("user_capacity_bytes", &*user),
    ];
    pairs.extend(overrides);
    Arc::new(shipped::varied("crucial-t500-2tb", &pairs).unwrap())
}

/// A drive whose flash is kept.
struct Kept {
    model: Arc<Model>,
    drive: Drive,
    medium: Medium<Vec<u8>>,
    effects: Effects,
}

impl Kept {
    fn new(model: &Arc<Model>) -> Self {
        let mut drive = Drive::new(Arc::clone(model), 1).unwrap();
        drive.record_effects().unwrap();
        let shape = drive.engine().flash_shapes()[0];
        let medium = Medium::in_memory(shape.medium());
        Self { model: Arc::clone(model), drive, medium: medium.unwrap(), effects: Effects::default() }
    }

    fn carry_out(&mut self) {
        self.drive.take_effects(0, &mut self.effects);
        for &effect in &self.effects.list {
            if let Effect::End { op, words, .. } = effect {
                self.medium.apply(op, self.effects.words_of(words)).unwrap();
            }
        }
    }

    fn run(&mut self, op: Op, lba: u64, sectors: u64) {
        let now = self.drive.now_ns();
        self.drive.submit(now, Command::new(0, op, lba, sectors as u32)).unwrap();
        let mut done: Vec<Completion> = Vec::new();
        self.drive.advance_to_completion(u64::MAX, &mut done);
        assert_eq!(done[0].outcome, Outcome::Done);
        self.carry_out();
    }

    /// Writes so many bytes in order, from the drive's first on.
    fn fill(&mut self, bytes: u64) {
        for lba in (0..bytes / 512).step_by(SECTORS as usize) {
            self.run(Op::Write, lba, SECTORS);
        }
        self.run(Op::Flush, 0, 0);
    }

    /// Nothing is done for so long.
    fn rest(&mut self, duration_ns: u64) {
        let until = self.drive.now_ns() + duration_ns;
        self.drive.advance(until, &mut Vec::new());
        self.carry_out();
    }

    /// What flash holds now is all that is left.
    fn cut(self) -> Self {
        let Self { model, medium, effects, .. } = self;
        assert_eq!(medium.check(), [""; 0]);
        let (drive, _) = Drive::mount(Arc::clone(&model), 1, &[&medium]).unwrap();
        drive.engine().check().unwrap();
        Self { model, drive, medium, effects }
    }

    fn cached_bytes(&self) -> u64 {
        self.drive.counters()["slc_cache_bytes"].as_u64().unwrap()
    }

    /// Mode, written pages and valid bytes of every block.
    fn blocks(&self) -> Vec<(i8, u32, u64)> {
        let blocks = Inside::of(self.drive.engine()).blocks;
        let modes = blocks.mode.iter().zip(&blocks.written_pages).zip(&blocks.valid_bytes);
        modes.map(|((&mode, &pages), &bytes)| (mode, pages, bytes)).collect()
    }
}

#[test]
fn the_cache_is_found_as_it_was_whatever_it_is_made_of() {
    let own = (3 * DIES * SLC_BLOCK).to_string();
    for (static_bytes, share) in [("0", 3), ("0", 7), (&*own, 3), (&*own, 7), (&*own, 11)] {
        let mut kept = Kept::new(&model(&[("slc_cache.static_bytes", static_bytes)]));
        kept.fill(share * SLC_BLOCK + SLC_BLOCK / 3);
        let (blocks, cached) = (kept.blocks(), kept.cached_bytes());
        let of_mode = |wanted: i8| blocks.iter().filter(|&&(mode, ..)| mode == wanted).count();
        assert!(of_mode(1) > 0 && (share < 10 || of_mode(0) > 0), "{share} blocks of data: {blocks:?}");
        let kept = kept.cut();
        assert_eq!(kept.blocks(), blocks, "{static_bytes} bytes always of the cache");
        assert_eq!(kept.cached_bytes(), cached, "{static_bytes} bytes always of the cache");
    }
}

#[test]
fn the_block_that_was_being_written_goes_on_in_its_mode() {
    let mut kept = Kept::new(&model(&[]));
    kept.fill(SLC_BLOCK / 2);
    let before = kept.blocks();
    let mut kept = kept.cut();
    kept.fill(SLC_BLOCK / 2);
    let opened = kept.blocks().iter().zip(&before).filter(|(now, before)| now.1 > 0 && before.1 == 0).count();
    assert_eq!(opened, 0, "{:?}", kept.blocks());
}

#[test]
fn a_pause_after_a_power_cut_empties_the_cache() {
    let mut kept = Kept::new(&model(&[]));
    kept.fill(6 * SLC_BLOCK);
    let mut kept = kept.cut();
    let cached = kept.cached_bytes();
    kept.rest(20_000_000_000);
    assert!(kept.cached_bytes() < cached / 2, "{} of {cached} bytes are left in it", kept.cached_bytes());
    let copied = kept.drive.counters()["program_bytes_folding"].as_u64().unwrap();
    assert!(copied > 0, "and not because anything was lost");
    let held: u64 = kept.blocks().iter().map(|&(_, _, bytes)| bytes).sum();
    assert_eq!(held, 6 * SLC_BLOCK);
    let held: u64 = kept.cut().blocks().iter().map(|&(_, _, bytes)| bytes).sum();
    assert_eq!(held, 6 * SLC_BLOCK);
}

#[test]
fn what_is_folded_is_the_same_however_often_the_power_fails() {
    for when_full in ["native", "wait", "refill"] {
        let mut kept = Kept::new(&model(&[("slc_cache.when_full", when_full)]));
        let bytes = 30 * SLC_BLOCK;
        for round in 0..3 {
            for lba in (0..bytes / 512).step_by(SECTORS as usize) {
                kept.run(Op::Write, lba, SECTORS);
                // A prime, so that cuts come in all states of blocks and of folding.
                if (lba / SECTORS + round).is_multiple_of(37) {
                    kept.run(Op::Flush, 0, 0);
                    kept = kept.cut();
                }
            }
        }
        kept.run(Op::Flush, 0, 0);
        let kept = kept.cut();
        let held: u64 = kept.blocks().iter().map(|&(_, _, bytes)| bytes).sum();
        assert_eq!(held, bytes, "{when_full}");
        assert!(kept.blocks().iter().any(|&(mode, ..)| mode == 0), "{when_full}: more than the cache takes");
    }
}
