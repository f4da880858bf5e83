//! All NBD clients of a server: who has input, who waits for what, and who has to go.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Duration;

use crate::connection::{Buffers, Connection, Received};
use crate::export::Export;
use crate::limits::Limits;
use crate::pending::ClientId;
use crate::poller::{Poller, Ready};
use crate::service::{Service, Wait};
use crate::table::Table;

/// Bytes read at once, for all connections one after the other; about as much as is handled in one turn.
const SHARED_BYTES: usize = 64 << 10;

/// How often stalled clients are looked for while others wait.
const STALL_CHECK: Duration = Duration::from_millis(250);

/// The NBD clients of a server.
pub(crate) struct Connections {
    table: Table<Connection>,
    limits: Limits,
    /// One read's input; the smaller one while memory is tight, so that little has to be kept of what can't be handled.
    shared: Vec<u8>,
    shared_small: Vec<u8>,
    buffers: Buffers,
    /// Those with something to send, or that can perhaps go on.
    listed: Vec<ClientId>,
    /// Those that wait for others' bytes, first come first served.
    line: VecDeque<ClientId>,
    /// What others held when the line was last tried.
    line_tried_bytes: u64,
    line_checked_at: Duration,
    /// Handshakes under way, with the time at which they end.
    handshakes: VecDeque<(Duration, ClientId)>,
    /// Clients that are leaving, likewise.
    leaving: VecDeque<(Duration, ClientId)>,
}

