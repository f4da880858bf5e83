//! One NBD client's socket.

use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::io::Errno as SystemErrno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags};

use crate::client::Client;
use crate::pending::ClientId;
use crate::poller::{Interest, Poller, Token};
use crate::service::Wait;

/// Input that is moved to the front of the next read; more is read in place.
const MOVED_BYTES_MAX: usize = 4 << 10;

/// Data of this size is offered to the socket where it lies, before any of it is copied.
const DIRECT_BYTES_MIN: usize = 16 << 10;

/// A client that moves this many bytes has not stalled.
const PROGRESS_BYTES: u64 = 64 << 10;

/// Buffers that wait to be used again, so that none is allocated per request.
#[derive(Default)]
pub(crate) struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    const COUNT_MAX: usize = 32;
    const BYTES_MIN: usize = MOVED_BYTES_MAX;
    const BYTES_MAX: usize = 2 << 20;

    /// Any buffer: for replies.
    fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    /// A buffer for input that has to wait: not much larger than what is there, which is all that is counted.
    fn take_for(&mut self, there: usize, wanted: usize) -> Vec<u8> {
        match self.0.pop_if(|buffer| (wanted..=4 * there).contains(&buffer.capacity())) {
            Some(buffer) => buffer,
            None => Vec::with_capacity(wanted),
        }
    }

    /// Takes a buffer back; small ones stay where they are.
    fn put(&mut self, buffer: &mut Vec<u8>) {
        if buffer.capacity() > Self::BYTES_MIN {
            let mut buffer = std::mem::take(buffer);
            if buffer.capacity() <= Self::BYTES_MAX && self.0.len() < Self::COUNT_MAX {
                buffer.clear();
                self.0.push(buffer);
            }
        }
    }
}

/// What a read brought.
pub(crate) enum Received {
    /// This many bytes, in the connection's own buffer.
    Own(usize),
    /// This many bytes, at the end of the buffer for everybody.
    Shared(usize),
    /// None yet.
    Nothing,
    /// The client has closed its side, or the connection is broken.
    End,
}

/// One NBD client's socket, and what the server keeps of the client.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) id: ClientId,
    /// What has to happen before more of its input is handled.
    pub(crate) wait: Wait,
    /// It is in the list of connections with something to send or to resume.
    pub(crate) is_listed: bool,
    /// It is in the line of those that wait for others.
    pub(crate) is_in_line: bool,
    /// `None` when the client has gone, but the export still has requests of it.
    socket: Option<OwnedFd>,
    interest: Interest,
    /// The socket took less than it was given.
    is_blocked: bool,
    moved_bytes: u64,
    progress_bytes: u64,
    progress_at: Duration,
}

impl Connection {
    pub(crate) fn new(socket: OwnedFd, id: ClientId, now: Duration) -> Self {
        Self {
            client: Client::new(Vec::new()),
            id,
            wait: Wait::Input(1),
            is_listed: false,
            is_in_line: false,
            socket: Some(socket),
            interest: Interest::READ,
            is_blocked: false,
            moved_bytes: 0,
            progress_bytes: 0,
            progress_at: now,
        }
    }

    /// Begins to watch the socket.
    pub(crate) fn open(&self, poller: &Poller) -> std::io::Result<()> {
        self.socket
            .as_ref()
            .map_or(Ok(()), |socket| poller.add(socket, Token::Client(self.id), self.interest))
    }

    /// Closes the socket and forgets what can't be sent any more. What the export has still counts.
    pub(crate) fn abandon(&mut self) {
        self.socket = None;
        self.wait = Wait::Close;
        let client = &mut self.client;
        client.is_closing = true;
        client.input = Vec::new();
        client.taken = 0;
        client.out = Vec::new();
        client.sent = 0;
    }

