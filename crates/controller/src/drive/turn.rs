//! The order in which things happen, and the firmware's processor.

use drivelab_nand::DieIndex;
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use drivelab_sim::time::NEVER;

use super::events::Event;
use super::{Scheduled, Slot, SolidStateDrive};
use crate::command::{Command, CommandError, Completion, Device, Op, Outcome, QueueClass, SECTOR_BYTES};
use crate::host::governor::Release;
use crate::host::queue::{HostQueue, HostSide};
use crate::host::submission::SubmissionConfig;

/// Durable mode: after so long without commands, what waits for the log of the map goes there, be it less than a page.
/// Assumed: a second without commands is a pause.
const LOG_REST_NS: Nanos = 1_000_000_000;

impl<M: Scheduled> SolidStateDrive<M> {
    /// The firmware takes a command on, after all that it has taken on before.
    #[allow(clippy::inline_always, reason = "hot, and called from cold places too")]
    #[inline(always)]
    fn begin_firmware(&mut self, slot: u32, now: Nanos) {
        if self.config.firmware.cores > 1 {
            self.begin_on_a_processor(slot, now);
            return;
        }
        let firmware_ns = self.slots[slot as usize].firmware_ns;
        let work = firmware_ns - self.config.firmware.pipeline_ns;
        self.meters.firmware_busy_ns += work;
        let begin = self.queue.occupy_processor(work, now) - work;
        let state = &mut self.slots[slot as usize];
        state.account.queued_until(begin);
        state.account.in_firmware(firmware_ns);
        self.queue.push(begin + firmware_ns, slot);
    }

    /// The same, of several processors.
    #[cold]
    fn begin_on_a_processor(&mut self, slot: u32, now: Nanos) {
        let firmware_ns = self.slots[slot as usize].firmware_ns;
        let work = firmware_ns - self.config.firmware.pipeline_ns;
        let begin = self.occupy_firmware(work, now) - work;
        let account = &mut self.slots[slot as usize].account;
        account.queued_until(begin);
        account.in_firmware(firmware_ns);
        self.queue.push_in_order(begin + firmware_ns, slot);
    }

    /// A command that was submitted at a time that may have passed has a slot from now on.
    #[allow(clippy::inline_always, reason = "hot, and called from a cold place too")]
    #[inline(always)]
    fn take_on(&mut self, slot: u32, command: Command, submitted_ns: Nanos, now: Nanos) {
        let mut work = self.config.firmware.command_ns(command.op);
        if let Some(faults) = &mut self.faults {
            work += faults.spike_ns(&command);
        }
        let bytes = command.transfer_bytes();
        if bytes != self.last_on_link.0 {
            self.last_on_link = (bytes, self.config.link.command_ns(bytes));
        }
        let link_ns = self.last_on_link.1;
        let firmware_ns = work + self.config.firmware.pipeline_ns;
        self.slots[slot as usize] = Slot::new(command, submitted_ns, firmware_ns, link_ns);
        let is_limited =
            command.op == Op::Write || (command.op == Op::Read && sabotage::is(Sabotage::ReadsGoverned));
        if !is_limited || !self.write_governor.holds(slot, now) {
            self.begin_firmware(slot, now);
        }
    }

    /// The governor lets a write go, or space for one.
    #[inline(never)]
    fn let_go(&mut self, release: Release, now: Nanos) {
        match release {
            Release::Write(slot) => self.begin_firmware(slot, now),
            Release::Credit => {
                self.give_space_back(!self.admission.is_empty(), now);
                self.admit(now);
                self.drain_due = true;
            }
        }
    }

    /// Space of so many units is free, for which writes wait.
    #[inline]
    pub(crate) fn space_is_free(&mut self, units: u32, now: Nanos) {
        if self.write_governor.gives_credit() {
            let units = self.buffer.withhold(units);
            self.write_governor.withhold(units, now);
        } else {
            self.admit(now);
        }
    }

    /// Nobody waits for space any more: all of it goes back, and nothing is due for it.
    pub(crate) fn stop_withholding(&mut self, now: Nanos) {
        if self.write_governor.gives_credit() {
            self.give_space_back(false, now);
        }
    }

    /// A unit of space that was withheld goes back, or all of it if no write `waits`.
    fn give_space_back(&mut self, waits: bool, now: Nanos) {
        let units = self.write_governor.credit(waits, now);
        self.buffer.give_back(units);
    }

