//! When things happen: host link, firmware, write buffer, scheduling over channels and dies, energy.

mod back_end;
pub mod buffer;
pub mod command;
pub mod config;
mod drive;
mod flash;
mod host;
mod kept;
pub mod meters;
mod timeline;

pub use config::{
    BufferConfig, BufferEviction, CleaningPace, ControllerConfig, DieAllocation, FirmwareConfig,
    GovernorConfig, LinkConfig, PassConfig, PowerConfig, SchedulingConfig, SlcTimes, SuspensionConfig,
    WordLineConfig,
};
pub use drive::{Scheduled, SolidStateDrive};
pub use flash::{DieWork, Recording, Stretch, Work};
pub use host::account::Account;
pub use host::link::Link;
pub use host::queue::{HostQueue, HostSide};
pub use host::submission::{Arbitration, SubmissionConfig};
pub use kept::cells::Cells;
pub use kept::effects::{Effect, Effects};
pub use kept::faults::{FaultCounters, FaultPlan, PlanSheet, PowerCut};
pub use kept::power_cycle::MountReport;
pub use kept::shape::FlashShape;
pub use kept::{effects, faults};
pub use meters::{HostMeters, Meters};

pub use drivelab_ftl::{Backlog, Content, UnitContent};

pub use command::{
    Command, CommandError, Completion, Device, LatencySplit, Op, Outcome, QueueClass, SECTOR_BYTES,
    Unreadable,
};
