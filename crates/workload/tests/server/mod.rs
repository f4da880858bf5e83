//! The simplest drive: so many servers, each busy with one command for a fixed time, first in first out.

use std::collections::VecDeque;

use drivelab_controller::{Command, CommandError, Completion, Device, LatencySplit, Op, Outcome, QueueClass};
use drivelab_drive::Gauges;
use drivelab_sim::Nanos;
use drivelab_workload::Meters;
use serde_json::{Value, json};

/// A queueing station with known answers.
#[derive(Clone, Debug)]
pub struct Server {
    capacity_sectors: u64,
    queue_depth: u32,
    service_ns: Nanos,
    now_ns: Nanos,
    /// When each server is free.
    free_ns: VecDeque<Nanos>,
    /// Completions to come, in order of time.
    pending: VecDeque<Completion>,
    /// Everything submitted, if asked to remember.
    pub history: Option<Vec<(Nanos, Command)>>,
    written_bytes: u64,
    commands: u64,
    prefetched: std::cell::Cell<u64>,
    /// Submission queues, and the classes that the host gave them.
    pub queues: Vec<QueueClass>,
    /// Most sectors of a command.
    pub max_transfer_sectors: u32,
}

impl Server {
    /// `servers` commands are served at once, `service_ns` each.
    pub fn new(capacity_sectors: u64, queue_depth: u32, servers: usize, service_ns: Nanos) -> Self {
        Self {
            capacity_sectors,
            queue_depth,
            service_ns,
            now_ns: 0,
            free_ns: vec![0; servers].into(),
            pending: VecDeque::with_capacity(queue_depth as usize),
            history: None,
            written_bytes: 0,
            commands: 0,
            prefetched: std::cell::Cell::new(0),
            queues: vec![QueueClass::default()],
            max_transfer_sectors: u32::MAX,
        }
    }

    /// Remembers everything submitted.
    #[allow(dead_code, reason = "an example includes this file to measure the host alone")]
    pub fn remembering(mut self) -> Self {
        self.history = Some(Vec::new());
        self
    }

    /// What was submitted.
    #[allow(dead_code, reason = "an example includes this file to measure the host alone")]
    pub fn commands(&self) -> &[(Nanos, Command)] {
        self.history.as_deref().unwrap_or_default()
    }
}

impl Device for Server {
    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn queue_depth(&self) -> u32 {
        self.queue_depth
    }

    fn queue_count(&self) -> u32 {
        self.queues.len() as u32
    }

    fn set_queue_classes(&mut self, classes: &[QueueClass]) {
        self.queues = classes.to_vec();
    }

    fn max_transfer_sectors(&self) -> u32 {
        self.max_transfer_sectors
    }

    fn now_ns(&self) -> Nanos {
        self.now_ns
    }

    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        let Command { tag, op, lba, sector_count, .. } = command;
        let end = lba.saturating_add(sector_count.into());
        if end > self.capacity_sectors {
            return Err(CommandError::OutOfRange { lba, end, capacity_sectors: self.capacity_sectors });
        }
        if sector_count == 0 && op != Op::Flush {
            return Err(CommandError::Empty);
        }
        if self.pending.len() == self.queue_depth as usize {
            return Err(CommandError::QueueFull { queue_depth: self.queue_depth });
        }
        if now_ns < self.now_ns {
            return Err(CommandError::Past { now_ns, reached_ns: self.now_ns });
        }
        self.now_ns = now_ns;
        // All services take the same time, so the server that has been busy longest is free first.
        let start_ns = self.free_ns.pop_front().unwrap_or(0).max(now_ns);
        let completed_ns = start_ns + self.service_ns;
        self.free_ns.push_back(completed_ns);
        let split = LatencySplit {
            queueing_ns: start_ns - now_ns,
            flash_ns: self.service_ns,
            ..LatencySplit::default()
        };
        self.pending.push_back(Completion {
            tag,
            op,
            outcome: Outcome::Done,
            sector_count,
            submitted_ns: now_ns,
            completed_ns,
            split,
        });
        self.commands += 1;
        if op == Op::Write {
            self.written_bytes += u64::from(sector_count) * 512;
        }
        if let Some(history) = &mut self.history {
            history.push((now_ns, command));
        }
        Ok(())
    }

    fn next_event(&mut self) -> Option<Nanos> {
        self.pending.front().map(|completion| completion.completed_ns)
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        while let Some(completion) = self.pending.front().filter(|next| next.completed_ns <= until_ns) {
            done.push(*completion);
            self.pending.pop_front();
        }
        self.now_ns = self.now_ns.max(until_ns);
    }

    fn prefetch(&self, _lba: u64) {
        self.prefetched.set(self.prefetched.get() + 1);
    }
}

impl Meters for Server {
    fn counters(&self) -> Value {
        json!({ "host_write_bytes": self.written_bytes, "commands": self.commands })
    }

    fn gauges(&self) -> Gauges {
        Gauges { host_write_bytes: self.written_bytes, flash: None }
    }
}
