//! Work of the arm: what comes next, what a job leaves behind, reading ahead.
//!
//! Reads come before writes that nobody waits for. Writes compete with reads when the host waits for them: for room
//! in the cache, or for a flush, or by forced unit access. Among what competes, the access with the shortest
//! positioning comes first; once one has waited for too long, so it is first among those that have waited for half
//! as long. When nothing competes, the heads read ahead; when that is far enough, they empty the
//! write cache.

use drivelab_controller::SECTOR_BYTES;
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};

use super::config::Scheduling;
use super::geometry::Place;
use super::{HardDisk, Job, NO_JOB, Work};

/// An access to choose, by its place in its list.
#[derive(Clone, Copy)]
enum Choice {
    Read(usize),
    Write(usize),
}

/// The best of the accesses looked at so far: lower cost first, then earlier arrival.
struct Best {
    cost: (Nanos, u64),
    choice: Option<Choice>,
}

impl Best {
    fn new() -> Self {
        Self { cost: (Nanos::MAX, u64::MAX), choice: None }
    }

    #[inline]
    fn offer(&mut self, cost: (Nanos, u64), choice: Choice) {
        if cost < self.cost {
            self.cost = cost;
            self.choice = Some(choice);
        }
    }
}

impl HardDisk {
    /// Gives the arm something to do, if it may be sent.
    #[inline]
    pub(super) fn dispatch(&mut self, now: Nanos) {
        let pressing = !self.reads.is_empty() || self.host_waits_for_writes();
        match self.job.work {
            Work::Read | Work::Write => return,
            Work::ReadAhead if !pressing => return,
            Work::ReadAhead => self.stop_reading_ahead(now),
            Work::Nothing => {}
        }
        if !pressing && (self.read_ahead(now) || sabotage::is(Sabotage::DiskNeverWrites)) {
            return;
        }
        match self.choose(now) {
            Some(Choice::Read(index)) => {
                let read = self.reads.swap_remove(index);
                self.current = Some(read);
                self.start(
                    Work::Read,
                    read.lba,
                    (read.end - read.lba).min(u64::from(u32::MAX)) as u32,
                    read.place,
                    now,
                );
            }
            Some(Choice::Write(index)) => {
                let index = self.write_cache.before(index);
                let extent = self.write_cache.extent_mut(index);
                extent.active = true;
                let (lba, sectors, place) = (extent.lba, extent.sectors, extent.place);
                self.ahead_of = None;
                self.start(Work::Write, lba, sectors, place, now);
            }
            None => {}
        }
    }

    #[inline]
    fn host_waits_for_writes(&self) -> bool {
        !self.admission.is_empty() || !self.flushes.is_empty() || self.awaited_extents > 0
    }

    /// The access that comes next.
    #[inline]
    fn choose(&mut self, now: Nanos) -> Option<Choice> {
        if let Some(choice) = self.overdue_access(now) {
            return Some(choice);
        }
        let extents = self.write_cache.extents();
        let mut best = Best::new();
        for (index, read) in self.reads.iter().enumerate() {
            best.offer((self.cost(&read.place, false, now), read.order), Choice::Read(index));
        }
        if self.reads.is_empty() || self.host_waits_for_writes() {
            for (index, extent) in extents.iter().enumerate() {
                best.offer((self.cost(&extent.place, true, now), extent.order), Choice::Write(index));
            }
        }
        best.choice
    }

    /// The next of the accesses that come before all others: once one has waited for too long, those that have waited for
    /// half as long come with it. One at a time, in the order of their coming, they would take so long at a full queue that
    /// the next is always overdue.
    fn overdue_access(&mut self, now: Nanos) -> Option<Choice> {
        if self.config.deadline_ns == 0 {
            return None;
        }
        let under_way = self.best_up_to(self.overdue_order, now);
        if under_way.is_some() {
            return under_way;
        }
        let reads = self.reads.iter().map(|read| (read.arrived_ns, read.order));
        let extents = self.write_cache.extents().iter().map(|extent| (extent.arrived_ns, extent.order));
        let (overdue_ns, old_ns) = (self.config.deadline_ns, self.config.deadline_ns / 2);
        let old = reads.chain(extents).filter(|&(arrived_ns, _)| now.saturating_sub(arrived_ns) > old_ns);
        let (oldest_ns, last) = old.fold((now, 0), |(oldest_ns, last), (arrived_ns, order)| {
            (oldest_ns.min(arrived_ns), last.max(order))
        });
        if now - oldest_ns <= overdue_ns {
            return None;
        }
        self.overdue_order = last;
        self.best_up_to(self.overdue_order, now)
    }

    /// The best of the accesses that came up to this one.
    fn best_up_to(&self, order: u64, now: Nanos) -> Option<Choice> {
        let mut best = Best::new();
        for (index, read) in self.reads.iter().enumerate().filter(|(_, read)| read.order <= order) {
            best.offer((self.cost(&read.place, false, now), read.order), Choice::Read(index));
        }
        let extents = self.write_cache.extents().iter().enumerate();
        for (index, extent) in extents.filter(|(_, extent)| extent.order <= order) {
            best.offer((self.cost(&extent.place, true, now), extent.order), Choice::Write(index));
        }
        best.choice
    }

    /// What the scheduler wants little of: positioning time, or nothing, so that the earliest wins.
    #[inline]
    fn cost(&self, place: &Place, write: bool, now: Nanos) -> Nanos {
        match self.config.scheduling {
            Scheduling::ShortestPositioning => self.arm.approach(&self.geometry, place, write, now).begin_ns,
            Scheduling::FirstCome => 0,
        }
    }

