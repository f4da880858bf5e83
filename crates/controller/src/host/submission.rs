//! Submission queues of NVM Express [NVME]: commands that wait in the host's memory, and the order in which the
//! controller fetches them.
//!
//! A controller has room for so many commands ([`super::queue::HostQueue`]). It fetches whatever is submitted as long as it has
//! room; so commands wait here only while it has none, and each that leaves makes room for one. Whose that is says the
//! arbitration. Commands of one queue are fetched in their order.
//!
//! Round robin: queues that have commands take turns, up to `burst` commands a turn. With n queues a command at the head of
//! its queue is fetched after at most (n - 1) burst others. Weighted round robin with urgent class: queues of the urgent
//! class first, round robin among them; then the three weighted classes share rounds, in each of which up to `weight`
//! commands of a class are fetched, round robin among its queues.

use std::collections::VecDeque;

use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use crate::command::{Command, QueueClass};

/// In which order a controller fetches from several queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Queues take turns, whatever their class.
    #[default]
    RoundRobin,
    /// Urgent queues first; those of three other classes by weight.
    WeightedRoundRobin,
}

/// The submission queues of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmissionConfig {
    /// Queues for the host's commands; 1: commands beyond the controller's room are refused, and wait in the host.
    pub queues: u32,
    /// Entries of a queue: with several the host keeps so many commands times their number outstanding at most.
    pub entries: u32,
    /// The order among queues.
    pub arbitration: Arbitration,
    /// Commands of one queue that are fetched in a row while others wait; 0: as many as it has.
    pub burst: u32,
    /// Commands that the high, medium and low class may have fetched in a round.
    pub weights: [u32; 3],
    /// Most bytes that one command may move; 0: no limit. The host splits what is larger.
    pub max_transfer_bytes: u64,
}

impl Default for SubmissionConfig {
    fn default() -> Self {
        Self {
            queues: 1,
            entries: 1,
            arbitration: Arbitration::RoundRobin,
            burst: 1,
            weights: [1; 3],
            max_transfer_bytes: 0,
        }
    }
}

/// A command in a submission queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Submitted {
    pub command: Command,
    pub at_ns: Nanos,
}

/// Queues of one class that have commands, in the order of their turns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Turns {
    queues: VecDeque<u32>,
    /// Commands that the first of them has had fetched in its turn.
    fetched: u32,
    /// Commands that the class may still have fetched in this round.
    credit: u32,
}

/// All submission queues, and whose turn it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SubmissionQueues {
    config: SubmissionConfig,
    queues: Vec<VecDeque<Submitted>>,
    classes: Vec<QueueClass>,
    /// By class; of a round robin the first only.
    turns: [Turns; 4],
    waiting: u32,
}

impl SubmissionQueues {
    pub(crate) fn new(config: SubmissionConfig) -> Self {
        let count = config.queues as usize;
        Self {
            config,
            queues: vec![VecDeque::new(); count],
            classes: vec![QueueClass::default(); count],
            turns: Default::default(),
            waiting: 0,
        }
    }

    /// The host makes its queues anew, with these classes; those beyond have the default. None holds a command.
    pub(crate) fn set_classes(&mut self, classes: &[QueueClass]) {
        debug_assert_eq!(self.waiting, 0, "queues are made while none holds a command");
        for (queue, class) in self.classes.iter_mut().enumerate() {
            *class = classes.get(queue).copied().unwrap_or_default();
        }
        self.turns = Default::default();
    }

    /// Commands that the host may keep outstanding.
    pub(crate) fn most_outstanding(&self) -> u32 {
        self.config.queues.saturating_mul(self.config.entries)
    }

    /// Commands in each queue.
    pub(crate) fn lengths(&self) -> Vec<u32> {
        self.queues.iter().map(|commands| commands.len() as u32).collect()
    }

    /// Commands in all queues.
    pub(crate) fn waiting(&self) -> u32 {
        self.waiting
    }

    /// The class that a queue's commands are fetched with.
    fn class_of(&self, queue: u32) -> usize {
        match self.config.arbitration {
            Arbitration::RoundRobin => 0,
            Arbitration::WeightedRoundRobin => self.classes[queue as usize] as usize,
        }
    }

    /// A command waits in its queue. Hosts that name a queue beyond the last mean one of those that there are.
    pub(crate) fn submit(&mut self, command: Command, at_ns: Nanos) {
        let queue = u32::from(command.queue) % self.config.queues;
        let commands = &mut self.queues[queue as usize];
        commands.push_back(Submitted { command, at_ns });
        self.waiting += 1;
        if commands.len() == 1 {
            let class = self.class_of(queue);
            self.turns[class].queues.push_back(queue);
        }
    }

    /// The command that is fetched next.
    pub(crate) fn fetch(&mut self) -> Option<Submitted> {
        let class = self.class_in_turn()?;
        let turns = &mut self.turns[class];
        turns.credit = turns.credit.saturating_sub(1);
        let queue = *turns.queues.front()?;
        let commands = &mut self.queues[queue as usize];
        let fetched = commands.pop_front()?;
        self.waiting -= 1;
        turns.fetched += 1;
        if commands.is_empty() || turns.fetched == self.config.burst {
            turns.fetched = 0;
            turns.queues.pop_front();
            if !commands.is_empty() {
                turns.queues.push_back(queue);
            }
        }
        Some(fetched)
    }

    /// The class of which a command is fetched next.
    fn class_in_turn(&mut self) -> Option<usize> {
        if self.config.arbitration == Arbitration::RoundRobin || !self.turns[0].queues.is_empty() {
            return (self.waiting > 0).then_some(0);
        }
        for _ in 0..2 {
            let has = |turns: &Turns| turns.credit > 0 && !turns.queues.is_empty();
            if let Some(class) = (1..4).find(|&class| has(&self.turns[class])) {
                return Some(class);
            }
            // Nobody who waits has a credit: a new round begins.
            for (turns, weight) in self.turns[1..].iter_mut().zip(self.config.weights) {
                turns.credit = weight;
            }
        }
        None
    }

    /// Recounts what waits.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        let found: usize = self.queues.iter().map(VecDeque::len).sum();
        if found != self.waiting as usize {
            return Err(format!("{found} commands are in submission queues, counted {}", self.waiting));
        }
        for (queue, commands) in (0u32..).zip(&self.queues) {
            let turns = self.turns.iter().flat_map(|turns| &turns.queues);
            let times = turns.filter(|&&other| other == queue).count();
            if times != usize::from(!commands.is_empty()) {
                return Err(format!("queue {queue} with {} commands has {times} turns", commands.len()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "submission_test.rs"]
mod tests;
