//! All sequences of up to three commands out of a few, on new drives and on full ones, cut at every operation: most of
//! what goes wrong in power cuts shows after three commands (REFERENCES.md, \[CRASHMONKEY\]).

use drivelab_controller::{Content, Op};
use drivelab_drive::{Family, Model};
use drivelab_sim::Stream;

use super::models;
use super::oracle::{Failure, Oracle};
use super::session::{Session, Trial};
use super::subject::Subject;
use super::workload::Step;
use crate::random_models::values::Random;

/// Commands of a sequence, at most.
const LONGEST: usize = 3;

fn command(op: Op, lba: u64, sectors: u64, fua: bool) -> Step {
    Step::Command { op, lba, sectors: sectors as u32, fua, content: Content::RANDOM }
}

/// What sequences are made of: of a drive with units of so many sectors.
fn alphabet(unit: u64) -> Vec<Step> {
    vec![
        command(Op::Write, 0, unit, false),
        command(Op::Write, unit.div_ceil(2), unit, false),
        command(Op::Write, 0, 3 * unit, false),
        command(Op::Write, 0, unit, true),
        command(Op::Trim, 0, unit, false),
        command(Op::Trim, unit, 3 * unit, false),
        command(Op::Flush, 0, 0, false),
        Step::Standby,
        Step::SecureErase,
    ]
}

/// A drive, at rest.
struct Start {
    drive: drivelab_drive::Partition<drivelab_drive::Engine>,
    media: Vec<super::medium::Medium>,
    oracle: Oracle,
}

/// A new drive, or one that was filled and half of it written again.
fn start(trial: &mut Trial<'_>, is_full: bool) -> Result<Option<Start>, Failure> {
    let subject = trial.subject;
    let Some(drive) = subject.new_drive() else { return Ok(None) };
    let oracle = Oracle::new(subject.sectors, subject.promises);
    let mut session = Session::new(trial, drive, subject.new_media(), oracle, Random(Stream::new(0, 9)));
    if is_full {
        let unit = subject.unit();
        for lba in
            (0..subject.sectors).step_by(unit as usize).chain((0..subject.sectors).step_by(2 * unit as usize))
        {
            session.perform(command(Op::Write, lba, unit.min(subject.sectors - lba), false), 1)?;
        }
        session.perform(command(Op::Flush, 0, 0, false), 1)?;
    }
    session.rest()?;
    let Session { drive, media, oracle, .. } = session;
    Ok(Some(Start { drive, media, oracle }))
}

/// Tries all sequences on a drive. Gives how many, and the cuts.
pub fn try_all(family: Family, overrides: &[(&str, u64)], words: &[(&str, &str)]) -> (u64, u64) {
    let model: Model = models::fixed(family, overrides, words);
    let Some(subject) = Subject::new(model, 1) else { panic!("no drive that could be tried") };
    let mut trial = Trial {
        subject: &subject,
        sabotage: None,
        faults: None,
        cuts: 0,
        may_give_up: false,
        gave_up: false,
        is_traced: false,
        spare: Vec::new(),
    };
    let letters = alphabet(subject.unit());
    let mut sequences = 0;
    for is_full in [false, true] {
        let start = start(&mut trial, is_full).unwrap_or_else(|failure| panic!("at the start: {failure:?}"));
        let Some(start) = start else { return (0, 0) };
        let mut word = Vec::new();
        try_from(&mut trial, &start, &letters, &mut word, &mut sequences);
    }
    (sequences, trial.cuts)
}

fn try_from(
    trial: &mut Trial<'_>,
    start: &Start,
    letters: &[Step],
    word: &mut Vec<Step>,
    sequences: &mut u64,
) {
    for &letter in letters {
        word.push(letter);
        for depth in [1, 4] {
            *sequences += 1;
            if let Err(Failure { class, text }) = try_one(trial, start, word, depth, *sequences) {
                panic!("{class:?}: {text}\n  after {word:?}, up to {depth} at once");
            }
        }
        if word.len() < LONGEST {
            try_from(trial, start, letters, word, sequences);
        }
        word.pop();
    }
}

fn try_one(
    trial: &mut Trial<'_>,
    start: &Start,
    word: &[Step],
    depth: u32,
    seed: u64,
) -> Result<(), Failure> {
    let random = Random(Stream::new(seed, 10));
    let mut session =
        Session::new(trial, start.drive.clone(), start.media.clone(), start.oracle.clone(), random);
    session.cut_chance = 1.0;
    session.depth = 1;
    for &step in word {
        session.perform(step, depth.min(session.queue_depth()))?;
    }
    session.rest()?;
    session.finish()
}
