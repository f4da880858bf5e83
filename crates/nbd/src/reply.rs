//! Replies to commands, as bytes.

use crate::export::{Errno, Extent};
use crate::protocol::{ALLOCATION_ID, chunk, command, magic};

/// Longest head of a reply: that of a chunk of data.
const HEAD_BYTES_MAX: usize = 28;

/// The head of a reply; data may follow.
pub struct ReplyHead {
    bytes: [u8; HEAD_BYTES_MAX],
    length: usize,
}

impl ReplyHead {
    fn new(fields: &[&[u8]]) -> Self {
        let mut head = Self { bytes: [0; HEAD_BYTES_MAX], length: 0 };
        for field in fields {
            head.bytes[head.length..head.length + field.len()].copy_from_slice(field);
            head.length += field.len();
        }
        head
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The head of the reply to a read that succeeded, before `length` bytes of data.
#[must_use]
pub fn read_head(structured: bool, cookie: u64, offset: u64, length: usize) -> ReplyHead {
    if !structured {
        return simple(cookie, 0);
    }
    if length == 0 {
        return chunk(chunk::NONE, cookie, 0);
    }
    let head = chunk(chunk::OFFSET_DATA, cookie, 8 + length);
    ReplyHead::new(&[head.bytes(), &offset.to_be_bytes()])
}

/// The reply to a read that succeeded.
pub fn read(out: &mut Vec<u8>, structured: bool, cookie: u64, offset: u64, data: &[u8]) {
    out.extend_from_slice(read_head(structured, cookie, offset, data.len()).bytes());
    out.extend_from_slice(data);
}

/// The reply to a read that failed.
pub fn read_failure(out: &mut Vec<u8>, structured: bool, cookie: u64, errno: Errno) {
    if !structured {
        return status(out, cookie, Err(errno));
    }
    let no_message = 0u16;
    out.extend_from_slice(chunk(chunk::ERROR, cookie, 6).bytes());
    out.extend_from_slice(&errno.number().to_be_bytes());
    out.extend_from_slice(&no_message.to_be_bytes());
}

/// The reply to a command without data.
pub fn status(out: &mut Vec<u8>, cookie: u64, result: Result<(), Errno>) {
    let number = result.map_or_else(Errno::number, |()| 0);
    out.extend_from_slice(simple(cookie, number).bytes());
}

/// The reply to a command that is refused at once. Where chunks are agreed on, clients want them for reads and block
/// status; everything else may be answered simply.
pub(crate) fn failure(out: &mut Vec<u8>, kind: u16, cookie: u64, structured: bool, errno: Errno) {
    if matches!(kind, command::READ | command::BLOCK_STATUS) {
        read_failure(out, structured, cookie, errno);
    } else {
        status(out, cookie, Err(errno));
    }
}

/// The reply to a block status.
pub fn block_status(out: &mut Vec<u8>, cookie: u64, extents: &[Extent]) {
    out.extend_from_slice(chunk(chunk::BLOCK_STATUS, cookie, 4 + 8 * extents.len()).bytes());
    out.extend_from_slice(&ALLOCATION_ID.to_be_bytes());
    for extent in extents {
        let flags = u32::from(extent.hole) | u32::from(extent.zero) << 1;
        out.extend_from_slice(&extent.length.to_be_bytes());
        out.extend_from_slice(&flags.to_be_bytes());
    }
}

fn simple(cookie: u64, number: u32) -> ReplyHead {
    ReplyHead::new(&[&magic::SIMPLE_REPLY.to_be_bytes(), &number.to_be_bytes(), &cookie.to_be_bytes()])
}

/// Every reply is one chunk, its last.
fn chunk(kind: u16, cookie: u64, length: usize) -> ReplyHead {
    ReplyHead::new(&[
        &magic::CHUNK.to_be_bytes(),
        &chunk::DONE.to_be_bytes(),
        &kind.to_be_bytes(),
        &cookie.to_be_bytes(),
        &(length as u32).to_be_bytes(),
    ])
}
