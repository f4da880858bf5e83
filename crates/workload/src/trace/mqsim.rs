//! `MQSim`'s (and `DiskSim`'s) ASCII format: `arrival device lba sectors type` (REFERENCES.md, \[11\]).

use drivelab_controller::Op;

use super::Trace;
use super::line::{columns, number, quoted};

pub(super) fn line(text: &str, trace: &mut Trace) -> Result<(), String> {
    let layout = "arrival device lba sectors type, separated by spaces";
    let [arrival, device, lba, sectors, kind] = columns(text.split_whitespace(), layout)?;
    let arrival_ns = number(arrival, "arrival", 1)?;
    number(device, "device", 1)?;
    let lba = number(lba, "lba", 1)?;
    let sectors = number(sectors, "sectors", 1)?;
    // The other way round than one would think.
    let op = match kind {
        "0" => Op::Write,
        "1" => Op::Read,
        _ => return Err(format!("type = {}: must be 0 (write) or 1 (read)", quoted(kind))),
    };
    trace.push(op, lba, sectors, arrival_ns, device)
}
