//! The MSR Cambridge format: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`
//! (REFERENCES.md, \[12\]).

use drivelab_controller::Op;

use super::format::Format;
use super::line::{columns, number, quoted};
use super::table::{Row, Trace};

/// Timestamps count units of 100 ns since 1601 (64 bits of nanoseconds reach beyond the year 2180).
const TICK_NS: u64 = 100;

pub(super) fn line(text: &str, trace: &mut Trace) -> Result<(), String> {
    let [timestamp, host, disk, kind, offset, size, response] = columns(text.split(','), Format::Msr)?;
    let arrival_ns = number(timestamp, "Timestamp", TICK_NS)?;
    number(disk, "DiskNumber", 1)?;
    let op = if kind.eq_ignore_ascii_case("read") {
        Op::Read
    } else if kind.eq_ignore_ascii_case("write") {
        Op::Write
    } else {
        return Err(format!("Type = {}: must be Read or Write", quoted(kind)));
    };
    let offset = number(offset, "Offset", 1)?;
    let size = number(size, "Size", 1)?;
    let response_ns = number(response, "ResponseTime", 1)?.saturating_mul(TICK_NS);
    let device = format!("{host}.{disk}");
    trace.push(Row { response_ns, ..Row::of_bytes(op, offset, size, arrival_ns, &device)? }).map(drop)
}
