//! The export and the requests that it has: between sessions and the passing of time, without sockets.

use serde_json::{Value, json};

use crate::client::Client;
use crate::export::{Errno, Export, Extent, Request, RequestKind};
use crate::limits::{Budget, Limits};
use crate::pending::{ClientId, Entry, Pending};
use crate::reply;
use crate::session::{Action, Command, Step};
use crate::statistics::Statistics;

/// Extents in one reply; a client that wants more asks again.
const EXTENTS_MAX: usize = 4096;

/// Requests of one client that are handled before they are answered. A client that has some of its replies can work
/// on them while the server works on the next requests; with all at once, each would wait for the other.
const TURN_REQUESTS: usize = 8;

/// Why no more of the input was handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// This many bytes are needed, from the first that was not handled.
    Input(usize),
    /// Nothing: what was handled shall be answered before more is.
    Turn,
    /// Some of the client's own requests or replies must leave first.
    Client,
    /// Some of other clients' must leave first.
    Others,
    /// The session is over.
    Close,
}

/// Hears of a request that is done.
pub type Answer<'a> = dyn FnMut(&Entry, Result<&[u8], Errno>) + 'a;

/// An export being served.
pub struct Service<E> {
    /// What is served.
    pub export: E,
    /// What was done.
    pub statistics: Statistics,
    /// Bytes that all clients share.
    pub budget: Budget,
    limits: Limits,
    pending: Pending,
    extents: Vec<Extent>,
}

impl<E: Export> Service<E> {
    /// Nothing is under way.
    pub fn new(export: E, limits: &Limits) -> Self {
        let budget = Budget::new(limits, export.info().maximum_payload_bytes);
        Self {
            export,
            statistics: Statistics::default(),
            budget,
            limits: limits.clone(),
            pending: Pending::default(),
            extents: Vec::new(),
        }
    }

    /// Requests that the export has.
    pub fn pending(&self) -> usize {
        self.pending.count()
    }

    /// Handles all of a client's input that can be handled now. Returns how many bytes that was, and what is waited for.
    pub fn receive(&mut self, now_ns: u64, client: &mut Client, id: ClientId, input: &[u8]) -> (usize, Wait) {
        let (mut taken, mut requests) = (0, 0);
        loop {
            if requests == TURN_REQUESTS {
                return (taken, Wait::Turn);
            }
            // What the session answers by itself counts too; a reply more than allowed does no harm.
            if client.unsent().len() as u64 > self.connection_bytes_max() {
                return (taken, Wait::Client);
            }
            if !self.budget.allows(&client.share, client.busy_bytes()) {
                return (taken, Wait::Others);
            }
            let rest = &input[taken..];
            taken += match client.session.step(rest, self.export.info(), &mut client.out) {
                Step::Need(bytes) => return (taken, Wait::Input(bytes)),
                Step::Close => {
                    client.is_closing = true;
                    return (taken, Wait::Close);
                }
                Step::Took(bytes) => bytes,
                Step::Answered(bytes) => {
                    self.statistics.answered_at_once += 1;
                    bytes
                }
                Step::Command(command, bytes) => {
                    match command.action {
                        Action::BlockStatus { one } => {
                            self.block_status(client, &command, one);
                            // It looks at many units: a turn of its own.
                            requests = TURN_REQUESTS;
                        }
                        Action::Request(kind) => {
                            if let Some(wait) = self.refuses(client, kind, command.length) {
                                return (taken, wait);
                            }
                            requests += 1;
                            self.submit(now_ns, client, id, &command, kind, &rest[rest.len().min(28)..bytes]);
                        }
                    }
                    bytes
                }
            };
        }
    }

    /// What one client may hold: the fewer bytes are left for all, the less.
    fn connection_bytes_max(&self) -> u64 {
        if self.budget.is_tight() {
            self.limits.connection_bytes_max.min(self.limits.total_bytes_max / 64)
        } else {
            self.limits.connection_bytes_max
        }
    }

    /// What has to become less before this request can be let in.
    fn refuses(&self, client: &Client, kind: RequestKind, length: u32) -> Option<Wait> {
        let held_bytes = client.busy_bytes() + Client::cost(kind, length);
        let is_crowded =
            client.requests >= self.limits.requests_max || held_bytes > self.connection_bytes_max();
        if is_crowded && !client.is_idle() {
            Some(Wait::Client)
        } else if kind == RequestKind::Write && self.budget.allows_completing(&client.share, held_bytes)
            || self.budget.allows(&client.share, held_bytes)
        {
            None
        } else {
            Some(Wait::Others)
        }
    }

    fn submit(
        &mut self,
        now_ns: u64,
        client: &mut Client,
        id: ClientId,
        command: &Command,
        kind: RequestKind,
        data: &[u8],
    ) {
        let &Command { cookie, offset, length, fua, no_hole, .. } = command;
        client.submitted(kind, length);
        let entry = Entry { client: id, cookie, kind, offset, length, fua, submitted_ns: now_ns };
        let ticket = self.pending.insert(entry);
        self.export.submit(now_ns, Request { ticket, kind, offset, length, fua, no_hole }, data);
    }

    fn block_status(&mut self, client: &mut Client, command: &Command, one: bool) {
        self.statistics.block_status += 1;
        let most = if one { 1 } else { EXTENTS_MAX };
        self.extents.clear();
        self.export.block_status(command.offset, command.length, most, &mut self.extents);
        self.extents.truncate(most);
        if self.extents.is_empty() {
            // The protocol wants one; "not known" is always true.
            self.extents.push(Extent { length: command.length, hole: false, zero: false });
        }
        reply::block_status(&mut client.out, command.cookie, &self.extents);
    }

    /// What was done, and what is under way.
    pub fn statistics_json(&self, connections: usize) -> Value {
        let mut told = self.statistics.to_json();
        told.insert("connections".to_owned(), json!(connections));
        told.insert("requests_pending".to_owned(), json!(self.pending()));
        told.insert("shared_bytes".to_owned(), json!(self.budget.used_bytes()));
        Value::Object(told)
    }

    /// Lets time pass, and hands over what is done.
    pub fn advance(&mut self, until_ns: u64, answer: &mut Answer<'_>) {
        let Self { export, pending, statistics, .. } = self;
        export.advance(until_ns, &mut |ticket, result| {
            let Some(entry) = pending.take(ticket) else {
                debug_assert!(false, "ticket {ticket} was answered twice, or never given");
                return;
            };
            statistics.record(&entry, result, until_ns);
            answer(&entry, result);
        });
    }
}
