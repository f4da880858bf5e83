//! A sparse disk in memory: the export without a drive behind it, for tests and for measuring the protocol alone.

use std::collections::BTreeMap;

use crate::control::{self, Control};
use crate::export::{Export, ExportInfo, Extent, Reply, Request, RequestKind};

/// Memory is taken and given back in pieces of this size.
const CHUNK_BYTES: usize = 64 << 10;

static ZEROS: [u8; CHUNK_BYTES] = [0; CHUNK_BYTES];

/// A sparse disk in memory. It answers everything at the next [`Export::advance`], in the order of submission.
pub struct MemoryExport {
    info: ExportInfo,
    chunks: BTreeMap<u64, Box<[u8]>>,
    submitted: Vec<Request>,
    joined: Vec<u8>,
}

impl MemoryExport {
    /// A disk of zeros.
    #[must_use]
    pub fn new(info: ExportInfo) -> Self {
        Self { info, chunks: BTreeMap::new(), submitted: Vec::new(), joined: Vec::new() }
    }

    /// Bytes of memory that hold data.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        (self.chunks.len() * CHUNK_BYTES) as u64
    }

    fn write(&mut self, offset: u64, data: &[u8]) {
        let mut rest = data;
        for piece in pieces(offset, data.len() as u64) {
            let (now, later) = rest.split_at(piece.length);
            let chunk =
                self.chunks.entry(piece.chunk).or_insert_with(|| vec![0; CHUNK_BYTES].into_boxed_slice());
            chunk[piece.start..piece.start + piece.length].copy_from_slice(now);
            rest = later;
        }
    }

    /// Whole chunks are given back; parts are overwritten.
    fn clear(&mut self, offset: u64, length: u64) {
        let chunk_bytes = CHUNK_BYTES as u64;
        let (first, end) = (offset.div_ceil(chunk_bytes), (offset + length) / chunk_bytes);
        while let Some((&chunk, _)) = self.chunks.range(first..end.max(first)).next() {
            self.chunks.remove(&chunk);
        }
        let edges = [offset / chunk_bytes, (offset + length) / chunk_bytes];
        for chunk in edges {
            if let Some(bytes) = self.chunks.get_mut(&chunk) {
                let start = offset.max(chunk * chunk_bytes) - chunk * chunk_bytes;
                let stop =
                    (offset + length).min((chunk + 1) * chunk_bytes).saturating_sub(chunk * chunk_bytes);
                if start < stop {
                    bytes[start as usize..stop as usize].fill(0);
                }
            }
        }
    }
}

/// Bytes of a range; borrowed from where they are unless the range touches several chunks.
fn bytes<'a>(
    chunks: &'a BTreeMap<u64, Box<[u8]>>,
    joined: &'a mut Vec<u8>,
    offset: u64,
    length: u32,
) -> &'a [u8] {
    let stored = |piece: &Piece| -> &'a [u8] {
        let chunk = chunks.get(&piece.chunk).map_or(&ZEROS[..], |chunk| chunk);
        &chunk[piece.start..piece.start + piece.length]
    };
    let mut cut = pieces(offset, u64::from(length));
    match (cut.next(), cut.next()) {
        (None, _) => &[],
        (Some(only), None) => stored(&only),
        (Some(first), Some(second)) => {
            joined.clear();
            for piece in [first, second].into_iter().chain(cut) {
                joined.extend_from_slice(stored(&piece));
            }
            joined
        }
    }
}

/// A part of a range within one chunk.
struct Piece {
    chunk: u64,
    start: usize,
    length: usize,
}

fn pieces(offset: u64, length: u64) -> impl Iterator<Item = Piece> {
    let chunk_bytes = CHUNK_BYTES as u64;
    let mut at = offset;
    std::iter::from_fn(move || {
        let left = offset + length - at;
        let start = at % chunk_bytes;
        let piece = Piece {
            chunk: at / chunk_bytes,
            start: start as usize,
            length: left.min(chunk_bytes - start) as usize,
        };
        at += piece.length as u64;
        (left > 0).then_some(piece)
    })
}

impl Export for MemoryExport {
    fn info(&self) -> &ExportInfo {
        &self.info
    }

    fn submit(&mut self, _now_ns: u64, request: Request, data: &[u8]) {
        match request.kind {
            RequestKind::Write => self.write(request.offset, data),
            RequestKind::WriteZeroes if request.no_hole => {
                for piece in pieces(request.offset, u64::from(request.length)) {
                    self.write(piece.chunk * CHUNK_BYTES as u64 + piece.start as u64, &ZEROS[..piece.length]);
                }
            }
            RequestKind::Trim | RequestKind::WriteZeroes => {
                self.clear(request.offset, u64::from(request.length));
            }
            RequestKind::Read | RequestKind::Flush | RequestKind::Cache => {}
        }
        self.submitted.push(request);
    }

    fn next_event(&mut self) -> Option<u64> {
        (!self.submitted.is_empty()).then_some(0)
    }

    fn advance(&mut self, _until_ns: u64, reply: &mut Reply<'_>) {
        for request in self.submitted.drain(..) {
            let data = match request.kind {
                RequestKind::Read => bytes(&self.chunks, &mut self.joined, request.offset, request.length),
                _ => &[],
            };
            reply(request.ticket, Ok(data));
        }
    }

    fn block_status(&mut self, offset: u64, length: u32, most: usize, extents: &mut Vec<Extent>) {
        extents.clear();
        let (chunk_bytes, end) = (CHUNK_BYTES as u64, offset + u64::from(length));
        let mut at = offset;
        while at < end {
            let stored = self.chunks.range(at / chunk_bytes..).next().map(|(&chunk, _)| chunk);
            let hole = stored != Some(at / chunk_bytes);
            let until = if hole {
                stored.map_or(end, |chunk| chunk * chunk_bytes)
            } else {
                (at / chunk_bytes + 1) * chunk_bytes
            };
            let extent = Extent { length: (until.min(end) - at) as u32, hole, zero: hole };
            let full = extents.len() == most;
            match extents.last_mut() {
                Some(last) if last.hole == hole => last.length += extent.length,
                _ if full => return,
                _ => extents.push(extent),
            }
            at += u64::from(extent.length);
        }
    }
}

impl Control for MemoryExport {
    fn handle(&mut self, request: serde_json::Value) -> serde_json::Value {
        control::unknown(&request)
    }
}

#[cfg(test)]
#[path = "memory_test.rs"]
mod tests;