    /// A place has become free: the next command of the submission queues takes it.
    #[cold]
    fn fetch(&mut self, now: Nanos) {
        let Some(submitted) = self.queue.fetch() else { return };
        if let Ok(slot) = self.queue.take_slot() {
            self.take_on(slot, submitted.command, submitted.at_ns, now);
        }
    }

    /// A die's job can't begin before this time, which lies ahead.
    #[inline]
    pub(crate) fn begin_later(&mut self, from: Nanos, die: u32) {
        self.late.insert(from, die);
    }

    /// A die's job that had to wait begins, unless what it waits for has turned out to come later.
    fn begin_late(&mut self, die: u32, now: Nanos) {
        if let Some(durable) = &mut self.durable {
            let from = durable.may_begin_ns(DieIndex(die));
            if from > now {
                durable.begins_later(DieIndex(die), from);
                self.begin_later(from, die);
                return;
            }
        }
        M::begin_late(self, die, now);
    }

    /// Whether writes wait for the governor.
    pub(crate) fn holds_writes(&self) -> bool {
        self.write_governor.next_release_ns() != NEVER
    }

    /// A processor's next `work`, after all that it has taken on before; when it is done.
    #[inline]
    pub(crate) fn occupy_firmware(&mut self, work: Nanos, now: Nanos) -> Nanos {
        self.meters.firmware_busy_ns += work;
        if self.config.firmware.cores > 1 {
            return self.queue.occupy_any_processor(work, now);
        }
        self.queue.occupy_processor(work, now)
    }

    /// What the processor has to do for a unit that is written in part; when it is done.
    #[inline]
    pub(crate) fn work_on_partial(&mut self, now: Nanos) -> Nanos {
        let work = self.config.scheduling.partial_unit_firmware_ns;
        if work > 0 { self.occupy_firmware(work, now) } else { now }
    }

    /// The firmware takes no command on before this time.
    pub(crate) fn hold_firmware(&mut self, until: Nanos) {
        self.queue.hold_processor(until);
    }

    /// Whether the host wants nothing and everything is in flash.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.buffer.is_resting()
    }

    /// Whether the firmware has a command to work on.
    pub(crate) fn has_ready_command(&self) -> bool {
        self.queue.next_ready() != NEVER
    }

    /// A command is done: it leaves over the link at `completed_ns`, not before any other that goes the same way.
    #[inline]
    pub(crate) fn complete(&mut self, slot: u32, completed_ns: Nanos) {
        if self.config.link.full_duplex {
            self.queue.complete_in_order(slot, completed_ns);
        } else {
            self.queue.complete(slot, self.slots[slot as usize].command.tag, completed_ns);
        }
    }

    /// Calls dies once more that were called while others were: nothing else would. Once is enough, for whatever a die
    /// begins calls the others when it ends.
    #[cold]
    #[inline(never)]
    pub(crate) fn drain_again(&mut self, now: Nanos) {
        self.drain_due = false;
        M::drain(self, now);
    }

    /// Whether anything happens by itself any more.
    pub(crate) fn has_events_left(&self) -> bool {
        self.next_internal() != NEVER
    }

    /// Sets the alarm of idle-time work if the drive has just become idle and has some.
    #[inline]
    pub(crate) fn note_idle(&mut self, since_ns: Nanos) {
        if self.is_idle() {
            self.set_idle_alarm(since_ns);
        }
    }

    fn set_idle_alarm(&mut self, since_ns: Nanos) {
        let has_log = self.durable.as_ref().is_some_and(|durable| durable.has_records());
        if self.works_when_idle || has_log || M::has_work_left(self) {
            let delay = self.config.scheduling.idle_delay_ns;
            let delay = if has_log { delay.max(LOG_REST_NS) } else { delay };
            self.idle_alarm_ns = since_ns.max(self.now_ns) + delay;
        }
    }
}

impl<M: Scheduled> HostSide for SolidStateDrive<M> {
    #[inline]
    fn queue(&self) -> &HostQueue {
        &self.queue
    }

    #[inline]
    fn queue_mut(&mut self) -> &mut HostQueue {
        &mut self.queue
    }

    #[inline]
    fn clock(&mut self) -> &mut Nanos {
        &mut self.now_ns
    }

    #[inline]
    fn next_internal(&self) -> Nanos {
        let command = self.queue.next_ready().min(self.write_governor.next_release_ns());
        command
            .min(self.events.next_ns())
            .min(self.late.next_ns())
            .min(self.hold_alarm_ns)
            .min(self.idle_alarm_ns)
    }

