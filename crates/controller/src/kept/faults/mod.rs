//! Faults of a drive: what a plan makes go wrong, what the drive makes of it, and what it has counted.
//!
//! A drive without faults has none of this. Everything random is drawn from the number of the command, program or erase
//! that it concerns, so that faults don't depend on the order in which anything else happens.

mod aging;
mod blocks;
mod checked;
mod commands;
mod plan;
mod plans;
mod reads;
mod sheet;
mod torn;

use drivelab_ftl::{FailureRule, FailureRules, FailureTrigger};
use drivelab_sim::Nanos;
use drivelab_sim::rng::draw;

use crate::command::{Command, Op, Unreadable};

pub use checked::FaultError;
pub use plan::{BitErrors, CellErrors, Fault, FaultKind, FaultPlan, PowerCut, SectorRange, Trigger};
pub use sheet::{CutPhase, DEFAULT_SEED, FaultSheet, KindWord, PlanSheet};

use aging::Aging;
use serde::{Deserialize, Serialize};
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
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rule {
    fault: Fault,
    fired: u64,
}

/// What goes wrong by a drive's own model.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct OwnErrors {
    seed: u64,
    bits: Option<BitErrors>,
    erases: Option<FailureRule>,
}

/// Purpose number of the draws of erases that fail by the drive's own model: behind those of any plan.
const OWN_ERASES: u64 = u64::MAX;

/// State of a drive with faults.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// The page of what the host read last of what had been read ahead, and how often it was sensed again for that.
    #[serde(default)]
    sensed_ahead: Option<(u64, u32)>,
    /// What the model says of its flash, whatever plans come and go.
    own: OwnErrors,
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
            sensed_ahead: None,
            own: OwnErrors::default(),
            lost_rest: 0,
            torn: Vec::new(),
            is_refresh_due: false,
        }
    }

    /// Whether the fault read-only is in effect, whatever flash has left.
    fn is_told_to_read_only(&self) -> bool {
        self.rules.iter().any(|rule| {
            rule.fault.kind == FaultKind::ReadOnly
                && (rule.fault.trigger == Trigger::Always || rule.fired > 0)
        })
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

    /// A read has failed by lost sectors: it counts for the fault that makes bits go wrong.
    fn note_lost_read(&mut self) {
        if let Some(rule) = self.rules.iter_mut().find(|rule| rule.fault.sheet.kind == KindWord::BitErrors) {
            rule.fired += 1;
        }
    }

    /// From which wrong bits are drawn: they stay what they are when plans come and go.
    fn bits_seed(&self) -> u64 {
        if self.own.bits.is_some() { self.own.seed } else { self.seed }
    }

    fn failure_rules(&self, spare_blocks: Option<u32>) -> FailureRules {
        let of = |word: KindWord| {
            let rules = self.rules.iter().enumerate().filter(move |(_, rule)| rule.fault.sheet.kind == word);
            rules.map(|(index, rule)| failure_rule(index as u64, rule)).collect()
        };
        let mut erases: Vec<_> = of(KindWord::EraseFailure);
        erases.extend(self.own.erases);
        FailureRules { seed: self.seed, programs: of(KindWord::ProgramFailure), erases, spare_blocks }
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

/// The mark bits in a unit's word.
#[must_use]
pub(crate) fn marks_of(word: u64) -> u32 {
    (word >> 32) as u32
}
