//! After a power cut: the drive comes up, perhaps after further cuts while it does, is read, and sometimes goes on.

use drivelab_controller::{Device, Effect, Effects};
use drivelab_drive::{Engine, Partition};
use drivelab_sim::Stream;

use crate::medium::Medium;
use crate::oracle::{Class, Failure, Oracle};
use crate::sabotage::Sabotage;
use crate::session::{Session, Trial};
use crate::values::Random;
use crate::workload::Host;

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

    /// The drive comes up, with whatever cuts while it does, and must hold what it promised.
    pub fn come_up(
        mut self,
        trial: &mut Trial<'_>,
        mut media: Vec<Medium>,
        oracle: &Oracle,
    ) -> Result<(), Failure> {
        let (mut drive, mut effects) = Self::lose_power(trial, &mut media)?;
        while self.depth > 0 && self.random.chance(0.3) && self.cut_mount(&effects, &mut media)? {
            trial.cuts += 1;
            (drive, effects) = Self::lose_power(trial, &mut media)?;
        }
        let depth = self.depth;
        let goes_on = depth > 0 && self.random.chance(0.04);
        let host_random = goes_on.then(|| self.random.0.next_u64());
        let unknown = Oracle::new(0, trial.subject.promises);
        let mut session = Session::new(trial, drive, media, unknown, self.random);
        for (medium, effects) in effects.iter().enumerate() {
            session.carry_out_all(medium, effects)?;
        }
        let found = session.read_all()?;
        oracle.check(&found)?;
        session.drive.device().check().map_err(|text| Failure::new(Class::Books, text))?;
        session.check_cells()?;
        if let Some(seed) = host_random {
            let subject = session.trial.subject;
            session.oracle = oracle.clone();
            session.oracle.restart(&found);
            session.depth = depth - 1;
            session.cut_chance = 0.03;
            let random = &mut Random(Stream::new(seed, 2));
            let queue_depth = session.drive.queue_depth();
            let host = Host::new(random, subject.sectors, subject.unit(), queue_depth, subject.compresses());
            let steps = random.between(0, 12);
            session.work(&host, steps)?;
            session.finish()?;
        }
        let Session { trial, media, .. } = session;
        trial.spare.push(media);
        Ok(())
    }

    fn lose_power(
        trial: &Trial<'_>,
        media: &mut [Medium],
    ) -> Result<(Partition<Engine>, Vec<Effects>), Failure> {
        for medium in &mut *media {
            medium.cells.lose_memory();
            if trial.sabotage == Some(Sabotage::CapacitorDry) {
                medium.forget_held();
            }
        }
        let mut drive = trial.subject.mount(media)?;
        let taken = (0..media.len()).map(|medium| {
            let mut effects = Effects::default();
            drive.device_mut().take_effects(medium, &mut effects);
            effects
        });
        let effects = taken.collect();
        Ok((drive, effects))
    }

    /// The power fails again during what a mount does to flash; whether it does anything.
    fn cut_mount(&mut self, effects: &[Effects], media: &mut [Medium]) -> Result<bool, Failure> {
        let mut is_cut = false;
        for (effects, medium) in effects.iter().zip(media) {
            let ends = effects.list.iter().filter_map(|effect| match effect {
                Effect::End { op, words, .. } => Some((*op, effects.words_of(*words))),
                _ => None,
            });
            let ends: Vec<_> = ends.collect();
            if ends.is_empty() {
                continue;
            }
            is_cut = true;
            let broken = |text: String| Failure::new(Class::Broken, text);
            let done = self.random.between(0, ends.len() as u64 - 1) as usize;
            for &(op, words) in &ends[..done] {
                medium.apply(op, words).map_err(broken)?;
            }
            if self.random.chance(0.5) {
                medium.tear(ends[done].0, ends[done].1).map_err(broken)?;
            }
        }
        Ok(is_cut)
    }
}
