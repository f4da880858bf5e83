//! What a reader has to be told because the file doesn't say it.

use super::format::Format;
use crate::error::WorkloadError;

/// How to read a trace file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// By default the first line decides.
    pub format: Option<Format>,
    /// Unit of arrival times, by default ns; in `MQSim`'s format only.
    pub time_unit: Option<TimeUnit>,
    /// Which event is a request's arrival, by default Q; in `blkparse`'s format only.
    pub arrival_event: Option<ArrivalEvent>,
    /// Only the requests of this device, rebased to its first. (A trace of several devices is otherwise taken as
    /// one device: their requests merged in order of time, their offsets as they are.)
    pub device: Option<String>,
}

impl ReadOptions {
    /// Refuses options that mean nothing in a format.
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] naming the option.
    pub(super) fn validate(&self, format: Format) -> Result<(), WorkloadError> {
        let refuse = |key: &str, value: &str, owner: Format| {
            let allowed =
                format!("has a meaning in the format {} only; this is {}", owner.name(), format.name());
            Err(WorkloadError::invalid(key, value, allowed))
        };
        if let Some(unit) = self.time_unit.filter(|_| format != Format::Mqsim) {
            return refuse("time_unit", unit.name(), Format::Mqsim);
        }
        if let Some(event) = self.arrival_event.filter(|_| format != Format::Blkparse) {
            return refuse("arrival_event", event.name(), Format::Blkparse);
        }
        Ok(())
    }
}

/// Unit of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// 10^-12 s.
    Picosecond,
    /// 10^-9 s.
    #[default]
    Nanosecond,
    /// 10^-6 s.
    Microsecond,
    /// 10^-3 s.
    Millisecond,
    /// A second.
    Second,
}

impl TimeUnit {
    /// All units.
    pub const ALL: [Self; 5] =
        [Self::Picosecond, Self::Nanosecond, Self::Microsecond, Self::Millisecond, Self::Second];

    /// Its symbol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Picosecond => "ps",
            Self::Nanosecond => "ns",
            Self::Microsecond => "us",
            Self::Millisecond => "ms",
            Self::Second => "s",
        }
    }

    /// Length of it in ps.
    pub(super) fn picoseconds(self) -> u64 {
        match self {
            Self::Picosecond => 1,
            Self::Nanosecond => 1000,
            Self::Microsecond => 1_000_000,
            Self::Millisecond => 1_000_000_000,
            Self::Second => 1_000_000_000_000,
        }
    }

    /// The unit of a symbol.
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] listing the symbols.
    pub fn from_name(name: &str) -> Result<Self, WorkloadError> {
        let found = Self::ALL.into_iter().find(|unit| unit.name() == name);
        found.ok_or_else(|| WorkloadError::invalid("time_unit", name, "must be ps, ns, us, ms or s"))
    }
}

/// The event in the life of a request that counts as its arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArrivalEvent {
    /// Q: it entered the block layer, before its scheduler merged and sorted requests.
    #[default]
    Queued,
    /// D: it was given to the drive.
    Issued,
}

impl ArrivalEvent {
    /// The letter of its action.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "Q",
            Self::Issued => "D",
        }
    }

    /// The event of a letter.
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] listing the letters.
    pub fn from_name(name: &str) -> Result<Self, WorkloadError> {
        let found = [Self::Queued, Self::Issued].into_iter().find(|event| event.name() == name);
        let allowed = "must be Q (queued) or D (given to the drive)";
        found.ok_or_else(|| WorkloadError::invalid("arrival_event", name, allowed))
    }
}
