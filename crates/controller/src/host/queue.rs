//! What every drive has towards its host: a place for each command inside, processors that take commands on in order,
//! completions in order of time, and what was completed while the host was not looking.

use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use drivelab_sim::time::NEVER;
use serde::{Deserialize, Serialize};

use crate::command::{Command, CommandError, Completion, Device, QueueClass};
use crate::host::submission::{SubmissionConfig, SubmissionQueues, Submitted};
use crate::timeline::Timeline;

/// Commands inside a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostQueue {
    depth: u32,
    free_slots: Vec<u32>,
    /// The processor that took something on last has work up to here.
    processor_free_ns: Nanos,
    /// The others, if there are any: up to when each has work.
    other_processors: Vec<Nanos>,
    /// Slots of the commands that the processor works on, by when each is ready.
    processor: Timeline<u32>,
    /// Slots of the commands that are done, by when the host hears of it.
    leaving: Timeline<u32>,
    /// Completed while a host that skipped ahead was not looking.
    overdue: Vec<Completion>,
    /// Commands for which there is no room, where the host has several queues for them.
    submissions: Option<Box<SubmissionQueues>>,
    /// So many slots are free when something comes of it that a command has left: all of them, or the first while
    /// commands wait for it.
    turn_at: usize,
}

/// A drive whose host side is a `HostQueue`. It says what happens inside and when; how it is turned is the same for
/// all.
pub trait HostSide: Device {
    /// The commands inside.
    fn queue(&self) -> &HostQueue;

    /// The same, to change.
    fn queue_mut(&mut self) -> &mut HostQueue;

    /// The time that the drive has come to.
    fn clock(&mut self) -> &mut Nanos;

    /// When something next happens inside; `u64::MAX`: nothing will.
    fn next_internal(&self) -> Nanos;

    /// Everything that is due now, one thing at a time, in a fixed order.
    fn happen(&mut self, now: Nanos);

    /// What the host hears of the command in `slot`, which is done at `completed_ns`. Put together only when it leaves:
    /// what was just written down in pieces can't be read as a whole without a wait of the processor.
    fn completion(&self, slot: u32, completed_ns: Nanos) -> Completion;

    /// Counts the command in `slot`, which is done now, as traffic of the host.
    fn count(&mut self, slot: u32);

    /// The next completion leaves, which is due now.
    #[inline]
    fn leave(&mut self, now: Nanos, done: &mut Vec<Completion>) {
        let Some(slot) = self.queue_mut().take_completion() else { return };
        self.count(slot);
        let completion = self.completion(slot, now);
        debug_assert_eq!(completion.split.total_ns(), completion.latency_ns(), "parts of {completion:?}");
        done.push(completion);
    }

    /// A completion has left; whether anything inside came of it.
    #[inline]
    fn left(&mut self, _now: Nanos) -> bool {
        false
    }

    /// Lets everything happen up to `until`; stops after the first completions if `stop` says so.
    #[inline]
    fn process(&mut self, until: Nanos, stop: bool, done: &mut Vec<Completion>) {
        // After the first completion only what happens at the same instant does still happen.
        let (mut limit, mut has_enough, mut internal) = (until, false, self.next_internal());
        loop {
            let completion = self.queue().next_completion();
            if completion < internal {
                if completion > limit {
                    break;
                }
                *self.clock() = completion;
                self.leave(completion, done);
                if stop {
                    (limit, has_enough) = (completion, true);
                }
                if self.left(completion) {
                    internal = self.next_internal();
                }
            } else if internal > limit || internal == NEVER {
                break;
            } else {
                *self.clock() = internal;
                self.happen(internal);
                internal = self.next_internal();
            }
        }
        if until != NEVER && !has_enough {
            *self.clock() = self.now_ns().max(until);
        }
    }

    /// A command comes in at `now_ns`; the slot that is its own until it leaves.
    ///
    /// # Errors
    /// A command that can't be, or the queue is full; nothing has changed but time.
    #[inline]
    fn enter(&mut self, now_ns: Nanos, command: &Command) -> Result<u32, CommandError> {
        command.check(now_ns, self.now_ns(), self.capacity_sectors())?;
        if now_ns > self.now_ns() {
            // The host skipped ahead: what lies in between happens first, and it hears of it later.
            let mut overdue = std::mem::take(&mut self.queue_mut().overdue);
            self.process(now_ns, false, &mut overdue);
            self.queue_mut().overdue = overdue;
        }
        self.queue_mut().take_slot()
    }

