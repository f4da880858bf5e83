//! The SYSTOR '17 format, traces of virtual desktops: `Timestamp,Response,IOType,LUN,Offset,Size`, with a header
//! (REFERENCES.md, \[SYSTOR\]).
//!
//! Unix seconds with decimals; bytes. A request whose response the recorder missed has a blank `IOType` or
//! `Response`; the publishers ask to ignore it, so it is dropped and counted. One trace is many files, one for every
//! hour and LUN.

use drivelab_controller::Op;

use super::format::Format;
use super::line::{columns, number, quoted, time};
use super::options::TimeUnit;
use super::table::{Row, Trace};

pub(super) fn line(text: &str, trace: &mut Trace) -> Result<(), String> {
    let [timestamp, response, kind, lun, offset, size] = columns(text.split(','), Format::Systor17)?;
    let arrival_ns = time(timestamp, "Timestamp", TimeUnit::Second)?;
    let op = match kind {
        "R" | "r" => Some(Op::Read),
        "W" | "w" => Some(Op::Write),
        "" => None,
        _ => return Err(format!("IOType = {}: must be R, W or blank", quoted(kind))),
    };
    number(lun, "LUN", 1)?;
    let offset = number(offset, "Offset", 1)?;
    let size = number(size, "Size", 1)?;
    let response_ns =
        if response.is_empty() { None } else { Some(time(response, "Response", TimeUnit::Second)?) };
    match (op, response_ns) {
        (Some(op), Some(response_ns)) => {
            trace.push(Row { response_ns, ..Row::of_bytes(op, offset, size, arrival_ns, lun)? }).map(drop)
        }
        _ => {
            trace.leave_out(lun);
            Ok(())
        }
    }
}
