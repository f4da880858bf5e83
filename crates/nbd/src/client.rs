//! What the server keeps of one client, apart from its socket.

use crate::export::{Errno, RequestKind};
use crate::limits::Share;
use crate::pending::Entry;
use crate::reply;
use crate::session::Session;

/// What a request costs beside its bytes: the server's and the export's books of it.
const REQUEST_BYTES: u64 = 512;

/// Least room for a read into the client's own buffer.
const ROOM_BYTES_MIN: usize = 4 << 10;

/// Room that is made at once for what a client has announced.
const ROOM_BYTES_MAX: usize = 2 << 20;

/// Replies that wait may occupy so much without being looked at.
const OUT_BYTES_KEPT: usize = 16 << 10;

/// One client's session, unread input and unsent replies.
pub struct Client {
    /// The protocol.
    pub session: Session,
    /// Replies; those before `sent` are gone.
    pub out: Vec<u8>,
    /// Bytes of `out` that were sent.
    pub sent: usize,
    /// Input that could not be handled yet; the part before `taken` was.
    pub input: Vec<u8>,
    /// Bytes of `input` that were handled.
    pub taken: usize,
    /// Bytes of input without which nothing can be done.
    pub need: usize,
    /// Bytes of input that it will be able to collect, whatever others do.
    pub reserved: usize,
    /// Its requests that the export has.
    pub requests: u32,
    /// Bytes of those.
    pub request_bytes: u64,
    /// Its share of the budget.
    pub share: Share,
    /// Nothing more is read from it.
    pub is_closing: bool,
}

impl Client {
    /// A client that has just come; the greeting waits in `out`.
    #[must_use]
    pub fn new(mut out: Vec<u8>) -> Self {
        let session = Session::new(&mut out);
        Self {
            session,
            out,
            sent: 0,
            input: Vec::new(),
            taken: 0,
            need: 1,
            reserved: 0,
            requests: 0,
            request_bytes: 0,
            share: Share::default(),
            is_closing: false,
        }
    }

    /// Replies that wait to be sent.
    #[must_use]
    pub fn unsent(&self) -> &[u8] {
        &self.out[self.sent..]
    }

    /// Bytes held for its requests and replies.
    #[must_use]
    pub fn busy_bytes(&self) -> u64 {
        self.request_bytes + self.unsent().len() as u64
    }

    /// Bytes held for it in all.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        let input = self.input.len() - self.taken;
        self.busy_bytes() + if input > 0 { input.max(self.reserved) as u64 + REQUEST_BYTES } else { 0 }
    }

    /// Input that it will hold at most after one more read into its own buffer.
    #[must_use]
    pub fn room_bytes(&self) -> usize {
        let left = self.input.len() - self.taken;
        self.need.min(ROOM_BYTES_MAX.max(2 * left)).max(left + ROOM_BYTES_MIN)
    }

    /// Room for input that is needed, after what is there. Much of it is not made before some of it has come.
    pub fn collect(&mut self, buffer: impl FnOnce(usize, usize) -> Vec<u8>) -> &mut Vec<u8> {
        let left = self.input.len() - self.taken;
        let wanted = self.room_bytes();
        if self.input.capacity() < wanted {
            let mut larger = buffer(left, wanted);
            larger.extend_from_slice(&self.input[self.taken..]);
            self.input = larger;
        } else {
            self.input.drain(..self.taken);
        }
        self.taken = 0;
        &mut self.input
    }

    /// Gives memory back of replies that were sent: what is counted is what is unsent.
    pub fn shrink_out(&mut self) {
        if self.out.capacity() > OUT_BYTES_KEPT && self.unsent().len() < self.out.capacity() / 4 {
            self.out = self.unsent().to_vec();
            self.sent = 0;
        }
    }

    /// Nothing of it is under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.requests == 0 && self.unsent().is_empty()
    }

    /// What a request will hold.
    #[must_use]
    pub fn cost(kind: RequestKind, length: u32) -> u64 {
        match kind {
            RequestKind::Read | RequestKind::Write => REQUEST_BYTES + u64::from(length),
            _ => REQUEST_BYTES,
        }
    }

    /// Counts a request that goes to the export.
    pub fn submitted(&mut self, kind: RequestKind, length: u32) {
        self.requests += 1;
        self.request_bytes += Self::cost(kind, length);
    }

    /// Counts a request that comes back, and appends all of its reply but the data, which it returns.
    pub fn answered<'a>(&mut self, entry: &Entry, result: Result<&'a [u8], Errno>) -> &'a [u8] {
        self.requests -= 1;
        self.request_bytes -= Self::cost(entry.kind, entry.length);
        let structured = self.session.is_structured();
        match (entry.kind, result) {
            (RequestKind::Read, Ok(data)) if data.len() == entry.length as usize => {
                let head = reply::read_head(structured, entry.cookie, entry.offset, data.len());
                self.out.extend_from_slice(head.bytes());
                return data;
            }
            (RequestKind::Read, result) => {
                let errno = result.err().unwrap_or(Errno::Io);
                reply::read_failure(&mut self.out, structured, entry.cookie, errno);
            }
            (_, result) => reply::status(&mut self.out, entry.cookie, result.map(|_| ())),
        }
        &[]
    }

    /// Takes note of bytes that were sent.
    pub fn sent(&mut self, bytes: usize) {
        self.sent += bytes;
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
        }
    }
}
