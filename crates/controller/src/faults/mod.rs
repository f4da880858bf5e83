//! Faults of a drive: what a plan makes go wrong, what the drive makes of it, and what it has counted.
//!
//! A drive without faults has none of this. Everything random is drawn from the number of the command, program or erase
//! that it concerns, so that faults don't depend on the order in which anything else happens.

mod aging;
mod blocks;
mod commands;
mod plan;
mod reads;
mod sheet;
mod torn;

use drivelab_ftl::{BadBlocks, FailureRule, FailureRules, FailureTrigger};
use drivelab_sim::Nanos;
use drivelab_sim::rng::draw;
use serde::{Deserialize, Serialize};

use crate::command::{Command, Op, Unreadable};
use crate::scheduled::Scheduled;
use crate::ssd::SolidStateDrive;

pub use plan::{BitErrors, CutPhase, Fault, FaultKind, FaultPlan, PowerCut, SectorRange, Trigger};
pub use sheet::{DEFAULT_SEED, FaultError, FaultSheet, KindWord, PlanSheet};

use aging::Aging;
pub(crate) use reads::marks_of;
pub(crate) use torn::TornCells;

/// What has gone wrong since power-on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FaultCounters {
    /// Pages that could not be programmed.
    pub program_failures: u64,
    /// Blocks that could not be erased.
    pub erase_failures: u64,
    /// Reads of the host that ended in an error.
    pub read_errors: u64,
    /// Codewords that could not be corrected, whoever read them.
    pub uncorrectable_codewords: u64,
    /// Codewords with wrong bits that were corrected.
    pub corrected_codewords: u64,
    /// Reads of a page tried again with other thresholds.
    pub read_retries: u64,
    /// Blocks whose data was moved before it could not be read any more.
    pub blocks_refreshed: u64,
    /// Commands that took longer on purpose.
    pub latency_spikes: u64,
    /// Writes and trims refused because the drive only reads.
    pub refused_commands: u64,
    /// Flushes and writes whose data found no place in flash.
    pub failed_commands: u64,
    /// Flushes acknowledged without waiting.
    pub lying_flushes: u64,
    /// Writes whose FUA was ignored.
    pub ignored_fuas: u64,
    /// Writes of which a power cut leaves half.
    pub torn_writes: u64,
    /// Writes acknowledged and dropped.
    pub lost_writes: u64,
    /// Writes that went to another place.
    pub misdirected_writes: u64,
}

/// A fault and how often it has happened.
#[derive(Clone, Debug)]
struct Rule {
    fault: Fault,
    fired: u64,
}

/// State of a drive with faults.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    seed: u64,
    rules: Vec<Rule>,
    /// Commands handed over, and commands of each sort that the firmware has taken on.
    submitted: u64,
    begun: [u64; 4],
    /// Nothing new is written.
    pub is_read_only: bool,
    /// Dies that have no block left to write.
    frozen: Vec<bool>,
    pub counters: FaultCounters,
    /// What reads could not give back.
    unreadable: Vec<Unreadable>,
    aging: Option<Box<Aging>>,
    /// Parts of the unit that is being completed that could not be read.
    lost_rest: u32,
    /// Writes under way of which a power cut will leave half.
    torn: Vec<u32>,
    /// A block waits for being moved in time.
    is_refresh_due: bool,
}

impl Faults {
    fn new(dies: u32) -> Self {
        Self {
            seed: 0,
            rules: Vec::new(),
            submitted: 0,
            begun: [0; 4],
            is_read_only: false,
            frozen: vec![false; dies as usize],
            counters: FaultCounters::default(),
            unreadable: Vec::new(),
            aging: None,
            lost_rest: 0,
            torn: Vec::new(),
            is_refresh_due: false,
        }
    }

    /// The rule of a kind that happens to this command, the `number`-th of its sort, if one does.
    fn fires(&mut self, word: KindWord, number: u64, command: &Command) -> Option<Fault> {
        let seed = self.seed;
        let (lba, sectors) = (command.lba, command.sector_count);
        let fires = |(index, rule): (usize, &mut Rule)| {
            let fault = &rule.fault;
            if fault.sheet.kind != word || rule.fired >= fault.count {
                return None;
            }
            if fault.range.is_some_and(|range| range.within(lba, sectors).is_none()) {
                return None;
            }
            let happens = match fault.trigger {
                Trigger::Always => true,
                Trigger::Number(at) => at == number,
                Trigger::Probability(chance) => draw(seed, index as u64, number) < chance,
            };
            happens.then(|| {
                rule.fired += 1;
                fault.clone()
            })
        };
        self.rules.iter_mut().enumerate().find_map(fires)
    }

    /// How much longer a command takes that is handed over now.
    pub fn spike_ns(&mut self, command: &Command) -> Nanos {
        self.submitted += 1;
        match self.fires(KindWord::LatencySpike, self.submitted, command) {
            Some(Fault { kind: FaultKind::LatencySpike { duration_ns }, .. }) => {
                self.counters.latency_spikes += 1;
                duration_ns
            }
            _ => 0,
        }
    }

    /// Number of a command that the firmware takes on, among those of its sort.
    fn begin(&mut self, op: Op) -> u64 {
        let count = &mut self.begun[op as usize];
        *count += 1;
        *count
    }

    /// Whether a power cut leaves half of the command in a slot.
    pub fn is_torn(&self, slot: u32) -> bool {
        self.torn.contains(&slot)
    }

    fn failure_rules(&self, spare_blocks: Option<u32>) -> FailureRules {
        let of = |word: KindWord| {
            let rules = self.rules.iter().enumerate().filter(move |(_, rule)| rule.fault.sheet.kind == word);
            rules.map(|(index, rule)| failure_rule(index as u64, rule)).collect()
        };
        FailureRules {
            seed: self.seed,
            programs: of(KindWord::ProgramFailure),
            erases: of(KindWord::EraseFailure),
            spare_blocks,
        }
    }
}

fn failure_rule(purpose: u64, rule: &Rule) -> FailureRule {
    let Rule { fault, fired } = rule;
    let trigger = match fault.trigger {
        Trigger::Always => FailureTrigger::Always,
        Trigger::Number(at) => FailureTrigger::Number(at),
        Trigger::Probability(chance) => FailureTrigger::Probability(chance),
    };
    FailureRule { trigger, block: fault.block, wear: fault.wear, left: fault.count - fired, purpose }
}

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

    /// Adds a plan's faults.
    fn install(&mut self, plan: &FaultPlan) -> Result<(), String> {
        let (blocks, now) = (self.layout.block_count(), self.now_ns);
        let spare_before = self.mapping.bad_blocks().and_then(|bad| bad.rules().spare_blocks);
        let faults = self.have_faults();
        faults.rules.extend(plan.faults.iter().map(|fault| Rule { fault: fault.clone(), fired: 0 }));
        let aging = faults.rules.iter().rev().find_map(|rule| match rule.fault.kind {
            FaultKind::BitErrors(model) => Some(model),
            _ => None,
        });
        faults.aging = match (faults.aging.take(), aging) {
            (_, None) => None,
            (Some(mut aging), Some(model)) => {
                aging.set_model(model);
                Some(aging)
            }
            (None, Some(model)) => Some(Box::new(Aging::new(model, blocks, now))),
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

    /// The plan's faults, and how often each has happened.
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
    fn have_faults(&mut self) -> &mut Faults {
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
        faults.is_read_only =
            faults.rules.iter().any(|rule| rule.fault.kind == FaultKind::ReadOnly && rule.fired > 0);
        self.note_wear();
    }
}
