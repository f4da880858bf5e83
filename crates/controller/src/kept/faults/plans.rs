//! Fault plans come and go: what they need of a drive, and what the drive says of them.

use drivelab_ftl::{BadBlocks, FailureRule, FailureRules, FailureTrigger, Wear};
use drivelab_sim::Nanos;

use super::aging::Aging;
use super::{
    BitErrors, Fault, FaultCounters, FaultKind, FaultPlan, FaultSheet, Faults, KindWord, OWN_ERASES,
    OwnErrors, PowerCut, Rule, Trigger,
};
use crate::command::Unreadable;
use crate::drive::{Scheduled, SolidStateDrive};

/// How the chance that an erase fails grows with wear, as in plans.
const ERASE_WEAR_EXPONENT: f64 = 3.0;

impl<M: Scheduled> SolidStateDrive<M> {
    /// These faults happen from now on, instead of any others. What has failed already stays so.
    ///
    /// # Errors
    /// A fault that this drive can't have, in one line that names it.
    pub fn set_faults(&mut self, plan: &FaultPlan) -> Result<(), String> {
        self.check_plan(plan)?;
        let faults = self.have_faults();
        faults.seed = plan.seed;
        faults.rules.clear();
        if let Some(bad) = self.mapping.bad_blocks_mut() {
            bad.set_rules(FailureRules::default());
        }
        self.install(plan)
    }

    /// These faults happen too; the seed counts only if there were none before.
    ///
    /// # Errors
    /// As [`Self::set_faults`].
    pub fn add_faults(&mut self, plan: &FaultPlan) -> Result<(), String> {
        self.check_plan(plan)?;
        let bit_errors = |fault: &Fault| fault.sheet.kind == KindWord::BitErrors;
        if let Some(index) = plan.faults.iter().position(bit_errors)
            && self
                .faults
                .as_ref()
                .is_some_and(|faults| faults.rules.iter().any(|rule| bit_errors(&rule.fault)))
        {
            let allowed = "must be the only one, and another is in force until faults are cleared";
            return Err(format!("faults[{index}].kind = bit-errors: {allowed}"));
        }
        let fired: Vec<u64> = self.faults().into_iter().map(|(_, fired)| fired).collect();
        let faults = self.have_faults();
        if faults.rules.is_empty() {
            faults.seed = plan.seed;
        }
        for (rule, fired) in faults.rules.iter_mut().zip(fired) {
            rule.fired = fired;
        }
        self.install(plan)
    }

