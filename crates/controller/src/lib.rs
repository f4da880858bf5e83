//! When things happen: host link, firmware, write buffer, scheduling over channels and dies, energy.

mod allocation;
pub mod buffer;
mod cells;
mod clusters;
pub mod command;
pub mod config;
mod durable;
pub mod effects;
mod event_queue;
pub mod faults;
mod flash;
mod governor;
mod host;
mod host_queue;
mod log_jobs;
mod log_jobs_check;
mod map_jobs;
mod merging;
pub mod meters;
mod power_cycle;
mod read_ahead;
mod scheduled;
pub mod ssd;
mod unit_index;

pub use cells::Cells;
pub use config::{
    BufferConfig, BufferEviction, CleaningPace, ControllerConfig, DieAllocation, FirmwareConfig,
    GovernorConfig, LinkConfig, PowerConfig, SchedulingConfig,
};
pub use effects::{Effect, Effects};
pub use faults::{FaultCounters, FaultPlan, PlanSheet, PowerCut};
pub use host_queue::{HostQueue, HostSide};
pub use meters::{HostMeters, Meters};
pub use power_cycle::{FlashShape, MountReport};
pub use scheduled::Scheduled;
pub use ssd::SolidStateDrive;

pub use drivelab_ftl::{Backlog, Content, UnitContent};

pub use command::{
    Command, CommandError, Completion, Device, LatencySplit, Op, Outcome, SECTOR_BYTES, Unreadable,
};
