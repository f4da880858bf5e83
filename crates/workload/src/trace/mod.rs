//! Recorded traces: readers for three formats into one table of requests.
//!
//! A file is read line by line. Times are rebased to the first request; requests that a recorder wrote out of
//! order are sorted by time. An error names file, line, value, and what is allowed.

mod fit;
mod iolog;
mod line;
mod mqsim;
mod msr;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use drivelab_controller::{Op, SECTOR_BYTES};
use drivelab_sim::Nanos;

use crate::error::WorkloadError;
use crate::requests::{Requests, op_code};
pub use fit::Beyond;

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `arrival device lba sectors type` separated by spaces; ns, 512-byte sectors, type 0 = write, 1 = read.
    Mqsim,
    /// `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`; 100 ns ticks, bytes.
    Msr,
    /// fio's log of requests, version 2 or 3.
    Iolog,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Mqsim, Self::Msr, Self::Iolog];

    /// Name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mqsim => "mqsim",
            Self::Msr => "msr",
            Self::Iolog => "iolog",
        }
    }

    /// The format of a name.
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] listing the names.
    pub fn from_name(name: &str) -> Result<Self, WorkloadError> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| WorkloadError::invalid("format", name, "must be mqsim, msr or iolog"))
    }

    /// The format that a first line looks like.
    fn guess(line: &str) -> Option<Self> {
        let columns: Vec<_> = line.split_whitespace().collect();
        if line.starts_with("fio version") {
            Some(Self::Iolog)
        } else if line.split(',').count() == 7 {
            Some(Self::Msr)
        } else if columns.len() == 5
            && columns.iter().all(|column| column.bytes().all(|b| b.is_ascii_digit()))
        {
            Some(Self::Mqsim)
        } else {
            None
        }
    }
}

/// Requests in order of arrival, as columns of equal length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// What it was read from.
    pub format: Format,
    /// 0 read, 1 write, 2 flush, 3 trim.
    pub op: Vec<u8>,
    /// First sector on its device; 0 for flushes.
    pub lba: Vec<u64>,
    /// Sectors of 512 bytes; 0 for flushes.
    pub sector_count: Vec<u32>,
    /// After the first request.
    pub arrival_ns: Vec<Nanos>,
    /// Index into `device_names`.
    pub device: Vec<u32>,
    /// Devices (disks, volumes, files) in order of appearance.
    pub device_names: Vec<String>,
    /// Requests that the file has after a later one.
    pub reordered_count: u64,
}

/// Reads a trace file; without a format, guesses it from the first line.
///
/// # Errors
/// [`WorkloadError::Unreadable`] or [`WorkloadError::Trace`].
pub fn read_trace(path: &Path, format: Option<Format>) -> Result<Trace, WorkloadError> {
    let origin = path.display().to_string();
    let file = File::open(path)
        .map_err(|error| WorkloadError::Unreadable { path: origin.clone(), reason: error.to_string() })?;
    Trace::read(BufReader::with_capacity(1 << 16, file), &origin, format)
}

impl Trace {
    fn new(format: Format) -> Self {
        Self {
            format,
            op: Vec::new(),
            lba: Vec::new(),
            sector_count: Vec::new(),
            arrival_ns: Vec::new(),
            device: Vec::new(),
            device_names: Vec::new(),
            reordered_count: 0,
        }
    }

    /// Reads a trace from lines; `origin` is its name in messages.
    ///
    /// # Errors
    /// As [`read_trace`].
    pub fn read(reader: impl BufRead, origin: &str, format: Option<Format>) -> Result<Self, WorkloadError> {
        let mut lines = line::Lines::new(reader, origin);
        let mut trace: Option<(Self, Parser)> = None;
        while let Some(text) = lines.next_filled()? {
            let text = text.to_owned();
            let (trace, parser) = match &mut trace {
                Some(started) => started,
                None => {
                    let format = format.or_else(|| Format::guess(&text)).ok_or_else(|| {
                        lines.error(format!(
                            "{} fits no known format: mqsim (arrival device lba sectors type), msr \
                             (Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime) or iolog \
                             (fio version 2 iolog, fio version 3 iolog)",
                            line::quoted(&text)
                        ))
                    })?;
                    trace.insert((Self::new(format), Parser::new(format)))
                }
            };
            parser.line(&text, trace).map_err(|message| lines.error(message))?;
        }
        match trace {
            Some((trace, _)) if !trace.is_empty() => Ok(trace.in_order()),
            _ => Err(lines.error("the file has no requests; it needs at least one".to_owned())),
        }
    }

