//! Tencent's traces of cloud block storage, 2018: `Timestamp,Offset,Size,IOType,VolumeID` (REFERENCES.md,
//! \[TENCENT\]).
//!
//! Unix seconds, whole ones: requests of one second arrive at once. 512-byte sectors. 0 = read, 1 = write, the other
//! way round than in `MQSim`'s format. A file holds thousands of volumes.

use drivelab_controller::Op;

use super::format::Format;
use super::line::{columns, number, quoted, time};
use super::options::TimeUnit;
use super::table::{Row, Trace};

pub(super) fn line(text: &str, trace: &mut Trace) -> Result<(), String> {
    let [timestamp, offset, size, kind, volume] = columns(text.split(','), Format::Tencent)?;
    let arrival_ns = time(timestamp, "Timestamp", TimeUnit::Second)?;
    let lba = number(offset, "Offset", 1)?;
    let sector_count = number(size, "Size", 1)?;
    let op = match kind {
        "0" => Op::Read,
        "1" => Op::Write,
        _ => return Err(format!("IOType = {}: must be 0 (read) or 1 (write)", quoted(kind))),
    };
    number(volume, "VolumeID", 1)?;
    trace.push(Row::new(op, lba, sector_count, arrival_ns, volume)).map(drop)
}
