//! Arbitrary bytes against the protocol, for fuzzers of any kind.

use serde_json::Value;

use crate::conversation::Conversation;
use crate::export::ExportInfo;
use crate::limits::Limits;
use crate::memory::MemoryExport;

/// Size of the disk that is fuzzed.
pub const DISK_BYTES: u64 = 1 << 20;

/// Plays `data` to a server as a client would, in pieces whose sizes its first byte decides, and checks after each
/// that the server holds no more memory than it may.
///
/// The second byte decides how many pieces come before replies are read. Returns the bytes of all replies, and the
/// server's statistics.
///
/// # Panics
/// If the server has a fault.
#[must_use]
pub fn fuzz_session(data: &[u8]) -> (Vec<u8>, Value) {
    let [cut, reads, client @ ..] = data else { return (Vec::new(), Value::Null) };
    let info = ExportInfo {
        fast_zero: cut & 1 != 0,
        read_only: *reads == 255,
        ..ExportInfo::new("disk", DISK_BYTES)
    };
    let payload_bytes_max = u64::from(info.maximum_payload_bytes);
    let limits = Limits { connection_bytes_max: 1 << 20, requests_max: 64, ..Limits::default() };
    let mut server = Conversation::new(MemoryExport::new(info), &limits);
    let mut replies = Vec::new();
    let piece_bytes = match cut {
        0..=63 => usize::from(*cut) + 1,
        64..=191 => usize::from(*cut) * 64,
        _ => usize::MAX,
    };
    let mut rest = client;
    for count in 0.. {
        let is_stuck = !server.wants_input();
        if !is_stuck && !rest.is_empty() {
            let (piece, later) = rest.split_at(piece_bytes.min(rest.len()));
            server.receive(0, piece);
            rest = later;
        } else if is_stuck && server.can_proceed() {
            server.proceed(0);
        }
        // A request's bytes may be there twice for a moment: as input and at the export.
        let most = 2 * payload_bytes_max + limits.connection_bytes_max * 4 + client.len() as u64 * 2;
        assert!(server.held_bytes() <= most, "{} bytes held", server.held_bytes());
        if is_stuck || rest.is_empty() || count % (usize::from(*reads) + 1) == 0 {
            server.settle(0);
            replies.extend_from_slice(server.replies());
            server.sent(server.replies().len());
        }
        assert!(
            server.pending() <= limits.requests_max as usize,
            "{} requests at the export",
            server.pending()
        );
        if rest.is_empty() && !server.can_proceed() || !server.wants_input() && !server.can_proceed() {
            break;
        }
    }
    server.hang_up();
    server.settle(0);
    replies.extend_from_slice(server.replies());
    server.sent(server.replies().len());
    assert!(server.is_over(), "requests were left without a reply");
    (replies, server.statistics())
}