    /// Sends the arm to sectors of one track.
    #[inline]
    fn start(&mut self, work: Work, lba: u64, sectors: u32, place: Place, now: Nanos) {
        let sectors = sectors.min(place.sectors_per_track - place.sector);
        let approach = self.arm.approach(&self.geometry, &place, work == Work::Write, now);
        let transfer_ns = self.geometry.transfer_ns(&place, sectors);
        let end_ns = approach.begin_ns + transfer_ns;
        self.arm.stay_at(&place, end_ns);
        let moved_ns = approach.arrive_ns - approach.start_ns;
        self.meters.seek_busy_ns += moved_ns;
        self.meters.seek_count += u64::from(moved_ns > 0);
        self.meters.rotation_wait_ns += approach.begin_ns - approach.arrive_ns;
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        if work == Work::Write {
            self.meters.write_busy_ns += transfer_ns;
            self.meters.media_write_bytes += bytes;
        } else {
            self.meters.read_busy_ns += transfer_ns;
            self.meters.media_read_bytes += bytes;
        }
        self.job =
            Job { work, lba, sectors, start_ns: approach.start_ns, begin_ns: approach.begin_ns, end_ns };
    }

    /// The heads have done what they were sent for.
    #[inline]
    pub(super) fn job_done(&mut self, now: Nanos) {
        let job = self.job;
        match job.work {
            Work::Read => self.read_done(&job, now),
            Work::Write => self.write_done(&job, now),
            Work::ReadAhead => self.stop_reading_ahead(now),
            Work::Nothing => {}
        }
        self.dispatch_due = true;
    }

    fn read_done(&mut self, job: &Job, now: Nanos) {
        self.job = NO_JOB;
        let Some(mut read) = self.current.take() else { return };
        let stamps = self.stamps_on_media(job.lba, job.sectors);
        if let Some(stamps) = &stamps {
            self.partial_stamps[read.slot as usize].extend_from_slice(stamps);
        }
        self.read_cache.insert(job.lba, job.sectors, stamps);
        self.send(read.slot, job.sectors, (job.start_ns, job.begin_ns), now);
        read.lba += u64::from(job.sectors);
        if read.lba < read.end {
            // The rest is on the next track; a read is not left half done.
            read.place = self.geometry.place(read.lba);
            self.current = Some(read);
            self.start(Work::Read, read.lba, (read.end - read.lba) as u32, read.place, now);
        } else {
            self.ahead_of = Some(read.end);
        }
    }

    fn write_done(&mut self, job: &Job, now: Nanos) {
        self.job = NO_JOB;
        let Some(index) = self.write_cache.active() else { return };
        self.write_cache.release(job.sectors);
        let extent = self.write_cache.extent_mut(index);
        extent.active = false;
        extent.lba += u64::from(job.sectors);
        extent.sectors -= job.sectors;
        if let Some(durable) = &mut self.durable {
            durable.store(job.lba, extent.stamps.drain(..job.sectors as usize));
        } else if let Some(media) = &mut self.media {
            let first = job.lba as usize;
            let written = extent.stamps.drain(..job.sectors as usize);
            for (place, stamp) in media[first..].iter_mut().zip(written) {
                *place = stamp;
            }
        }
        if extent.waiter != super::write_cache::NOBODY {
            self.slots[extent.waiter as usize].media_worked(job.start_ns, now);
        }
        if extent.sectors == 0 {
            let extent = self.write_cache.remove(index);
            self.extent_done(&extent, job.end_ns - job.start_ns, now);
        } else {
            extent.place = self.geometry.place(extent.lba);
        }
        self.admit(now);
    }

    /// Starts reading ahead of what the host has read, unless that is far enough already.
    fn read_ahead(&mut self, now: Nanos) -> bool {
        let Some((lba, end)) = self.ahead_of.and_then(|lba| self.read_cache.read_ahead(lba)) else {
            return false;
        };
        let end = end.min(self.config.capacity_sectors);
        if lba >= end {
            return false;
        }
        let all = self.arm.read(&self.geometry, lba, end, now, Nanos::MAX);
        let start_ns = self.arm.free_ns.max(now);
        self.job = Job {
            work: Work::ReadAhead,
            lba,
            sectors: (end - lba) as u32,
            start_ns,
            begin_ns: start_ns,
            end_ns: all.arm.free_ns,
        };
        true
    }

    /// Ends reading ahead; what has been read is kept.
    #[inline]
    pub(super) fn stop_reading_ahead(&mut self, now: Nanos) {
        if self.job.work != Work::ReadAhead {
            return;
        }
        let job = std::mem::replace(&mut self.job, NO_JOB);
        let end = job.lba + u64::from(job.sectors);
        let progress = self.arm.read(&self.geometry, job.lba, end, job.start_ns, now);
        let sectors = (progress.lba - job.lba) as u32;
        self.arm = progress.arm;
        self.meters.seek_busy_ns += progress.seek_ns;
        self.meters.seek_count += progress.seeks;
        self.meters.rotation_wait_ns += progress.rotation_ns;
        self.meters.read_busy_ns += progress.transfer_ns;
        self.meters.read_ahead_bytes += u64::from(sectors) * SECTOR_BYTES;
        let stamps = self.stamps_on_media(job.lba, sectors);
        self.read_cache.insert(job.lba, sectors, stamps);
    }

    /// What a read of the media gives now, waiting writes put over it.
    fn stamps_on_media(&self, lba: u64, sectors: u32) -> Option<Vec<u64>> {
        let media = self.media.as_ref()?;
        let mut stamps = media[lba as usize..lba as usize + sectors as usize].to_vec();
        self.write_cache.overlay(lba, &mut stamps);
        Some(stamps)
    }
}