    /// Bits go wrong from now on, and erases fail with this chance at the end of the blocks' endurance, without any plan.
    /// Call it on a new drive.
    ///
    /// # Errors
    /// Why the drive can't have erases that fail, or can't move data in time.
    pub fn wear_out(
        &mut self,
        seed: u64,
        bits: BitErrors,
        erase_failure_rate: f64,
    ) -> Result<(), &'static str> {
        if erase_failure_rate > 0.0 || bits.refresh_bits > 0 {
            self.mapping.expect_failures()?;
        }
        let wear = Wear { exponent: ERASE_WEAR_EXPONENT, ..bits.native.wear };
        let rule = FailureRule {
            trigger: FailureTrigger::Probability(erase_failure_rate),
            block: None,
            wear: Some(wear),
            left: u64::MAX,
            purpose: OWN_ERASES,
        };
        let faults = self.have_faults();
        faults.seed = seed;
        faults.own = OwnErrors { seed, bits: Some(bits), erases: (erase_failure_rate > 0.0).then_some(rule) };
        // The plan of nothing is possible on every drive.
        let _ = self.install(&FaultPlan::default());
        Ok(())
    }

    /// Whether bits go wrong by the drive's own model.
    #[must_use]
    pub fn wears_out(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.own.bits.is_some())
    }

    /// Adds a plan's faults.
    fn install(&mut self, plan: &FaultPlan) -> Result<(), String> {
        let (blocks, planes) = (self.layout.block_count(), self.flash.planes_apart());
        let now = self.now_ns;
        let spare_before = self.mapping.bad_blocks().and_then(|bad| bad.rules().spare_blocks);
        let faults = self.have_faults();
        faults.rules.extend(plan.faults.iter().map(|fault| Rule { fault: fault.clone(), fired: 0 }));
        let told = faults.rules.iter().rev().find_map(|rule| match rule.fault.kind {
            FaultKind::BitErrors(model) => Some(model),
            _ => None,
        });
        let aging = told.or(faults.own.bits);
        faults.aging = match (faults.aging.take(), aging) {
            (_, None) => None,
            (Some(mut aging), Some(model)) => {
                aging.set_model(model);
                Some(aging)
            }
            (None, Some(model)) => Some(Box::new(Aging::new(model, (blocks, planes), now))),
        };
        let rules = faults.failure_rules(plan.spare_blocks.or(spare_before));
        let needs_blocks =
            !rules.programs.is_empty() || !rules.erases.is_empty() || plan.spare_blocks.is_some();
        if needs_blocks || self.mapping.bad_blocks().is_some() {
            self.mapping.expect_failures().map_err(str::to_owned)?.set_rules(rules);
        }
        let now_read_only = plan
            .faults
            .iter()
            .any(|fault| fault.kind == FaultKind::ReadOnly && fault.trigger == Trigger::Always);
        if let Some(faults) = &mut self.faults {
            faults.is_read_only |= now_read_only;
        }
        self.note_wear();
        Ok(())
    }

    /// Whether the drive can have these faults.
    fn check_plan(&mut self, plan: &FaultPlan) -> Result<(), String> {
        let refuse = |index: usize, why: &str| {
            let word = plan.faults[index].sheet.kind.word();
            Err(format!("faults[{index}].kind = {word}: not possible on this drive: {why}"))
        };
        let reserved = self.mapping.reserved_blocks();
        let per_die = self.layout.geometry.blocks_per_die();
        for (index, fault) in plan.faults.iter().enumerate() {
            match fault.kind {
                FaultKind::ProgramFailure if self.flash.has_passes() => {
                    return refuse(
                        index,
                        "its word lines are programmed in two passes (flash.program_passes = 2)",
                    );
                }
                FaultKind::ProgramFailure | FaultKind::EraseFailure => {
                    if let Err(why) = self.mapping.expect_failures() {
                        return refuse(index, why);
                    }
                    if let Some(block) = fault.block
                        && (block >= self.layout.block_count() || block % per_die < reserved)
                    {
                        let blocks = self.layout.block_count();
                        return Err(format!(
                            "faults[{index}].block = {block}: must be one of the drive's {blocks} blocks, and not one \
                             of the first {reserved} of a die, which keep its journal"
                        ));
                    }
                }
                FaultKind::BitErrors(_) if self.durable.is_none() => {
                    return refuse(index, "its flash is not kept (only images have bit errors)");
                }
                FaultKind::BitErrors(_) if !self.mapping.keeps_lost_sectors() => {
                    return refuse(index, "its mapping scheme can't mark sectors as lost");
                }
                FaultKind::TornWrite | FaultKind::PowerCut { .. } if self.durable.is_none() => {
                    return refuse(index, "its flash is not kept (only images have power cuts)");
                }
                FaultKind::TornWrite if self.config.buffer.capacitor => {
                    return refuse(index, "its capacitor keeps every write whole");
                }
                _ => {}
            }
        }
        if let Some(spare) = plan.spare_blocks {
            let most = match self.mapping.expect_failures() {
                Ok(bad) => bad.spare_blocks_new_of_model(),
                Err(why) => return Err(format!("spare_blocks = {spare}: not possible on this drive: {why}")),
            };
            if spare > most {
                return Err(format!(
                    "spare_blocks = {spare}: must be at most {most}, what the model has to spare"
                ));
            }
        }
        Ok(())
    }

    /// No more faults happen. What has failed stays so, but a drive that was only told to be read-only takes writes
    /// again.
    pub fn clear_faults(&mut self) {
        if self.faults.is_none() {
            return;
        }
        let plan = FaultPlan::default();
        // A plan of nothing is possible on every drive.
        let _ = self.set_faults(&plan);
        if let Some(faults) = &mut self.faults {
            faults.is_read_only = faults.frozen.contains(&true);
        }
        self.note_wear();
    }

    /// The plan's faults, and how often each has happened; of bit errors, how many reads have failed by lost sectors.
    #[must_use]
    pub fn faults(&self) -> Vec<(FaultSheet, u64)> {
        let Some(faults) = &self.faults else { return Vec::new() };
        let failures = self.mapping.bad_blocks().map(BadBlocks::rules);
        let fired = |(index, rule): (usize, &Rule)| {
            let rules = failures.into_iter().flat_map(|rules| rules.programs.iter().chain(&rules.erases));
            let own = rules.into_iter().find(|own| own.purpose == index as u64);
            let fired = match rule.fault.kind {
                FaultKind::ProgramFailure | FaultKind::EraseFailure => {
                    own.map_or(0, |own| rule.fault.count - own.left)
                }
                _ => rule.fired,
            };
            (rule.fault.sheet.clone(), fired)
        };
        faults.rules.iter().enumerate().map(fired).collect()
    }

    /// Where the plan cuts the power first, if it does. The owner of the drive carries it out.
    #[must_use]
    pub fn power_cut(&self) -> Option<PowerCut> {
        let rules = &self.faults.as_ref()?.rules;
        let cuts = rules.iter().filter_map(|rule| match (rule.fault.kind, rule.fault.trigger) {
            (FaultKind::PowerCut { phase }, Trigger::Number(operation)) => {
                Some(PowerCut { operation, phase })
            }
            (FaultKind::PowerCut { phase }, _) => Some(PowerCut { operation: 0, phase }),
            _ => None,
        });
        cuts.min()
    }

    /// Flash operations begun since power-on, in durable mode: the number of the last `Effect::Begin`.
    #[must_use]
    pub fn flash_operations(&self) -> u64 {
        self.durable.as_ref().map_or(0, |durable| durable.operations())
    }

    /// What has gone wrong since power-on.
    #[must_use]
    pub fn fault_counters(&self) -> FaultCounters {
        self.faults.as_ref().map_or_else(FaultCounters::default, |faults| faults.counters)
    }

    /// Whether nothing new is written any more.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.is_read_only)
    }

    /// Why nothing new is written any more; `None` while it is.
    #[must_use]
    pub fn read_only_reason(&self) -> Option<&'static str> {
        let faults = self.faults.as_ref().filter(|faults| faults.is_read_only)?;
        Some(if self.mapping.bad_blocks().is_some_and(BadBlocks::is_worn_out) {
            "spare blocks used up"
        } else if faults.frozen.contains(&true) {
            "no room on a die"
        } else if faults.is_told_to_read_only() {
            "fault"
        } else {
            "no room for what waits"
        })
    }

    /// Sectors that reads could not give back since this was last asked, of commands whose completion says so.
    pub fn take_unreadable(&mut self) -> Vec<Unreadable> {
        self.faults.as_mut().map_or_else(Vec::new, |faults| std::mem::take(&mut faults.unreadable))
    }

    /// What lies in flash becomes older by this, without anything else happening.
    pub fn age(&mut self, duration_ns: Nanos) {
        if let Some(aging) = self.faults.as_mut().and_then(|faults| faults.aging.as_mut()) {
            aging.pass(duration_ns);
        }
    }

    /// A drive that has lost all blocks that it had to spare writes nothing new.
    pub(crate) fn note_wear(&mut self) {
        if self.mapping.bad_blocks().is_some_and(BadBlocks::is_worn_out) {
            self.have_faults().is_read_only = true;
        }
    }

    /// State of a drive with faults, from now on.
    pub(super) fn have_faults(&mut self) -> &mut Faults {
        let dies = self.layout.geometry.die_count();
        self.faults.get_or_insert_with(|| Box::new(Faults::new(dies)))
    }

    /// The drive has become what its flash holds: there may be blocks that have failed, and sectors that are lost.
    pub(crate) fn mount_faults(&mut self) {
        if self.mapping.has_lost_sectors() || self.mapping.bad_blocks().is_some() {
            self.have_faults();
        }
        self.note_wear();
    }

    /// After a secure erase: dies that had no room have some again.
    pub(crate) fn restart_faults(&mut self) {
        let Some(faults) = &mut self.faults else { return };
        faults.frozen.fill(false);
        faults.unreadable.clear();
        faults.torn.clear();
        if let Some(aging) = &mut faults.aging {
            aging.forget_lost();
        }
        faults.is_read_only = faults.is_told_to_read_only();
        self.note_wear();
    }
}