    /// `Device::advance`.
    #[inline]
    fn turn(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        done.append(&mut self.queue_mut().overdue);
        self.process(until_ns, false, done);
    }

    /// `Device::advance_to_completion`.
    #[inline]
    fn turn_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        if self.queue().overdue.is_empty() {
            self.process(until_ns, true, done);
        } else {
            done.append(&mut self.queue_mut().overdue);
        }
    }

    /// `Device::next_event`.
    #[inline]
    fn next_turn(&self) -> Option<Nanos> {
        if !self.queue().overdue.is_empty() {
            return Some(self.now_ns());
        }
        let next = self.next_internal().min(self.queue().next_completion());
        (next != NEVER).then_some(next)
    }

    /// Commands still inside are completed, as before a secure erase; their completions are given back.
    fn finish_all(&mut self) -> Vec<Completion> {
        let mut done = std::mem::take(&mut self.queue_mut().overdue);
        // What waits in submission queues does so because others are inside.
        while self.queue().outstanding() > 0 {
            let Some(next) = self.next_turn() else { break };
            self.turn(next, &mut done);
        }
        done
    }
}

impl HostQueue {
    /// An empty queue of a drive that has come to `now_ns`.
    #[must_use]
    pub fn new(depth: u32, now_ns: Nanos) -> Self {
        Self {
            depth,
            free_slots: (0..depth).rev().collect(),
            processor_free_ns: now_ns,
            processor: Timeline::with_capacity(depth),
            leaving: Timeline::with_capacity(depth),
            overdue: Vec::new(),
            other_processors: Vec::new(),
            submissions: None,
            turn_at: depth as usize,
        }
    }

    /// The same queue with several processors, all alike.
    #[must_use]
    pub fn with_processors(mut self, count: u32) -> Self {
        self.other_processors = vec![self.processor_free_ns; count.max(1) as usize - 1];
        self
    }

    /// The same queue with submission queues in front of it, if they are several.
    #[must_use]
    pub fn with_submissions(mut self, config: SubmissionConfig) -> Self {
        self.submissions = (config.queues > 1).then(|| Box::new(SubmissionQueues::new(config)));
        self
    }

    /// The host makes its submission queues anew, with these classes.
    pub fn set_queue_classes(&mut self, classes: &[QueueClass]) {
        if let Some(submissions) = &mut self.submissions {
            submissions.set_classes(classes);
        }
    }

    /// A command for which there is no room waits in its submission queue.
    ///
    /// # Errors
    /// `refused`, if there is no such queue, or there was another reason.
    #[cold]
    pub fn wait(
        &mut self,
        now_ns: Nanos,
        command: Command,
        refused: CommandError,
    ) -> Result<(), CommandError> {
        let is_full = matches!(refused, CommandError::QueueFull { .. });
        let inside = self.outstanding();
        let Some(submissions) = self.submissions.as_mut().filter(|_| is_full) else { return Err(refused) };
        let most = submissions.most_outstanding();
        if inside + submissions.waiting() >= most {
            return Err(CommandError::QueueFull { queue_depth: most });
        }
        submissions.submit(command, now_ns);
        self.turn_at = 1;
        Ok(())
    }

