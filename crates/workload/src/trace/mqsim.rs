//! `MQSim`'s (and `DiskSim`'s) ASCII format: `arrival device lba sectors type` (REFERENCES.md, \[11\]).
//!
//! The unit of `arrival` is not in the file: `MQSim` is configured with it (ns by default), `DiskSim` writes
//! milliseconds with decimals.

use drivelab_controller::Op;

use super::format::Format;
use super::line::{columns, number, quoted, time};
use super::options::TimeUnit;
use super::table::{Row, Trace};

pub(super) struct Mqsim {
    unit: TimeUnit,
}

impl Mqsim {
    pub(super) fn new(unit: TimeUnit) -> Self {
        Self { unit }
    }

    pub(super) fn line(&self, text: &str, trace: &mut Trace) -> Result<(), String> {
        let [arrival, device, lba, sectors, kind] = columns(text.split_whitespace(), Format::Mqsim)?;
        let arrival_ns = match self.unit {
            TimeUnit::Nanosecond if arrival.contains('.') => {
                let found = quoted(arrival);
                return Err(format!(
                    "arrival = {found}: must be a whole number of ns, unless a unit is given"
                ));
            }
            unit => time(arrival, "arrival", unit)?,
        };
        number(device, "device", 1)?;
        let lba = number(lba, "lba", 1)?;
        let sector_count = number(sectors, "sectors", 1)?;
        // The other way round than one would think.
        let op = match kind {
            "0" => Op::Write,
            "1" => Op::Read,
            _ => return Err(format!("type = {}: must be 0 (write) or 1 (read)", quoted(kind))),
        };
        trace.push(Row::new(op, lba, sector_count, arrival_ns, device)).map(drop)
    }
}
