//! The formats: their names, and how a file of each is recognised.

use crate::error::WorkloadError;

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `arrival device lba sectors type` separated by spaces; ns, 512-byte sectors, type 0 = write, 1 = read.
    Mqsim,
    /// `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`; 100 ns ticks, bytes.
    Msr,
    /// `Timestamp,Response,IOType,LUN,Offset,Size`; seconds, bytes.
    Systor17,
    /// `device_id,opcode,offset,length,timestamp`; bytes, microseconds.
    Alibaba,
    /// `Timestamp,Offset,Size,IOType,VolumeID`; seconds, 512-byte sectors, type 0 = read, 1 = write.
    Tencent,
    /// `ts pid process lba size R/W major minor md5` separated by spaces; ns, 512-byte sectors.
    Fiu,
    /// What `blkparse` prints by default.
    Blkparse,
    /// fio's log of requests, version 2 or 3.
    Iolog,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 8] = [
        Self::Mqsim,
        Self::Msr,
        Self::Systor17,
        Self::Alibaba,
        Self::Tencent,
        Self::Fiu,
        Self::Blkparse,
        Self::Iolog,
    ];

    /// Name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mqsim => "mqsim",
            Self::Msr => "msr",
            Self::Systor17 => "systor17",
            Self::Alibaba => "alibaba",
            Self::Tencent => "tencent",
            Self::Fiu => "fiu",
            Self::Blkparse => "blkparse",
            Self::Iolog => "iolog",
        }
    }

    /// The columns of a line, as its publishers write them. A first line that says just this is a header.
    #[must_use]
    pub fn layout(self) -> &'static str {
        match self {
            Self::Mqsim => "arrival device lba sectors type",
            Self::Msr => "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
            Self::Systor17 => "Timestamp,Response,IOType,LUN,Offset,Size",
            Self::Alibaba => "device_id,opcode,offset,length,timestamp",
            Self::Tencent => "Timestamp,Offset,Size,IOType,VolumeID",
            Self::Fiu => "ts pid process lba size R/W major minor md5",
            Self::Blkparse => "major,minor cpu sequence time pid action RWBS sector + sectors [process]",
            Self::Iolog => "fio version 2 iolog, or fio version 3 iolog",
        }
    }

    /// The format of a name.
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] listing the names.
    pub fn from_name(name: &str) -> Result<Self, WorkloadError> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            WorkloadError::invalid("format", name, format!("must be one of {names}"))
        })
    }

    /// All names with their layouts, for messages.
    pub(super) fn all_layouts() -> String {
        Self::ALL.map(|format| format!("{} ({})", format.name(), format.layout())).join(", ")
    }

    /// Whether a line is the header that publishers, or those who copied their files, put on top.
    pub(super) fn is_header(self, line: &str) -> bool {
        line.eq_ignore_ascii_case(self.layout())
    }

    /// The format that a first line looks like.
    pub(super) fn guess(line: &str) -> Option<Self> {
        let headed = Self::ALL.into_iter().find(|format| format.is_header(line));
        let columns: Vec<_> = line.split_whitespace().collect();
        let values: Vec<_> = line.split(',').map(str::trim).collect();
        if headed.is_some() {
            headed
        } else if line.starts_with("fio version") {
            Some(Self::Iolog)
        } else if columns.len() > 1 && is_device_number(columns[0]) {
            Some(Self::Blkparse)
        } else {
            match values.as_slice() {
                [_, _, _, _, _, _, _] => Some(Self::Msr),
                [_, _, _, _, _, _] => Some(Self::Systor17),
                [_, opcode, _, _, _] if !is_digits(opcode) => Some(Self::Alibaba),
                [_, _, _, _, _] => Some(Self::Tencent),
                _ => Self::guess_spaced(&columns),
            }
        }
    }

    fn guess_spaced(columns: &[&str]) -> Option<Self> {
        match columns {
            [arrival, rest @ ..] if rest.len() == 4 => {
                let numbers = rest.iter().all(|column| is_digits(column));
                let time = arrival.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
                (numbers && time).then_some(Self::Mqsim)
            }
            // A process may have a name of several words.
            [time, _, _, .., kind, _, _, _] if columns.len() >= 9 => {
                (is_digits(time) && ["R", "W"].contains(kind)).then_some(Self::Fiu)
            }
            _ => None,
        }
    }
}

/// Whether it is `major,minor`.
pub(super) fn is_device_number(text: &str) -> bool {
    text.split_once(',').is_some_and(|(major, minor)| is_digits(major) && is_digits(minor))
}

/// Whether it is a whole number without sign.
pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