impl Connections {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            table: Table::new(),
            limits: limits.clone(),
            shared: Vec::with_capacity(SHARED_BYTES),
            shared_small: Vec::with_capacity(limits.connection_bytes_free.max(4096) as usize),
            buffers: Buffers::default(),
            listed: Vec::new(),
            line: VecDeque::new(),
            line_tried_bytes: 0,
            line_checked_at: Duration::ZERO,
            handshakes: VecDeque::new(),
            leaving: VecDeque::new(),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.table.count()
    }

    /// Takes a client in, and greets it.
    pub(crate) fn insert<E: Export>(
        &mut self,
        socket: OwnedFd,
        now: Duration,
        poller: &Poller,
        service: &mut Service<E>,
    ) -> std::io::Result<()> {
        let id = self.table.insert(|id| Connection::new(socket, id, now));
        if let Some(Err(error)) = self.table.get(id).map(|connection| connection.open(poller)) {
            self.table.remove(id);
            return Err(error);
        }
        service.statistics.connections += 1;
        self.handshakes.push_back((now + self.limits.handshake, id));
        self.list(id);
        Ok(())
    }

    /// Ends the oldest handshake under way; false if there is none.
    pub(crate) fn drop_oldest_handshake<E: Export>(&mut self, service: &mut Service<E>) -> bool {
        while let Some((_, id)) = self.handshakes.pop_front() {
            if self.table.get(id).is_some_and(|connection| !connection.client.session.is_negotiated()) {
                service.statistics.connections_dropped += 1;
                self.remove(id, service);
                return true;
            }
        }
        false
    }

    fn list(&mut self, id: ClientId) {
        if let Some(connection) = self.table.get(id)
            && !connection.is_listed
        {
            connection.is_listed = true;
            self.listed.push(id);
        }
    }

    /// Ends a client. What the export has of it counts until it is answered.
    fn remove<E: Export>(&mut self, id: ClientId, service: &mut Service<E>) {
        let Some(connection) = self.table.get(id) else { return };
        connection.abandon();
        let client = &mut connection.client;
        service.budget.settle(&mut client.share, client.request_bytes);
        if client.requests == 0 {
            self.table.remove(id);
        }
    }

    /// Something happened at a client's socket.
    pub(crate) fn ready<E: Export>(
        &mut self,
        ready: &Ready,
        id: ClientId,
        now: (u64, Duration),
        service: &mut Service<E>,
    ) {
        let Some(connection) = self.table.get(id) else { return };
        if ready.can_read && connection.wants_input() {
            self.receive(id, now, service);
        } else if ready.is_gone {
            return self.remove(id, service);
        }
        if ready.can_write {
            if let Some(connection) = self.table.get(id) {
                connection.unblock();
            }
            self.list(id);
        }
    }

    /// Reads once and handles what came.
    fn receive<E: Export>(&mut self, id: ClientId, now: (u64, Duration), service: &mut Service<E>) {
        let Some(connection) = self.table.get(id) else { return };
        let client = &connection.client;
        // Others may have taken the room that was there when it began to wait for input.
        if client.need as u64 > self.limits.connection_bytes_free && client.reserved == 0 {
            let wait = Wait::Input(client.need);
            self.settle(id, wait, now.1, service);
        }
        let Self { table, shared, shared_small, buffers, limits, .. } = self;
        let Some(connection) = table.get(id).filter(|connection| connection.wants_input()) else {
            return self.list(id);
        };
        let shared = if service.budget.is_tight() { shared_small } else { shared };
        match connection.receive(shared, buffers) {
            Received::Nothing => return,
            Received::End => {
                connection.client.is_closing = true;
                connection.wait = Wait::Close;
                self.leaving.push_back((now.1 + limits.stall, id));
            }
            Received::Shared(bytes) => {
                service.statistics.received_bytes += bytes as u64;
                connection.open_out(buffers);
                let (taken, wait) = service.receive(now.0, &mut connection.client, id, shared);
                connection.keep_input(&shared[taken..], buffers);
                self.settle(id, wait, now.1, service);
            }
            Received::Own(bytes) => {
                service.statistics.received_bytes += bytes as u64;
                self.resume(id, now, service);
            }
        }
        self.list(id);
    }

    /// Handles input that was kept.
    fn resume<E: Export>(&mut self, id: ClientId, now: (u64, Duration), service: &mut Service<E>) {
        let Some(connection) = self.table.get(id) else { return };
        connection.open_out(&mut self.buffers);
        let client = &mut connection.client;
        let input = std::mem::take(&mut client.input);
        let (taken, wait) = service.receive(now.0, client, id, &input[client.taken..]);
        client.input = input;
        client.taken += taken;
        self.settle(id, wait, now.1, service);
        if taken > 0 || wait == Wait::Close {
            self.list(id);
        }
    }

    /// Takes note of what a client waits for, and counts what it holds.
    fn settle<E: Export>(&mut self, id: ClientId, wait: Wait, now: Duration, service: &mut Service<E>) {
        let Some(connection) = self.table.get(id) else { return };
        connection.wait = wait;
        let client = &mut connection.client;
        match wait {
            Wait::Input(bytes) => {
                client.need = bytes;
                // Payload is collected as long as there is room for the next piece, or else for all of it.
                let busy_bytes = client.busy_bytes();
                let room_bytes = client.room_bytes() as u64;
                let is_small = bytes as u64 <= self.limits.connection_bytes_free;
                if is_small || service.budget.allows(&client.share, busy_bytes + room_bytes) {
                    client.reserved = 0;
                } else if service.budget.allows_completing(&client.share, busy_bytes + bytes as u64) {
                    client.reserved = bytes;
                } else {
                    connection.wait = Wait::Others;
                }
            }
            Wait::Close => self.leaving.push_back((now + self.limits.stall, id)),
            Wait::Turn | Wait::Client | Wait::Others => {}
        }
        if !matches!(connection.wait, Wait::Input(_)) {
            client.need = 1;
            client.reserved = 0;
        }
        let had_share = client.share.is_taken();
        let held_bytes = client.held_bytes();
        service.budget.settle(&mut client.share, held_bytes);
        if !had_share && client.share.is_taken() {
            connection.begin_progress(now);
        }
        if connection.wait == Wait::Others && !connection.is_in_line {
            connection.is_in_line = true;
            self.line.push_back(id);
            self.line_tried_bytes = service.budget.used_bytes();
        }
    }

    /// Lets time pass at the export, and appends the replies.
    pub(crate) fn advance<E: Export>(&mut self, until_ns: u64, service: &mut Service<E>) {
        let Self { table, listed, buffers, .. } = self;
        let mut sent_bytes = 0;
        service.advance(until_ns, &mut |entry, result| {
            let Some(connection) = table.get(entry.client) else { return };
            connection.open_out(buffers);
            let data = connection.client.answered(entry, result);
            if connection.is_abandoned() {
                connection.client.out = Vec::new();
            } else if !data.is_empty() {
                sent_bytes += connection.append(data);
            }
            if !connection.is_listed {
                connection.is_listed = true;
                listed.push(entry.client);
            }
        });
        service.statistics.sent_bytes += sent_bytes as u64;
    }

    /// Sends what can be sent and handles kept input that can be handled now. True: there is more to do at once.
    pub(crate) fn send<E: Export>(
        &mut self,
        now: (u64, Duration),
        poller: &Poller,
        service: &mut Service<E>,
    ) -> bool {
        let mut is_busy = false;
        for id in std::mem::take(&mut self.listed) {
            let Some(connection) = self.table.get(id) else { continue };
            connection.is_listed = false;
            let Ok(bytes) = connection.send() else {
                self.remove(id, service);
                continue;
            };
            service.statistics.sent_bytes += bytes as u64;
            if matches!(connection.wait, Wait::Client | Wait::Turn) {
                self.resume(id, now, service);
            } else {
                let client = &mut connection.client;
                let held_bytes = client.held_bytes();
                service.budget.settle(&mut client.share, held_bytes);
            }
            self.finish(id, poller, service);
        }
        // Those that went on have something to send, or to be answered.
        is_busy |= !self.listed.is_empty();
        is_busy |= self.try_line(now, poller, service);
        is_busy
    }

    /// Watches a client for what it does next, or lets it go.
    fn finish<E: Export>(&mut self, id: ClientId, poller: &Poller, service: &mut Service<E>) {
        let Some(connection) = self.table.get(id) else { return };
        if connection.client.is_closing && connection.client.is_idle() {
            return self.remove(id, service);
        }
        if connection.is_abandoned() {
            return;
        }
        connection.close_buffers(&mut self.buffers);
        if connection.watch(poller).is_err() {
            self.remove(id, service);
        }
    }

    /// Lets those in that waited for others, when something has become free.
    fn try_line<E: Export>(
        &mut self,
        now: (u64, Duration),
        poller: &Poller,
        service: &mut Service<E>,
    ) -> bool {
        if self.line.is_empty() || service.budget.used_bytes() >= self.line_tried_bytes {
            return false;
        }
        let waiting = self.line.len();
        for _ in 0..waiting {
            let Some(id) = self.line.pop_front() else { break };
            let Some(connection) = self.table.get(id) else { continue };
            connection.is_in_line = false;
            self.resume(id, now, service);
            self.finish(id, poller, service);
        }
        self.line_tried_bytes = service.budget.used_bytes();
        self.line.len() < waiting
    }

    /// Ends what has taken too long. Returns the time on the wall at which to look again.
    pub(crate) fn expire<E: Export>(&mut self, now: Duration, service: &mut Service<E>) -> Option<Duration> {
        while let Some(&(until, id)) = self.handshakes.front() {
            match self.table.get(id) {
                Some(connection) if !connection.client.session.is_negotiated() => {
                    if until > now {
                        break;
                    }
                    service.statistics.connections_dropped += 1;
                    self.remove(id, service);
                }
                _ => {}
            }
            self.handshakes.pop_front();
        }
        while let Some(&(until, id)) = self.leaving.front() {
            if until > now {
                break;
            }
            self.leaving.pop_front();
            match self.table.get(id) {
                // The export takes its time; the client can't help it.
                Some(connection) if connection.client.requests > 0 => {
                    self.leaving.push_back((now + self.limits.stall, id));
                }
                Some(_) => self.remove(id, service),
                None => {}
            }
        }
        let next = [&self.handshakes, &self.leaving].map(|times| times.front().map(|&(until, _)| until));
        let stall = self.drop_stalled(now, service);
        next.into_iter().flatten().chain(stall).min()
    }

    /// While somebody waits for bytes that others hold: ends those who hold them and do nothing.
    fn drop_stalled<E: Export>(&mut self, now: Duration, service: &mut Service<E>) -> Option<Duration> {
        if self.line.is_empty() {
            return None;
        }
        if now >= self.line_checked_at + STALL_CHECK {
            self.line_checked_at = now;
            for id in self.table.ids() {
                let Some(connection) = self.table.get(id) else { continue };
                if connection.client.share.is_taken() && connection.has_stalled(now, self.limits.stall) {
                    service.statistics.connections_dropped += 1;
                    self.remove(id, service);
                }
            }
        }
        Some(self.line_checked_at + STALL_CHECK)
    }

    /// The line has somebody whom what has become free may let in.
    pub(crate) fn can_try_line<E: Export>(&self, service: &Service<E>) -> bool {
        !self.line.is_empty() && service.budget.used_bytes() < self.line_tried_bytes
    }

    /// Reads nothing more from anybody. Clients go as soon as they have their replies.
    pub(crate) fn say_farewell(&mut self) {
        for id in self.table.ids() {
            if let Some(connection) = self.table.get(id) {
                connection.client.is_closing = true;
                connection.wait = Wait::Close;
            }
            self.list(id);
        }
    }
}
