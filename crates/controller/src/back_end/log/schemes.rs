//! The schemes with a log on each die.

use drivelab_ftl::{CompressedMap, DemandLoaded, LogMapping, Mapping, PageMap};
use drivelab_nand::DieIndex;
use drivelab_sim::Nanos;

use super::LogJobs;
use crate::config::ControllerConfig;
use crate::drive::{Scheduled, SolidStateDrive};

/// Schemes with a log on each die are all scheduled by the same back end.
macro_rules! scheduled_as_logs {
    ($($map:ty),*) => {
        $(
        impl Scheduled for $map {
            type Jobs = LogJobs;

            fn jobs(&self, config: &ControllerConfig) -> LogJobs {
                LogJobs::new(self, config)
            }

            fn buffer_units_min(&self) -> u32 {
                self.layout().units_per_page
            }

            #[inline]
            fn drain(drive: &mut SolidStateDrive<Self>, now: Nanos) {
                drive.drain_log(now);
            }

            #[inline]
            fn job_done(drive: &mut SolidStateDrive<Self>, die: DieIndex, now: Nanos) {
                drive.log_job_done(die.0, now);
            }

            #[inline]
            fn write_metadata(drive: &mut SolidStateDrive<Self>, now: Nanos) {
                drive.write_metadata(now);
            }

            #[inline]
            fn begin_late(drive: &mut SolidStateDrive<Self>, die: u32, now: Nanos) {
                drive.begin_log_job(die, now);
            }

            fn begin_idle_work(drive: &mut SolidStateDrive<Self>, now: Nanos) {
                drive.clean_idle_dies(now);
            }

            fn resume(drive: &mut SolidStateDrive<Self>, now: Nanos) {
                drive.resume_dies(now);
            }

            fn works_when_idle(&self) -> bool {
                self.cleans_when_idle()
            }

            #[inline]
            fn has_work_left(drive: &mut SolidStateDrive<Self>) -> bool {
                drive.has_cleaning_left()
            }

            fn owed_copies(&self, jobs: &LogJobs) -> u64 {
                jobs.owed_copies(|die| self.is_cleaning(die))
            }

            fn check_jobs(drive: &SolidStateDrive<Self>) -> Result<(), String> {
                drive.check_log_jobs()
            }
        }
        )*
    };
}

scheduled_as_logs!(PageMap, PageMap<DemandLoaded>, CompressedMap);
