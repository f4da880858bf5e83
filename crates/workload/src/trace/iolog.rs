//! fio's iolog, versions 2 and 3.
//!
//! - Version 2: `file add|open|close`, `file read|write|trim|sync|datasync offset length`, `file wait time`. fio's
//!   manual calls `wait` microseconds and relative; fio 3.33 waits until that many *milliseconds* after the start,
//!   and so does this reader.
//! - Version 3: `timestamp file action [offset length]` with timestamps in microseconds since the start.

use drivelab_controller::Op;
use drivelab_sim::Nanos;
use drivelab_sim::time::{MICROSECOND, MILLISECOND};

use super::line::{number, quoted};
use super::table::{Row, Trace};

/// What the lines so far have said.
#[derive(Default)]
pub(super) struct Iolog {
    version: Version,
    /// Version 2: when requests arrive, by the last `wait`.
    now_ns: Nanos,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Version {
    #[default]
    Unknown,
    Two,
    Three,
}

impl Iolog {
    pub(super) fn line(&mut self, text: &str, trace: &mut Trace) -> Result<(), String> {
        let parts: Vec<&str> = text.split_whitespace().collect();
        match self.version {
            Version::Unknown => {
                self.version = match parts.as_slice() {
                    ["fio", "version", "2", "iolog"] => Version::Two,
                    ["fio", "version", "3", "iolog"] => Version::Three,
                    _ => {
                        let allowed = "must be 'fio version 2 iolog' or 'fio version 3 iolog'";
                        return Err(format!("first line = {}: {allowed}", quoted(text)));
                    }
                };
                Ok(())
            }
            Version::Two => match parts.as_slice() {
                [file, action, rest @ ..] => self.action(file, action, rest, trace),
                _ => Err(format!("{}: must be 'file action [offset length]'", quoted(text))),
            },
            Version::Three => match parts.as_slice() {
                [timestamp, file, action, rest @ ..] => {
                    self.now_ns = number(timestamp, "timestamp", MICROSECOND)?;
                    self.action(file, action, rest, trace)
                }
                _ => Err(format!("{}: must be 'timestamp file action [offset length]'", quoted(text))),
            },
        }
    }

    fn action(&mut self, file: &str, action: &str, rest: &[&str], trace: &mut Trace) -> Result<(), String> {
        let transfer = |op| {
            let &[offset, length] = rest else {
                return Err(format!("{} columns after {action}: must be 2, offset and length", rest.len()));
            };
            Ok((op, number(offset, "offset", 1)?, number(length, "length", 1)?))
        };
        let (op, offset, length) = match action {
            "add" | "open" | "close" => {
                return if rest.is_empty() {
                    Ok(())
                } else {
                    Err(format!("{} columns after {action}: must be none", rest.len()))
                };
            }
            "wait" if self.version == Version::Two => {
                let Some(time) = rest.first() else {
                    return Err("no column after wait: must be the time in milliseconds".to_owned());
                };
                // fio does not wait for a time that has passed.
                self.now_ns = self.now_ns.max(number(time, "wait", MILLISECOND)?);
                return Ok(());
            }
            "read" => transfer(Op::Read)?,
            "write" => transfer(Op::Write)?,
            "trim" => transfer(Op::Trim)?,
            // fio writes an offset and a length, which mean nothing, or leaves them out.
            "sync" | "datasync" if rest.is_empty() || rest.len() == 2 => (Op::Flush, 0, 0),
            "sync" | "datasync" => {
                return Err(format!(
                    "{} columns after {action}: must be none, or offset and length",
                    rest.len()
                ));
            }
            _ => {
                let wait = if self.version == Version::Two { ", wait" } else { "" };
                let allowed = format!("must be add, open, close, read, write, trim, sync, datasync{wait}");
                return Err(format!("action = {}: {allowed}", quoted(action)));
            }
        };
        trace.push(Row::of_bytes(op, offset, length, self.now_ns, file)?).map(drop)
    }
}
