//! Flash that is kept without the host's bytes: a power cut loses what was in a plain buffer, and nothing that was flushed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::small::{SECTORS, texts};
use drivelab_controller::{Command, Completion, Device, Op, Outcome};
use drivelab_drive::{Drive, Model};
use drivelab_image::{KeptFlash, Recovery};

const SEED: u64 = 7;
const UNIT: u64 = 8;

/// A drive that has written every unit once and was flushed, and has written `more` units since.
fn written(model: &Arc<Model>, more: u64, seed: u64) -> (Drive, KeptFlash) {
    let mut drive = Drive::new(Arc::clone(model), SEED).unwrap();
    let mut flash = KeptFlash::of(&mut drive).unwrap();
    let mut host = |command: Command| {
        drive.submit(drive.now_ns(), command).unwrap();
        let mut done: Vec<Completion> = Vec::new();
        while done.is_empty() {
            let event = drive.next_event().unwrap();
            drive.advance(event, &mut done);
            flash.follow(&mut drive, &mut done);
        }
    };
    for unit in 0..SECTORS / UNIT {
        host(Command::new(0, Op::Write, unit * UNIT, UNIT as u32));
    }
    host(Command::new(0, Op::Flush, 0, 0));
    for unit in 0..more {
        let place = (unit * 37 + seed) % (SECTORS / UNIT);
        host(Command::new(0, Op::Write, place * UNIT, UNIT as u32));
    }
    assert_eq!(flash.take_failure(), None);
    (drive, flash)
}

fn cut(model: &Arc<Model>, more: u64, seed: u64) -> (u64, Recovery, Drive) {
    let (mut drive, mut flash) = written(model, more, seed);
    let met = flash.cut(&mut drive);
    assert!(!flash.is_on());
    let (mounted, recovery) = flash.mount(Arc::clone(model), SEED).unwrap();
    assert!(flash.is_on());
    mounted.engine().check().unwrap();
    let units: BTreeSet<u32> = mounted.engine().live_cells(0).into_iter().map(|(unit, _)| unit).collect();
    assert_eq!(units.len() as u64, SECTORS / UNIT);
    (met.complete_units, recovery, mounted)
}

#[test]
fn what_reads_could_not_give_back_does_not_pile_up_where_nobody_asks() {
    let wrong = [
        ("flash.bit_errors", "true"),
        ("flash.endurance_cycles", "100"),
        ("flash.new_bit_error_rate", "0.5"),
        ("flash.worn_bit_error_rate", "0.5"),
        ("controller.read_retries", "0"),
    ];
    let model: Arc<Model> = texts(&wrong).parse().unwrap();
    let (mut drive, mut flash) = written(&model, 0, 0);
    let mut read = |tag| {
        let mut done: Vec<Completion> = Vec::new();
        drive.submit(drive.now_ns(), Command::new(tag, Op::Read, 0, UNIT as u32)).unwrap();
        while done.is_empty() {
            let event = drive.next_event().unwrap();
            drive.advance(event, &mut done);
        }
        assert_eq!(done[0].outcome, Outcome::Uncorrectable);
    };
    (0..20).for_each(&mut read);
    flash.follow(&mut drive, &mut Vec::new());
    assert_eq!(drive.take_unreadable().len(), 0, "they were dropped with what the drive has done");
    // Otherwise a drive that is asked has them.
    drive.submit(drive.now_ns(), Command::new(21, Op::Read, 0, UNIT as u32)).unwrap();
    while let Some(event) = drive.next_event() {
        drive.advance(event, &mut Vec::new());
    }
    assert_eq!(drive.take_unreadable().iter().map(|part| part.sector_count).sum::<u32>(), UNIT as u32);
}

#[test]
fn what_is_only_in_a_plain_buffer_is_lost() {
    let model = texts(&[]).parse().unwrap();
    for seed in 0..20 {
        let (_, flushed, _) = cut(&model, 0, seed);
        assert_eq!(flushed.lost_units, 0, "seed {seed}: it was flushed");
        let (buffered, recovery, _) = cut(&model, seed + 1, seed);
        assert!(buffered > 0, "seed {seed}");
        assert_eq!(recovery.lost_units, buffered, "seed {seed}");
    }
}

#[test]
fn a_capacitor_keeps_it() {
    let model = texts(&[("write_buffer.capacitor", "true")]).parse().unwrap();
    for seed in 0..20 {
        let (buffered, recovery, _) = cut(&model, seed + 1, seed);
        assert!(buffered > 0, "seed {seed}");
        assert_eq!((recovery.lost_units, recovery.report.held_units), (0, buffered), "seed {seed}");
    }
}

#[test]
fn after_a_rest_no_block_is_read_whole() {
    let model: Arc<Model> = texts(&[]).parse().unwrap();
    let (mut drive, mut flash) = written(&model, 9, 3);
    flash.rest(&mut drive, &mut Vec::new());
    flash.cut(&mut drive);
    let (_, recovery) = flash.mount(model, SEED).unwrap();
    assert_eq!((recovery.lost_units, recovery.report.pages_read), (0, 0));
    assert!(recovery.blocks_read.iter().all(|&read| !read));
    assert_eq!(recovery.blocks_read.len(), recovery.report.blocks_skipped as usize);
}
