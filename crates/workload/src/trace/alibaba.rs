//! Alibaba's traces of cloud block storage, 2020: `device_id,opcode,offset,length,timestamp` (REFERENCES.md,
//! \[ALIBABA\]).
//!
//! Bytes; Unix time in microseconds; no header. A file holds many devices.

use drivelab_controller::Op;
use drivelab_sim::time::MICROSECOND;

use super::format::Format;
use super::line::{columns, number, quoted};
use super::table::{Row, Trace};

pub(super) fn line(text: &str, trace: &mut Trace) -> Result<(), String> {
    let [device, opcode, offset, length, timestamp] = columns(text.split(','), Format::Alibaba)?;
    number(device, "device_id", 1)?;
    let op = match opcode {
        "R" | "r" => Op::Read,
        "W" | "w" => Op::Write,
        _ => return Err(format!("opcode = {}: must be R or W", quoted(opcode))),
    };
    let offset = number(offset, "offset", 1)?;
    let length = number(length, "length", 1)?;
    let arrival_ns = number(timestamp, "timestamp", MICROSECOND)?;
    trace.push(Row::of_bytes(op, offset, length, arrival_ns, device)?).map(drop)
}
