//! Clients of the control socket: lines in, lines out.

use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::io::Errno as SystemErrno;
use rustix::net::{RecvFlags, SendFlags};
use serde_json::Value;

use crate::control;
use crate::pending::ClientId;
use crate::poller::{Interest, Poller, Token};
use crate::table::Table;

/// Longest request, with its end of line.
const LINE_BYTES_MAX: usize = 2 << 20;

/// Answers that wait to be read, before more requests are.
const UNREAD_BYTES_MAX: usize = 1 << 20;

/// Clients at a time; whoever comes then is turned away.
const CLIENTS_MAX: usize = 64;

struct ControlClient {
    socket: OwnedFd,
    input: Vec<u8>,
    out: Vec<u8>,
    interest: Interest,
    is_closing: bool,
}

/// All clients of the control socket.
pub(crate) struct ControlClients(Table<ControlClient>);

impl ControlClients {
    pub(crate) fn new() -> Self {
        Self(Table::new())
    }

    /// Takes a client in, if there is room.
    pub(crate) fn insert(&mut self, socket: OwnedFd, poller: &Poller) {
        if self.0.count() >= CLIENTS_MAX {
            return;
        }
        let id = self.0.insert(|_| ControlClient {
            socket,
            input: Vec::new(),
            out: Vec::new(),
            interest: Interest::READ,
            is_closing: false,
        });
        let added =
            self.0.get(id).map(|client| poller.add(&client.socket, Token::Control(id), Interest::READ));
        if !matches!(added, Some(Ok(()))) {
            self.0.remove(id);
        }
    }

    /// Something happened at a client's socket.
    pub(crate) fn ready(&mut self, id: ClientId, poller: &Poller, handle: &mut dyn FnMut(Value) -> Value) {
        let Some(client) = self.0.get(id) else { return };
        if client.serve(handle).is_err() || client.watch(id, poller).is_err() {
            self.0.remove(id);
        }
    }

    /// Sends what is left to send, as far as it goes at once.
    pub(crate) fn say_farewell(&mut self) {
        for id in self.0.ids() {
            if let Some(client) = self.0.get(id) {
                // Who isn't there to read it doesn't want it.
                let _ = client.send();
            }
            self.0.remove(id);
        }
    }
}

impl ControlClient {
    /// `Err`: nothing more is to be done for it.
    fn serve(&mut self, handle: &mut dyn FnMut(Value) -> Value) -> Result<(), ()> {
        self.send()?;
        if self.interest.read && !self.is_closing {
            self.receive()?;
        }
        self.answer(handle);
        self.send()?;
        if self.is_closing && self.out.is_empty() { Err(()) } else { Ok(()) }
    }

    fn receive(&mut self) -> Result<(), ()> {
        self.input.reserve_exact(LINE_BYTES_MAX.saturating_sub(self.input.len()).clamp(1, 4096));
        match rustix::net::recv(&self.socket, spare_capacity(&mut self.input), RecvFlags::empty()) {
            Ok((0, _)) => self.is_closing = true,
            Ok(_) | Err(SystemErrno::AGAIN | SystemErrno::INTR) => {}
            Err(_) => return Err(()),
        }
        Ok(())
    }

    fn answer(&mut self, handle: &mut dyn FnMut(Value) -> Value) {
        let mut taken = 0;
        while self.out.len() <= UNREAD_BYTES_MAX
            && let Some(length) = self.input[taken..].iter().position(|&byte| byte == b'\n')
        {
            let line = &self.input[taken..taken + length];
            taken += length + 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let answer = match serde_json::from_slice::<Value>(line) {
                Ok(request) if request["command"].is_string() => handle(request),
                Ok(_) => control::refused("command: missing; an object with a text \"command\" is wanted"),
                Err(error) => control::refused(format!("not JSON: {error}")),
            };
            self.out.extend_from_slice(answer.to_string().as_bytes());
            self.out.push(b'\n');
        }
        self.input.drain(..taken);
        if self.input.len() >= LINE_BYTES_MAX && !self.is_closing && self.out.len() <= UNREAD_BYTES_MAX {
            let error = format!("line: longer than {LINE_BYTES_MAX} bytes");
            self.out.extend_from_slice(control::refused(error).to_string().as_bytes());
            self.out.push(b'\n');
            self.input.clear();
            self.is_closing = true;
        }
    }

    fn send(&mut self) -> Result<(), ()> {
        if self.out.is_empty() {
            return Ok(());
        }
        match rustix::net::send(&self.socket, &self.out, SendFlags::NOSIGNAL) {
            Ok(bytes) => {
                self.out.drain(..bytes);
                Ok(())
            }
            Err(SystemErrno::AGAIN | SystemErrno::INTR) => Ok(()),
            Err(_) => Err(()),
        }
    }

    fn watch(&mut self, id: ClientId, poller: &Poller) -> std::io::Result<()> {
        let read = !self.is_closing && self.out.len() <= UNREAD_BYTES_MAX;
        let interest = Interest { read, write: !self.out.is_empty() };
        if interest != self.interest {
            self.interest = interest;
            poller.change(&self.socket, Token::Control(id), interest)?;
        }
        Ok(())
    }
}
