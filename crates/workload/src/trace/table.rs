//! A trace: requests of any format in columns.

use std::collections::BTreeMap;

use drivelab_controller::{Op, SECTOR_BYTES};
use drivelab_sim::Nanos;

use super::format::Format;
use super::line;
use crate::error::WorkloadError;
use crate::requests::{Requests, op_code};

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
    /// How long the recorded drive took; [`UNKNOWN_NS`] where the file doesn't say it.
    pub response_ns: Vec<Nanos>,
    /// Index into `device_names`.
    pub device: Vec<u32>,
    /// Devices (disks, volumes, files) of the file in order of appearance, also those not asked for.
    pub device_names: Vec<String>,
    /// Requests that the file has after a later one.
    pub reordered_count: u64,
    /// Requests that were left out because the recorder missed part of them or they transfer nothing.
    pub dropped_count: u64,
    /// Of `device_names`.
    device_indices: BTreeMap<String, u32>,
    /// The only device whose requests are kept.
    pub(super) wanted: Option<String>,
}

/// Of a response time that a trace doesn't tell.
pub const UNKNOWN_NS: Nanos = Nanos::MAX;

/// One request of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'t> {
    pub op: Op,
    pub lba: u64,
    pub sector_count: u64,
    pub arrival_ns: Nanos,
    pub device: &'t str,
    pub response_ns: Nanos,
}

impl<'t> Row<'t> {
    pub(super) fn new(op: Op, lba: u64, sector_count: u64, arrival_ns: Nanos, device: &'t str) -> Self {
        Self { op, lba, sector_count, arrival_ns, device, response_ns: UNKNOWN_NS }
    }

    /// A request of `byte_count` bytes. The message of an error lacks file and line.
    pub(super) fn of_bytes(
        op: Op,
        offset: u64,
        byte_count: u64,
        arrival_ns: Nanos,
        device: &'t str,
    ) -> Result<Self, String> {
        for (name, value) in [("offset", offset), ("length", byte_count)] {
            if !value.is_multiple_of(SECTOR_BYTES) {
                return Err(format!("{name} = {value}: must be a multiple of 512 bytes"));
            }
        }
        Ok(Self::new(op, offset / SECTOR_BYTES, byte_count / SECTOR_BYTES, arrival_ns, device))
    }
}

impl Trace {
    pub(super) fn new(format: Format, wanted: Option<&str>) -> Self {
        Self {
            format,
            op: Vec::new(),
            lba: Vec::new(),
            sector_count: Vec::new(),
            arrival_ns: Vec::new(),
            response_ns: Vec::new(),
            device: Vec::new(),
            device_names: Vec::new(),
            reordered_count: 0,
            dropped_count: 0,
            device_indices: BTreeMap::new(),
            wanted: wanted.map(str::to_owned),
        }
    }

    /// The error of a trace without the device that was asked for.
    pub(super) fn lacks_wanted(&self) -> WorkloadError {
        const SHOWN: usize = 20;
        let names = self.device_names[..self.device_names.len().min(SHOWN)].join(", ");
        let more = match self.device_names.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let wanted = self.wanted.clone().unwrap_or_default();
        WorkloadError::invalid("device", wanted, format!("must be a device of the trace: {names}{more}"))
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

    pub(super) fn rows(&self, rows: impl Iterator<Item = usize> + Clone) -> Self {
        Self {
            format: self.format,
            op: rows.clone().map(|row| self.op[row]).collect(),
            lba: rows.clone().map(|row| self.lba[row]).collect(),
            sector_count: rows.clone().map(|row| self.sector_count[row]).collect(),
            arrival_ns: rows.clone().map(|row| self.arrival_ns[row]).collect(),
            response_ns: rows.clone().map(|row| self.response_ns[row]).collect(),
            device: rows.map(|row| self.device[row]).collect(),
            device_names: self.device_names.clone(),
            reordered_count: self.reordered_count,
            dropped_count: self.dropped_count,
            device_indices: self.device_indices.clone(),
            wanted: self.wanted.clone(),
        }
    }

    /// Sorts by arrival if needed (requests of one time stay in the file's order), and rebases.
    pub(super) fn in_order(mut self) -> Self {
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

    /// Appends a request and returns its index, unless it is one of a device that nobody asked for. The message of
    /// an error lacks file and line.
    pub(super) fn push(&mut self, row: Row<'_>) -> Result<Option<usize>, String> {
        /// Sectors whose byte offsets fit into 64 bits.
        const SECTORS_MAX: u64 = u64::MAX / SECTOR_BYTES;
        let Row { op, lba, sector_count, arrival_ns, device, response_ns } = row;
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
        let index = self.device_index(device)?;
        if self.wanted.as_ref().is_some_and(|wanted| wanted != device) {
            return Ok(None);
        }
        self.op.push(op_code(op));
        self.lba.push(lba);
        self.sector_count.push(count);
        self.arrival_ns.push(arrival_ns);
        self.response_ns.push(response_ns);
        self.device.push(index);
        Ok(Some(self.len() - 1))
    }

    /// Counts a request that is left out, unless it is one of a device that nobody asked for.
    pub(super) fn leave_out(&mut self, device: &str) {
        if self.wanted.as_ref().is_none_or(|wanted| wanted == device) {
            self.dropped_count += 1;
        }
    }

    /// Number of a device name. Traces name few devices, and mostly the same as on the line before.
    fn device_index(&mut self, name: &str) -> Result<u32, String> {
        /// A file of more devices is read in the wrong format. (The largest public ones have thousands.)
        const DEVICES_MAX: usize = 1 << 16;
        if let Some(&last) = self.device.last()
            && self.device_names[last as usize] == name
        {
            return Ok(last);
        }
        if let Some(&index) = self.device_indices.get(name) {
            return Ok(index);
        }
        if self.device_names.len() == DEVICES_MAX {
            let found = line::quoted(name);
            return Err(format!("device {found}: a trace may name at most {DEVICES_MAX} of them"));
        }
        let index = self.device_names.len() as u32;
        self.device_names.push(name.to_owned());
        self.device_indices.insert(name.to_owned(), index);
        Ok(index)
    }
}