    /// The client has gone.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.socket.is_none()
    }

    /// Reads once, as much as is there.
    pub(crate) fn receive(&mut self, shared: &mut Vec<u8>, buffers: &mut Buffers) -> Received {
        let Some(socket) = &self.socket else { return Received::Nothing };
        let client = &mut self.client;
        let left = client.input.len() - client.taken;
        let is_own = left > MOVED_BYTES_MAX || client.need > shared.capacity();
        let received = if is_own {
            let into = client.collect(|there, wanted| buffers.take_for(there, wanted));
            rustix::net::recv(socket, spare_capacity(into), RecvFlags::empty())
        } else {
            shared.clear();
            shared.extend_from_slice(&client.input[client.taken..]);
            client.input.clear();
            client.taken = 0;
            rustix::net::recv(socket, spare_capacity(shared), RecvFlags::empty())
        };
        // What the client sent before stays its own if nothing came after it.
        if !is_own && !matches!(received, Ok((1.., _))) {
            client.input.extend_from_slice(shared);
        }
        match received {
            Ok((0, _)) => Received::End,
            Ok((bytes, _)) => {
                self.moved_bytes += bytes as u64;
                if is_own { Received::Own(bytes) } else { Received::Shared(bytes) }
            }
            Err(SystemErrno::AGAIN | SystemErrno::INTR) => Received::Nothing,
            Err(_) => Received::End,
        }
    }

    /// Makes room for replies.
    pub(crate) fn open_out(&mut self, buffers: &mut Buffers) {
        if self.client.out.capacity() == 0 {
            self.client.out = buffers.take();
        }
    }

    /// Makes room for input that has to wait.
    pub(crate) fn keep_input(&mut self, input: &[u8], buffers: &mut Buffers) {
        if self.client.input.capacity() < input.len() && input.len() > Buffers::BYTES_MIN {
            self.client.input = buffers.take_for(input.len(), input.len());
        }
        self.client.input.extend_from_slice(input);
    }

    /// Gives back buffers that hold nothing.
    pub(crate) fn close_buffers(&mut self, buffers: &mut Buffers) {
        let client = &mut self.client;
        if client.taken == client.input.len() {
            client.input.clear();
            client.taken = 0;
            buffers.put(&mut client.input);
        }
        if client.out.is_empty() {
            buffers.put(&mut client.out);
        } else if self.is_blocked {
            client.shrink_out();
        }
    }

    /// Appends data to the reply whose head is in `out`; large data goes to the socket without a copy, as far as it
    /// takes it. Returns bytes that were sent.
    pub(crate) fn append(&mut self, data: &[u8]) -> usize {
        let socket = match &self.socket {
            Some(socket) if data.len() >= DIRECT_BYTES_MIN && !self.is_blocked => socket,
            _ => {
                self.client.out.extend_from_slice(data);
                return 0;
            }
        };
        let head = self.client.unsent();
        let parts = [IoSlice::new(head), IoSlice::new(data)];
        let whole = head.len() + data.len();
        let flags = SendFlags::NOSIGNAL;
        // A broken connection shows itself again when the rest is sent.
        let sent = rustix::net::sendmsg(socket, &parts, &mut SendAncillaryBuffer::default(), flags)
            .unwrap_or_default();
        self.moved_bytes += sent as u64;
        self.is_blocked = sent < whole;
        let from_head = sent.min(whole - data.len());
        self.client.sent(from_head);
        self.client.out.extend_from_slice(&data[sent - from_head..]);
        sent
    }

    /// Sends what the socket takes, and returns how much that was; `Err`: the client has gone.
    pub(crate) fn send(&mut self) -> Result<usize, ()> {
        let unsent = self.client.unsent();
        let Some(socket) = self.socket.as_ref().filter(|_| !unsent.is_empty() && !self.is_blocked) else {
            return Ok(0);
        };
        match rustix::net::send(socket, unsent, SendFlags::NOSIGNAL) {
            Ok(bytes) => {
                self.is_blocked = bytes < unsent.len();
                self.moved_bytes += bytes as u64;
                self.client.sent(bytes);
                Ok(bytes)
            }
            Err(SystemErrno::AGAIN | SystemErrno::INTR) => {
                self.is_blocked = true;
                Ok(0)
            }
            Err(_) => Err(()),
        }
    }

    /// The socket takes more.
    pub(crate) fn unblock(&mut self) {
        self.is_blocked = false;
    }

    /// Watches the socket for what is wanted now.
    pub(crate) fn watch(&mut self, poller: &Poller) -> std::io::Result<()> {
        let read = self.wants_input() || self.wait == Wait::Turn && !self.client.is_closing;
        let interest = Interest { read, write: self.is_blocked };
        if let Some(socket) = self.socket.as_ref().filter(|_| interest != self.interest) {
            self.interest = interest;
            poller.change(socket, Token::Client(self.id), interest)?;
        }
        Ok(())
    }

    /// More input can be handled.
    pub(crate) fn wants_input(&self) -> bool {
        matches!(self.wait, Wait::Input(_)) && !self.client.is_closing
    }

    /// It could go on by itself, and has done nothing worth mentioning since long before `now`.
    pub(crate) fn has_stalled(&mut self, now: Duration, limit: Duration) -> bool {
        let is_its_turn = !self.client.unsent().is_empty() || self.wants_input();
        if !is_its_turn || self.moved_bytes - self.progress_bytes >= PROGRESS_BYTES {
            self.progress_bytes = self.moved_bytes;
            self.progress_at = now;
        }
        now.saturating_sub(self.progress_at) >= limit
    }

    /// The time from which a stall is counted.
    pub(crate) fn begin_progress(&mut self, now: Duration) {
        self.progress_bytes = self.moved_bytes;
        self.progress_at = now;
    }
}
