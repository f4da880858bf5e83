//! After a power cut: the drive comes up, perhaps after further cuts while it does, is read, and sometimes goes on.

use drivelab_controller::{Effect, Effects};
use drivelab_drive::{Engine, Partition};
use drivelab_sim::Stream;

use super::faults;
use super::medium::Medium;
use super::oracle::{Class, Failure, Oracle};
use super::sabotage::Sabotage;
use super::session::{Session, Trial};
use super::workload::Host;
use crate::random_models::values::Random;

/// How likely it is that the power fails again while a drive comes up, if that changes anything in flash.
const AGAIN: f64 = 0.3;

/// After a power cut.
pub struct After {
    /// Sessions that may follow, one after the other.
    depth: u32,
    random: Random,
}

impl After {
    pub fn new(depth: u32, seed: u64) -> Self {
        Self { depth, random: Random(Stream::new(seed, 1)) }
    }

    /// The drive comes up, with whatever cuts while it does, and must hold what it promised. It may go on then.
    pub fn come_up(
        mut self,
        trial: &mut Trial<'_>,
        media: Vec<Medium>,
        oracle: &Oracle,
    ) -> Result<(), Failure> {
        let depth = self.depth;
        let again = if depth > 0 { AGAIN } else { 0.0 };
        let goes_on = depth > 0 && self.random.chance(0.04);
        let host_random = goes_on.then(|| self.random.0.next_u64());
        let (mut session, found) = come_up(trial, media, oracle, self.random, again)?;
        if let Some(seed) = host_random {
            session.oracle = oracle.clone();
            session.oracle.restart(&found);
            session.depth = depth - 1;
            session.cut_chance = 0.03;
            let random = &mut Random(Stream::new(seed, 2));
            let host = Host::of(random, session.trial.subject, session.queue_depth());
            let steps = random.between(0, 12);
            session.work(&host, steps)?;
            session.finish()?;
        }
        let Session { trial, media, .. } = session;
        trial.spare.push(media);
        Ok(())
    }
}

/// The drive comes up, and what it holds is read and judged. `again`: how likely the power fails while it comes up.
fn come_up<'t, 'a>(
    trial: &'t mut Trial<'a>,
    mut media: Vec<Medium>,
    oracle: &Oracle,
    mut random: Random,
    again: f64,
) -> Result<(Session<'t, 'a>, Vec<u64>), Failure> {
    let (mut drive, mut effects) = lose_power(trial, &mut media)?;
    while random.chance(again) && cut_mount(&mut random, &effects, &mut media)? {
        trial.cuts += 1;
        (drive, effects) = lose_power(trial, &mut media)?;
    }
    let unknown = Oracle::new(0, trial.subject.promises);
    let mut session = Session::new(trial, drive, media, unknown, random);
    for (medium, effects) in effects.iter().enumerate() {
        session.carry_out_all(medium, effects)?;
    }
    let found = session.read_all()?;
    oracle.check(&found)?;
    session.drive.device().check().map_err(|text| Failure::new(Class::Books, text))?;
    session.check_cells()?;
    Ok((session, found))
}

/// Power cut after power cut, each soon after the last one: what one leaves behind, the next one finds.
pub fn flap(mut session: Session<'_, '_>, host: &Host, rounds: u64) -> Result<(), Failure> {
    for _ in 0..rounds {
        session.end_chance = session.random.one(&[0.02, 0.1, 0.3]);
        let steps = session.random.between(0, 8);
        match session.work(host, steps) {
            Err(failure) if failure.class != Class::Over => return Err(failure),
            _ => session.trial.cuts += 1,
        }
        let Session { trial, media, mut oracle, mut random, .. } = session;
        let again = random.one(&[0.0, AGAIN, 0.9]);
        let (up, found) = come_up(trial, media, &oracle, random, again)?;
        oracle.restart(&found);
        session = up;
        session.oracle = oracle;
    }
    session.end_chance = 0.0;
    session.finish()
}

fn lose_power(trial: &Trial<'_>, media: &mut [Medium]) -> Result<(Partition<Engine>, Vec<Effects>), Failure> {
    for medium in &mut *media {
        medium.cells.lose_memory();
        medium.forget_passes();
        if trial.sabotage == Some(Sabotage::CapacitorDry) {
            medium.forget_held();
        }
    }
    let mut drive = trial.subject.mount(media)?;
    if let Some(plan) = &trial.faults {
        faults::give(drive.device_mut(), plan).map_err(|text| Failure::new(Class::Broken, text))?;
    }
    let taken = (0..media.len()).map(|medium| {
        let mut effects = Effects::default();
        drive.device_mut().take_effects(medium, &mut effects);
        effects
    });
    let effects = taken.collect();
    Ok((drive, effects))
}

/// The power fails again during what a mount does to flash; whether it does anything.
fn cut_mount(random: &mut Random, effects: &[Effects], media: &mut [Medium]) -> Result<bool, Failure> {
    let broken = |text: String| Failure::new(Class::Broken, text);
    let mut is_cut = false;
    for (effects, medium) in effects.iter().zip(media) {
        let is_end = |effect: &&Effect| matches!(effect, Effect::End { .. });
        let ends = effects.list.iter().filter(is_end).count() as u64;
        if ends == 0 {
            continue;
        }
        is_cut = true;
        let mut left = random.between(0, ends - 1);
        for effect in &effects.list {
            match *effect {
                Effect::End { op, words, .. } if left == 0 => {
                    if random.chance(0.5) {
                        medium.tear(op, effects.words_of(words)).map_err(broken)?;
                    }
                    break;
                }
                Effect::End { op, words, .. } => {
                    medium.apply(op, effects.words_of(words)).map_err(broken)?;
                    left -= 1;
                }
                Effect::Unhold { lpn, cell } => medium.unhold(lpn, cell),
                Effect::Hold { lpn, cell } => medium.hold(lpn, cell).map_err(broken)?,
                _ => {}
            }
        }
    }
    Ok(is_cut)
}
