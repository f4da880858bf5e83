//! The format of Florida International University: `ts pid process lba size R/W major minor md5` (REFERENCES.md,
//! \[FIU\]).
//!
//! Nanoseconds; 512-byte sectors; `md5` is the digest of the content, which is checked but not used: what a replay
//! writes is for its data pattern to say. The name of a process may contain spaces.

use drivelab_controller::Op;

use super::format::Format;
use super::line::{number, quoted};
use super::table::{Row, Trace};

pub(super) fn line(text: &str, trace: &mut Trace) -> Result<(), String> {
    let parts: Vec<&str> = text.split_whitespace().collect();
    let [timestamp, pid, _, .., lba, size, kind, major, minor, digest] = parts.as_slice() else {
        let count = parts.len();
        return Err(format!("{count} columns: must be 9, {}, separated by spaces", Format::Fiu.layout()));
    };
    let arrival_ns = number(timestamp, "ts", 1)?;
    number(pid, "pid", 1)?;
    let lba = number(lba, "lba", 1)?;
    let sector_count = number(size, "size", 1)?;
    let op = match *kind {
        "R" => Op::Read,
        "W" => Op::Write,
        _ => return Err(format!("R/W = {}: must be R or W", quoted(kind))),
    };
    number(major, "major", 1)?;
    number(minor, "minor", 1)?;
    if !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("md5 = {}: must be hexadecimal digits", quoted(digest)));
    }
    trace.push(Row::new(op, lba, sector_count, arrival_ns, &format!("{major}:{minor}"))).map(drop)
}
