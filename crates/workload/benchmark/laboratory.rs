//! A drive that only takes time: what remains of a row is the laboratory's own, which draws requests and measures them.

use std::collections::VecDeque;

use drivelab_controller::{Command, CommandError, Completion, Device, LatencySplit, Outcome};
use drivelab_drive::Gauges;
use drivelab_workload::Meters;
use serde_json::{Value, json};

/// Every command takes so long, whatever else is outstanding.
const LATENCY_NS: u64 = 75_000;
/// Of a SATA drive, as the rows beside it have.
const QUEUE_DEPTH: u32 = 32;

/// Commands in order of time, and nothing else.
pub struct TimeAlone {
    capacity_sectors: u64,
    now_ns: u64,
    outstanding: VecDeque<Completion>,
}

impl TimeAlone {
    pub fn new(capacity_sectors: u64) -> Self {
        Self { capacity_sectors, now_ns: 0, outstanding: VecDeque::with_capacity(QUEUE_DEPTH as usize) }
    }
}

impl Device for TimeAlone {
    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn queue_depth(&self) -> u32 {
        QUEUE_DEPTH
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    #[inline]
    fn submit(&mut self, now_ns: u64, command: Command) -> Result<(), CommandError> {
        if self.outstanding.len() == QUEUE_DEPTH as usize {
            return Err(CommandError::QueueFull { queue_depth: QUEUE_DEPTH });
        }
        self.outstanding.push_back(Completion {
            tag: command.tag,
            op: command.op,
            outcome: Outcome::Done,
            sector_count: command.sector_count,
            submitted_ns: now_ns,
            completed_ns: now_ns + LATENCY_NS,
            split: LatencySplit { flash_ns: LATENCY_NS, ..LatencySplit::default() },
        });
        Ok(())
    }

    fn next_event(&mut self) -> Option<u64> {
        self.outstanding.front().map(|first| first.completed_ns)
    }

    #[inline]
    fn advance(&mut self, until_ns: u64, done: &mut Vec<Completion>) {
        while let Some(first) = self.outstanding.front().filter(|first| first.completed_ns <= until_ns) {
            self.now_ns = first.completed_ns;
            done.push(*first);
            self.outstanding.pop_front();
        }
        if until_ns != u64::MAX {
            self.now_ns = self.now_ns.max(until_ns);
        }
    }
}

impl Meters for TimeAlone {
    fn counters(&self) -> Value {
        json!({})
    }

    fn gauges(&self) -> Gauges {
        Gauges::default()
    }
}
