//! What a drive asks of its mapping scheme and of the back end that goes with it.

use std::fmt::Debug;

use drivelab_ftl::Scheme;
use drivelab_nand::{DieIndex, Lpn};
use drivelab_sim::Nanos;

use super::SolidStateDrive;
use crate::buffer::clusters::Clusters;
use crate::config::ControllerConfig;

/// A mapping scheme and the back end that schedules its flash operations. Everything else of the controller - host
/// link, firmware, write buffer, reads, timing of dies and channels - is the same for all schemes.
pub trait Scheduled: Scheme + Sized {
    /// What the back end remembers: jobs under way, queues.
    type Jobs: Clone + Debug + Send;

    /// Whether the rest of a unit that the host writes only in part is fetched when the unit is programmed, not when it
    /// comes into the buffer.
    const COMPLETES_LATE: bool = false;

    /// How waiting units are grouped, if they are.
    fn clusters(&self, config: &ControllerConfig) -> Option<Clusters> {
        let _ = config;
        None
    }

    /// The back end of a new (or erased) drive.
    fn jobs(&self, config: &ControllerConfig) -> Self::Jobs;

    /// Units that the write buffer must have room for at least.
    fn buffer_units_min(&self) -> u32;

    /// Whether the buffer takes data of this unit just now, as far as it has space.
    #[inline]
    fn takes_host_data(drive: &SolidStateDrive<Self>, lpn: Lpn) -> bool {
        let _ = (drive, lpn);
        true
    }

    /// Something may have become possible: data has come into the buffer, a hold time has passed.
    fn drain(drive: &mut SolidStateDrive<Self>, now: Nanos);

    /// The job of a die (or bank) is done.
    fn job_done(drive: &mut SolidStateDrive<Self>, die: DieIndex, now: Nanos);

    /// The data of a bank's row is in the page registers, for back ends that ask to hear of it.
    #[inline]
    fn row_in_register(drive: &mut SolidStateDrive<Self>, bank: DieIndex, now: Nanos) {
        let _ = (drive, bank, now);
    }

    /// Metadata may have become due without data of the host: dies without a job write it.
    #[inline]
    fn write_metadata(drive: &mut SolidStateDrive<Self>, now: Nanos) {
        let _ = (drive, now);
    }

    /// The job of a die that had to wait may begin.
    fn begin_late(drive: &mut SolidStateDrive<Self>, die: u32, now: Nanos);

    /// The drive has been idle for its idle delay.
    fn begin_idle_work(drive: &mut SolidStateDrive<Self>, now: Nanos);

    /// Dies may be given work again, after a halt.
    fn resume(drive: &mut SolidStateDrive<Self>, now: Nanos) {
        Self::drain(drive, now);
    }

    /// After a mount, does what must be done before the host is served; when that is done.
    fn recover(drive: &mut SolidStateDrive<Self>, now: Nanos) -> Nanos {
        let _ = drive;
        now
    }

    /// Whether the drive has work for idle time.
    fn works_when_idle(&self) -> bool {
        false
    }

    /// Copies that the back end owes on dies that are being cleaned.
    fn owed_copies(&self, jobs: &Self::Jobs) -> u64 {
        let _ = jobs;
        0
    }

    /// Whether work has begun that is to be done with when the host pauses.
    fn has_work_left(drive: &mut SolidStateDrive<Self>) -> bool {
        let _ = drive;
        false
    }

    /// Recounts the back end's own books, as they must be between any two events.
    ///
    /// # Errors
    /// The first contradiction, in words.
    fn check_jobs(drive: &SolidStateDrive<Self>) -> Result<(), String>;
}
