//! Jobs of dies for the map of a log-structured scheme: pages of its journal or of its lines, and reading lines back.

use drivelab_ftl::LogMapping;
use drivelab_nand::op::PageKind;
use drivelab_nand::{DieIndex, Ppn};
use drivelab_sim::Nanos;

use crate::back_end::log::LogJobs;
use crate::drive::{Scheduled, SolidStateDrive};
use crate::flash::Sensing;

impl<M: LogMapping + Scheduled<Jobs = LogJobs>> SolidStateDrive<M> {
    /// Metadata became due without a program whose end would set its die to it: dies without a job write it, whoever's
    /// turn it is, and those with one go on with what is left.
    #[inline]
    pub(crate) fn write_metadata(&mut self, now: Nanos) {
        if !self.mapping.is_metadata_due() {
            return;
        }
        let dies = self.layout.geometry.die_count();
        let mut passed = 0;
        while self.mapping.is_metadata_due() && passed < dies {
            let die = self.jobs.next_metadata_die;
            self.jobs.next_metadata_die = (die + 1) % dies;
            self.pick_job(die, now);
            passed += 1;
        }
    }

    #[inline]
    pub(crate) fn try_metadata(&mut self, die: u32, now: Nanos) -> bool {
        let index = DieIndex(die);
        if !self.mapping.is_metadata_due_on(index) {
            return false;
        }
        if !self.take_token(die) {
            return true;
        }
        let step = match self.mapping.program_metadata(index) {
            Ok(step) => step,
            Err(error) => unreachable!("metadata of die {die}: {error}"),
        };
        let mut end = now;
        if step.pages_read > 0 {
            let bytes = u64::from(step.bytes_read);
            self.meters.read_bytes_map += bytes;
            let sensing =
                Sensing { die: index, pages: u64::from(step.pages_read), bytes, mask: 0, is_cleaning: true };
            end = self.flash.sense(sensing, now);
        }
        if step.units_released > 0 {
            // Reads use the die meanwhile: a step that waits for the firmware ends with that.
            debug_assert!(step.erased.is_none() && step.programmed.is_none(), "{step:?}");
            let work = u64::from(step.units_released) * self.config.firmware.trim_ns;
            end = end.max(self.occupy_firmware(work, now));
        }
        if let Some(block) = step.erased {
            end = self.flash.erase_in(self.mapping.flash().mode(block), index, end, false);
            if let Some(durable) = &mut self.durable {
                durable.erase(index, block, now, now);
            }
        }
        if let Some((block, page)) = step.programmed {
            let mode = self.mapping.flash().mode(block);
            end = self.flash.program_in(mode, index, (page, end), now, false);
            if let Some(durable) = &mut self.durable {
                let first = self.layout.first_ppn(block).0
                    + page / self.layout.pages_per_unit * self.layout.units_per_page;
                durable.program(index, &self.mapping, Ppn(first), PageKind::Metadata, (now, now));
            }
        }
        self.start_job(die, end);
        if M::LOADS_MAP_ON_DEMAND {
            self.pass_turn(die);
        }
        true
    }

    /// A page of a map that lies in flash takes the place of a page of the host: with almost as many of the one as of the
    /// other, a stripe that waited for its die each time would be one page after another.
    fn pass_turn(&mut self, die: u32) {
        if self.jobs.idle.is_empty() {
            if self.jobs.next_die == die {
                self.jobs.next_die = (die + 1) % self.layout.geometry.die_count();
            }
        } else if self.jobs.list_of(die) == self.jobs.next_list {
            self.jobs.next_list = (self.jobs.next_list + 1) % self.jobs.idle.len();
        }
        self.drain_due |= self.buffer.queued() > 0;
    }

    /// Dies without a job read the lines of the map that a program has changed and that are not in memory, if no one
    /// waits for them. The others will, before anything else.
    #[inline]
    pub(crate) fn call_map_readers(&mut self, now: Nanos) {
        while let Some(die) = self.mapping.take_map_reader() {
            self.pick_job(die.0, now);
        }
        if M::LOADS_MAP_ON_DEMAND {
            // What was read has made others leave.
            self.write_metadata(now);
        }
    }

    /// When the page of the host that was just mapped may begin: when all that it changes of the map is in memory.
    #[inline]
    pub(super) fn map_ready_ns(&mut self, now: Nanos) -> Nanos {
        let loaded = self.load_map(false, now).ready_ns;
        let arrivals = self.jobs.lpns.iter().map(|&lpn| self.mapping.map_arrival(lpn));
        arrivals.fold(loaded, Nanos::max)
    }

    /// Reads lines of the map that changes wait for: a page of them, so that commands of the host get in between.
    #[inline]
    pub(crate) fn try_map_read(&mut self, die: u32, now: Nanos) -> bool {
        let Some(bytes) = self.mapping.read_map(DieIndex(die)) else { return false };
        self.meters.read_bytes_map += u64::from(bytes);
        let sensing =
            Sensing { die: DieIndex(die), pages: 1, bytes: u64::from(bytes), mask: 0, is_cleaning: false };
        let end = self.flash.sense(sensing, now);
        self.start_job(die, end);
        true
    }
}