    /// Commands that wait in submission queues.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.submissions.as_ref().map_or(0, |submissions| submissions.waiting())
    }

    /// Commands that wait in each submission queue; nothing, where there is one line.
    #[must_use]
    pub fn lengths(&self) -> Vec<u32> {
        self.submissions.as_ref().map_or_else(Vec::new, |submissions| submissions.lengths())
    }

    /// Whether something comes of it that a command has just left: no other is inside, or others wait for its place.
    #[inline]
    #[must_use]
    pub fn is_turning_point(&self) -> bool {
        self.free_slots.len() == self.turn_at
    }

    /// The command that takes a place that has become free.
    pub(crate) fn fetch(&mut self) -> Option<Submitted> {
        let depth = self.depth as usize;
        let fetched = self.submissions.as_mut().and_then(|submissions| submissions.fetch());
        if self.waiting() == 0 {
            self.turn_at = depth;
        }
        fetched
    }

    /// Commands inside.
    #[inline]
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.depth - self.free_slots.len() as u32
    }

    /// Whether no command is inside.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.free_slots.len() == self.depth as usize
    }

    /// A place for a command.
    ///
    /// # Errors
    /// The queue is full.
    #[inline]
    pub fn take_slot(&mut self) -> Result<u32, CommandError> {
        self.free_slots.pop().ok_or(CommandError::QueueFull { queue_depth: self.depth })
    }

    /// The one processor's next `work`, after all that it has taken on before and not before `now`; when it is done.
    #[inline]
    pub fn occupy_processor(&mut self, work: Nanos, now: Nanos) -> Nanos {
        self.processor_free_ns = self.processor_free_ns.max(now) + work;
        self.processor_free_ns
    }

    /// Of several processors the one that is free first takes on `work`; when it is done.
    #[cold]
    pub fn occupy_any_processor(&mut self, work: Nanos, now: Nanos) -> Nanos {
        let last = &mut self.processor_free_ns;
        if let Some(first) = self.other_processors.iter_mut().min().filter(|first| **first < *last) {
            std::mem::swap(first, last);
        }
        self.occupy_processor(work, now)
    }

    /// A command will be ready at this time, perhaps before others that came before it.
    #[cold]
    pub fn push_in_order(&mut self, ready_ns: Nanos, slot: u32) {
        self.processor.insert(ready_ns, slot);
    }

    /// Processors take nothing on before this time: they do something else.
    #[inline]
    pub fn hold_processor(&mut self, until: Nanos) {
        self.processor_free_ns = self.processor_free_ns.max(until);
        for other in &mut self.other_processors {
            *other = (*other).max(until);
        }
    }

    /// A command will be ready at this time; not before any that came before it.
    #[inline]
    pub fn push(&mut self, ready_ns: Nanos, slot: u32) {
        self.processor.push(ready_ns, slot);
    }

    /// When the next command is ready; `u64::MAX`: there is none.
    #[inline]
    #[must_use]
    pub fn next_ready(&self) -> Nanos {
        self.processor.next_ns()
    }

    /// The slot of the command that is ready now.
    #[inline]
    pub fn take_ready(&mut self, now: Nanos) -> Option<u32> {
        self.processor.take(now)
    }

    /// The command of `tag` in `slot` is done at `completed_ns`, after all that are done already. Nothing may change any
    /// more what the host will hear of it.
    #[inline]
    pub fn complete(&mut self, slot: u32, tag: u32, completed_ns: Nanos) {
        if sabotage::is(Sabotage::CompletionLost) && tag % 97 == 96 {
            return;
        }
        if sabotage::is(Sabotage::CompletionTwice) && tag % 97 == 96 {
            self.leaving.push(completed_ns, slot);
        }
        if sabotage::is(Sabotage::CompletionsSwapped) && !self.leaving.is_empty() {
            self.leaving.put_first(completed_ns, slot);
            return;
        }
        self.leaving.push(completed_ns, slot);
    }

    /// The same, perhaps before others of which that is known already.
    #[inline(never)]
    pub fn complete_in_order(&mut self, slot: u32, completed_ns: Nanos) {
        self.leaving.insert(completed_ns, slot);
    }

    /// When the next completion is due; `u64::MAX`: none is known.
    #[inline]
    #[must_use]
    pub fn next_completion(&self) -> Nanos {
        self.leaving.next_ns()
    }

    /// The slot of the next command that leaves, if there is one: it is free from now on, and as it was left until the next
    /// command takes it.
    #[inline]
    pub fn take_completion(&mut self) -> Option<u32> {
        let slot = self.leaving.pop()?;
        if !sabotage::is(Sabotage::SlotKept) {
            self.free_slots.push(slot);
        }
        Some(slot)
    }

    /// What must be true between any two events: no command is in two places, times are in order.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check(&self) -> Result<(), String> {
        let mut places = vec![0u32; self.depth as usize];
        let waiting = self.processor.items().copied();
        let done = self.leaving.items().copied();
        for slot in self.free_slots.iter().copied().chain(waiting).chain(done) {
            match places.get_mut(slot as usize) {
                Some(count) if *count == 0 => *count = 1,
                Some(_) => return Err(format!("slot {slot} is in two places")),
                None => return Err(format!("slot {slot} of {}", self.depth)),
            }
        }
        if !self.leaving.is_sound() {
            return Err("completions are not in order of time".to_owned());
        }
        if !self.processor.is_sound() {
            return Err("the processor's commands are not in order of time".to_owned());
        }
        if self.waiting() > 0 && !self.free_slots.is_empty() {
            return Err(format!("{} commands wait, and there is room", self.waiting()));
        }
        self.submissions.as_ref().map_or(Ok(()), |submissions| submissions.check())
    }

    /// The drive was busy with something else until `now_ns`: erasing all of itself.
    pub fn restart(&mut self, now_ns: Nanos) {
        self.processor_free_ns = now_ns;
        self.other_processors.fill(now_ns);
    }
}