    /// Number of requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Whether there are no requests.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// The requests, to hand over to a run.
    #[must_use]
    pub fn requests(&self) -> Requests<'_> {
        Requests {
            op: &self.op,
            lba: &self.lba,
            sector_count: &self.sector_count,
            arrival_ns: Some(&self.arrival_ns),
            program: None,
        }
    }

    /// Only the requests of one device, rebased to its first. (A trace of several devices is otherwise taken as
    /// one device: their requests merged in order of time, their offsets as they are.)
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] listing the devices if there is none of that name.
    pub fn select(&self, device_name: &str) -> Result<Self, WorkloadError> {
        let Some(wanted) = self.device_names.iter().position(|name| name == device_name) else {
            let allowed = format!("must be a device of the trace: {}", self.device_names.join(", "));
            return Err(WorkloadError::invalid("device", device_name, allowed));
        };
        let rows = (0..self.len()).filter(|&row| self.device[row] as usize == wanted);
        let mut selected = self.rows(rows);
        selected.device.fill(0);
        selected.device_names = vec![device_name.to_owned()];
        Ok(selected.in_order())
    }

    fn rows(&self, rows: impl Iterator<Item = usize> + Clone) -> Self {
        Self {
            format: self.format,
            op: rows.clone().map(|row| self.op[row]).collect(),
            lba: rows.clone().map(|row| self.lba[row]).collect(),
            sector_count: rows.clone().map(|row| self.sector_count[row]).collect(),
            arrival_ns: rows.clone().map(|row| self.arrival_ns[row]).collect(),
            device: rows.map(|row| self.device[row]).collect(),
            device_names: self.device_names.clone(),
            reordered_count: self.reordered_count,
        }
    }

    /// Sorts by arrival if needed (requests of one time stay in the file's order), and rebases.
    fn in_order(mut self) -> Self {
        let late = self.arrival_ns.windows(2).filter(|pair| pair[0] > pair[1]).count() as u64;
        if late > 0 {
            let mut order: Vec<usize> = (0..self.len()).collect();
            order.sort_by_key(|&row| self.arrival_ns[row]);
            self = self.rows(order.iter().copied());
            self.reordered_count += late;
        }
        let first_ns = self.arrival_ns.first().copied().unwrap_or(0);
        self.arrival_ns.iter_mut().for_each(|arrival_ns| *arrival_ns -= first_ns);
        self
    }

    /// Appends a request of `byte_count` bytes. The message of an error lacks file and line.
    fn push_bytes(
        &mut self,
        op: Op,
        offset: u64,
        byte_count: u64,
        arrival_ns: Nanos,
        device: &str,
    ) -> Result<(), String> {
        for (name, value) in [("offset", offset), ("length", byte_count)] {
            if !value.is_multiple_of(SECTOR_BYTES) {
                return Err(format!("{name} = {value}: must be a multiple of 512 bytes"));
            }
        }
        self.push(op, offset / SECTOR_BYTES, byte_count / SECTOR_BYTES, arrival_ns, device)
    }

    fn push(
        &mut self,
        op: Op,
        lba: u64,
        sector_count: u64,
        arrival_ns: Nanos,
        device: &str,
    ) -> Result<(), String> {
        /// Sectors whose byte offsets fit into 64 bits.
        const SECTORS_MAX: u64 = u64::MAX / SECTOR_BYTES;
        let count = u32::try_from(sector_count).ok().filter(|&count| (count > 0) != (op == Op::Flush));
        let Some(count) = count else {
            let most = u32::MAX;
            return Err(format!("{sector_count} sectors of 512 bytes: a request has 1 to {most} of them"));
        };
        if lba.checked_add(sector_count).is_none_or(|end| end > SECTORS_MAX) {
            return Err(format!(
                "first sector = {lba}: must be at most {SECTORS_MAX}, less the request's size"
            ));
        }
        let device = self.device_index(device)?;
        self.op.push(op_code(op));
        self.lba.push(lba);
        self.sector_count.push(count);
        self.arrival_ns.push(arrival_ns);
        self.device.push(device);
        Ok(())
    }

    /// Number of a device name. Traces name few devices, and mostly the same as on the line before.
    fn device_index(&mut self, name: &str) -> Result<u32, String> {
        /// A file of more devices is read in the wrong format.
        const DEVICES_MAX: usize = 4096;
        if let Some(&last) = self.device.last()
            && self.device_names[last as usize] == name
        {
            return Ok(last);
        }
        if let Some(index) = self.device_names.iter().position(|known| known == name) {
            return Ok(index as u32);
        }
        if self.device_names.len() == DEVICES_MAX {
            return Err(format!(
                "device {}: a trace may name at most {DEVICES_MAX} of them",
                line::quoted(name)
            ));
        }
        self.device_names.push(name.to_owned());
        Ok(self.device_names.len() as u32 - 1)
    }
}

/// Takes lines of one format.
enum Parser {
    Mqsim,
    Msr,
    Iolog(iolog::Iolog),
}

impl Parser {
    fn new(format: Format) -> Self {
        match format {
            Format::Mqsim => Self::Mqsim,
            Format::Msr => Self::Msr,
            Format::Iolog => Self::Iolog(iolog::Iolog::default()),
        }
    }

    fn line(&mut self, text: &str, trace: &mut Trace) -> Result<(), String> {
        match self {
            Self::Mqsim => mqsim::line(text, trace),
            Self::Msr => msr::line(text, trace),
            Self::Iolog(iolog) => iolog.line(text, trace),
        }
    }
}
