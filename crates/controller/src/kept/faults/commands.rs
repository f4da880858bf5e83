//! Commands of the host that are refused, lost, led astray, or acknowledged too early.

use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;

use super::{Fault, FaultKind, KindWord};
use crate::command::{Command, Op, Outcome, Unreadable};
use crate::drive::{Scheduled, SolidStateDrive};

/// Purpose number of the draws of misdirected writes' places.
const PLACE_STREAM: u64 = 0x504C_4143;

impl<M: Scheduled> SolidStateDrive<M> {
    /// The firmware is done with a command of a drive with faults. `true`: nothing more is to be done about it.
    pub(crate) fn begin_with_faults(&mut self, slot: u32, now: Nanos) -> bool {
        let command = self.slots[slot as usize].command;
        let Some(faults) = &mut self.faults else { return false };
        let number = faults.begin(command.op);
        match command.op {
            Op::Read => {
                if let Some(fault) = faults.fires(KindWord::ReadError, number, &command) {
                    let all = (0, command.sector_count);
                    let inside = fault
                        .range
                        .map_or(Some(all), |range| range.within(command.lba, command.sector_count));
                    self.fail_sectors(slot, inside.unwrap_or(all));
                }
                self.patrol(now);
                false
            }
            Op::Write => {
                if faults.fires(KindWord::ReadOnly, number, &command).is_some() {
                    faults.is_read_only = true;
                }
                if faults.is_read_only {
                    self.refuse(slot, now);
                    return true;
                }
                self.lead_astray(slot, number, &command);
                self.patrol(now);
                false
            }
            Op::Trim if faults.is_read_only => {
                self.refuse(slot, now);
                true
            }
            Op::Trim => {
                self.replace_trimmed(&command);
                false
            }
            Op::Flush => {
                let lies = faults.fires(KindWord::LyingFlush, number, &command).is_some();
                if lies {
                    faults.counters.lying_flushes += 1;
                    self.finish_over_link(slot, now);
                }
                lies
            }
        }
    }

    /// Whole units are trimmed; sectors of others keep what they have, or have lost.
    fn replace_trimmed(&mut self, command: &Command) {
        let sectors = u64::from(self.sectors_per_unit);
        let first = command.lba.next_multiple_of(sectors);
        let end = (command.lba + u64::from(command.sector_count)) / sectors * sectors;
        if first < end && self.mapping.takes_trims() {
            self.replace_lost((first, (end - first) as u32));
        }
    }

    /// What a bad drive does to a write.
    fn lead_astray(&mut self, slot: u32, number: u64, command: &Command) {
        let capacity = self.capacity_sectors;
        let Some(faults) = &mut self.faults else { return };
        faults.torn.retain(|&other| other != slot);
        let state = &mut self.slots[slot as usize];
        if command.fua && faults.fires(KindWord::IgnoredFua, number, command).is_some() {
            faults.counters.ignored_fuas += 1;
            state.command.fua = false;
        }
        if let Some(Fault { kind: FaultKind::MisdirectedWrite { distance_sectors }, .. }) =
            faults.fires(KindWord::MisdirectedWrite, number, command)
        {
            let sectors = u64::from(command.sector_count);
            let places = capacity - sectors + 1;
            let drawn = drivelab_sim::rng::draw(faults.seed, PLACE_STREAM, number);
            let place = match distance_sectors {
                Some(distance) => {
                    (i128::from(command.lba) + i128::from(distance)).rem_euclid(i128::from(places)) as u64
                }
                // Places as far from the start of a unit as the right one: others would cost the drive more time.
                None => {
                    let unit = u64::from(self.sectors_per_unit);
                    let place = (drawn * places as f64) as u64 / unit * unit + command.lba % unit;
                    if place < places { place } else { command.lba % unit }
                }
            };
            faults.counters.misdirected_writes += 1;
            state.command.lba = if place < places { place } else { 0 };
        }
        if faults.fires(KindWord::LostWrite, number, command).is_some() {
            faults.counters.lost_writes += 1;
            state.sectors_done = command.sector_count;
            let link = if self.config.link.full_duplex { &mut self.link_in } else { &mut self.link };
            link.carry_for(&mut state.account, state.link_ns, self.now_ns);
        } else if command.sector_count > 1
            && self.durable.is_some()
            && faults.fires(KindWord::TornWrite, number, command).is_some()
        {
            faults.counters.torn_writes += 1;
            faults.torn.push(slot);
        }
    }