    #[inline]
    fn completion(&self, slot: u32, completed_ns: Nanos) -> Completion {
        let done = &self.slots[slot as usize];
        let mut account = done.account;
        if sabotage::is(Sabotage::LinkToldTwice) {
            account.split.link_ns *= 2;
        }
        if sabotage::is(Sabotage::FirmwareHidden) {
            account.split.queueing_ns += std::mem::take(&mut account.split.firmware_ns);
        }
        account.completion(&done.command, done.outcome, completed_ns)
    }

    #[inline]
    fn count(&mut self, slot: u32) {
        let Slot { command, sectors_done, outcome, .. } = &self.slots[slot as usize];
        // What the drive has taken of a write that it gives up stays one; the rest never was.
        let gives_up = matches!(outcome, Outcome::Refused | Outcome::Failed);
        let taken = if gives_up { *sectors_done } else { command.sector_count };
        self.meters.host.count(command, taken);
    }

    #[inline]
    fn left(&mut self, now: Nanos) -> bool {
        if !self.queue.is_turning_point() {
            return false;
        }
        if self.queue.is_empty() {
            self.meters.active_ns += now - self.active_since_ns;
            self.note_idle(now);
        } else {
            self.fetch(now);
        }
        true
    }

    #[allow(clippy::inline_always, reason = "hot, and too large to be inlined otherwise")]
    #[inline(always)]
    fn happen(&mut self, now: Nanos) {
        if let Some(event) = self.events.take(now) {
            match event {
                Event::JobDone(die) => M::job_done(self, die, now),
                Event::LogPageDone => self.log_page_done(now),
                Event::RowInRegister(bank) => M::row_in_register(self, bank, now),
                Event::ReadReady(slot) => self.finish_over_link(slot, now),
            }
        } else if let Some(die) = self.late.take(now) {
            self.begin_late(die, now);
        } else if let Some(slot) = self.queue.take_ready(now) {
            self.begin_command(slot, now);
        } else if let Some(release) = self.write_governor.release(now) {
            self.let_go(release, now);
        } else if self.hold_alarm_ns == now {
            self.hold_alarm_ns = NEVER;
            M::drain(self, now);
        } else {
            self.idle_alarm_ns = NEVER;
            self.log_waiting(now);
            M::begin_idle_work(self, now);
        }
        if self.drain_due && self.next_internal() != now {
            self.drain_due = false;
            M::drain(self, now);
            if self.drain_due && !self.has_events_left() {
                self.drain_again(now);
            }
        }
        if self.faults.is_some() {
            self.settle_faults(now);
        } else if self.durable.is_some() {
            self.give_up_if_stuck(now);
        }
    }
}

impl<M: Scheduled> Device for SolidStateDrive<M> {
    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn queue_depth(&self) -> u32 {
        let SubmissionConfig { queues, entries, .. } = self.config.submission;
        if queues > 1 { queues.saturating_mul(entries) } else { self.config.queue_depth }
    }

    fn queue_count(&self) -> u32 {
        self.config.submission.queues
    }

    fn queue_lengths(&self) -> Vec<u32> {
        self.queue.lengths()
    }

    fn set_queue_classes(&mut self, classes: &[QueueClass]) {
        self.queue.set_queue_classes(classes);
    }

    fn max_transfer_sectors(&self) -> u32 {
        match self.config.submission.max_transfer_bytes / SECTOR_BYTES {
            0 => u32::MAX,
            sectors => u32::try_from(sectors).unwrap_or(u32::MAX),
        }
    }

    fn now_ns(&self) -> Nanos {
        self.now_ns
    }

    #[inline]
    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        let slot = match self.enter(now_ns, &command) {
            Ok(slot) => slot,
            Err(refused) => return self.queue.wait(now_ns, command, refused),
        };
        if self.queue.outstanding() == 1 {
            self.active_since_ns = now_ns;
        }
        self.idle_alarm_ns = NEVER;
        self.take_on(slot, command, now_ns, now_ns);
        Ok(())
    }

    fn next_event(&mut self) -> Option<Nanos> {
        self.next_turn()
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        self.turn(until_ns, done);
    }

    #[inline]
    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        self.turn_to_completion(until_ns, done);
    }

    #[inline]
    fn prefetch(&self, lba: u64) {
        let (unit, _) = self.unit_of(lba);
        self.mapping.prefetch(u64::from(unit));
    }
}