    /// Sectors of a read can't be given back: the first, counted from the command's own first, and how many.
    pub(crate) fn fail_sectors(&mut self, slot: u32, (first_sector, sector_count): (u32, u32)) {
        let state = &mut self.slots[slot as usize];
        let tag = state.command.tag;
        let Some(faults) = &mut self.faults else { return };
        faults.counters.read_errors += u64::from(state.outcome != Outcome::Uncorrectable);
        state.outcome = Outcome::Uncorrectable;
        // In the laboratory nobody asks which.
        if faults.own.bits.is_some() && self.durable.is_none() {
            return;
        }
        match faults.unreadable.last_mut() {
            Some(last) if last.tag == tag && last.first_sector + last.sector_count == first_sector => {
                last.sector_count += sector_count;
            }
            _ => faults.unreadable.push(Unreadable { tag, first_sector, sector_count }),
        }
    }

    /// A write or trim of a drive that only reads.
    fn refuse(&mut self, slot: u32, now: Nanos) {
        self.note_refusal(slot);
        self.slots[slot as usize].link_ns = self.config.link.command_ns(0);
        self.finish_over_link(slot, now);
    }

    fn note_refusal(&mut self, slot: u32) {
        if let Some(faults) = &mut self.faults {
            faults.counters.refused_commands += 1;
        }
        self.slots[slot as usize].outcome = Outcome::Refused;
    }

    /// Writes that wait for buffer space when the drive stops writing are not done, or in part. `true`: there was
    /// one, and it is gone.
    pub(crate) fn refuse_waiting(&mut self, now: Nanos) -> bool {
        if !self.is_read_only() {
            return false;
        }
        if self.begin_waiting_read(now) {
            return true;
        }
        let Some(slot) = self.admission.pop_front() else { return false };
        self.end_stall(slot, now);
        if self.slots[slot as usize].pending > 0 {
            // Units of it are on their way to flash.
            self.note_refusal(slot);
            let state = &mut self.slots[slot as usize];
            state.admitted = true;
            state.wait_base = self.flash.busy();
        } else {
            self.refuse(slot, now);
        }
        true
    }

    /// When everything of this instant has happened.
    pub(crate) fn settle_faults(&mut self, now: Nanos) {
        if self.faults.as_mut().is_some_and(|faults| std::mem::take(&mut faults.is_refresh_due)) {
            M::resume(self, now);
        }
        self.give_up_if_stuck(now);
    }

    /// Whether commands wait inside and nothing is on its way.
    fn waits_in_vain(&self) -> bool {
        let waits = !self.admission.is_empty() || !self.flushes.is_empty() || self.buffer.is_awaited();
        waits
            && self.events.is_empty()
            && !self.has_ready_command()
            && !self.holds_writes()
            && self.late.is_empty()
            && self.hold_alarm_ns == NEVER
    }

    /// If commands wait inside and nothing will ever happen again, they fail: no flash that works has room for what
    /// they wait for, or power cuts have taken it. What is in the buffer can still be read there.
    pub(crate) fn give_up_if_stuck(&mut self, now: Nanos) {
        if !self.waits_in_vain() {
            return;
        }
        self.drain_again(now);
        if !self.waits_in_vain() {
            return;
        }
        self.have_faults().is_read_only = true;
        let (reads, writes) = self
            .admission
            .drain(..)
            .partition::<Vec<u32>, _>(|&slot| self.slots[slot as usize].command.op == Op::Read);
        for slot in reads {
            self.end_stall(slot, now);
            self.begin_read(slot, now);
        }
        let mut failed: Vec<u32> = writes.into_iter().chain(self.buffer.take_waiters()).collect();
        let flushes = std::mem::take(&mut self.flushes);
        failed.extend(&flushes);
        failed.sort_unstable();
        failed.dedup();
        for slot in failed {
            if let Some(faults) = &mut self.faults {
                faults.counters.failed_commands += 1;
            }
            self.slots[slot as usize].outcome = Outcome::Failed;
            self.waited_for_dies(slot, now);
            if flushes.contains(&slot) {
                self.finish_over_link(slot, now);
            } else {
                self.complete_write(slot, now);
            }
        }
    }
}
