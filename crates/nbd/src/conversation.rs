//! A server for one client, without sockets: bytes in, bytes out. Standard input and output are served by it, and it
//! is what fuzzing feeds.

use serde_json::Value;

use crate::client::Client;
use crate::export::Export;
use crate::limits::Limits;
use crate::pending::ClientId;
use crate::service::{Service, Wait};

const ONLY: ClientId = ClientId { index: 0, generation: 0 };

/// One client and its export.
pub struct Conversation<E> {
    service: Service<E>,
    client: Client,
    wait: Wait,
}

impl<E: Export> Conversation<E> {
    /// The server's greeting is the first reply.
    pub fn new(export: E, limits: &Limits) -> Self {
        Self { service: Service::new(export, limits), client: Client::new(Vec::new()), wait: Wait::Input(1) }
    }

    /// Where more input goes: read into its spare room, then call [`Conversation::proceed`].
    pub fn input(&mut self) -> &mut Vec<u8> {
        self.client.collect(|_, wanted| Vec::with_capacity(wanted))
    }

    /// Takes input and handles it, as far as limits allow.
    pub fn receive(&mut self, now_ns: u64, bytes: &[u8]) {
        self.client.input.extend_from_slice(bytes);
        self.proceed(now_ns);
    }

    /// Handles input that is there, as far as limits allow.
    pub fn proceed(&mut self, now_ns: u64) {
        let client = &mut self.client;
        let input = std::mem::take(&mut client.input);
        let (taken, wait) = self.service.receive(now_ns, client, ONLY, &input[client.taken..]);
        client.input = input;
        client.taken += taken;
        if client.taken == client.input.len() {
            client.input.clear();
            client.taken = 0;
        }
        client.reserved = 0;
        client.need = if let Wait::Input(bytes) = wait { bytes } else { 1 };
        self.wait = wait;
        let held_bytes = client.held_bytes();
        self.service.budget.settle(&mut client.share, held_bytes);
    }

    /// Lets time pass at the export, and makes replies of what is done.
    pub fn advance(&mut self, until_ns: u64) {
        let Self { service, client, .. } = self;
        service.advance(until_ns, &mut |entry, result| {
            let data = client.answered(entry, result);
            client.out.extend_from_slice(data);
        });
    }

    /// Lets as much time pass as the requests under way need, from `now_ns` on; returns the time then.
    pub fn settle(&mut self, now_ns: u64) -> u64 {
        let mut now_ns = now_ns;
        while self.service.pending() > 0 {
            let Some(reply_ns) = self.service.export.next_reply(now_ns) else { break };
            now_ns = now_ns.max(reply_ns);
            self.advance(now_ns);
        }
        now_ns
    }

    /// When something next happens at the export.
    pub fn next_event(&mut self) -> Option<u64> {
        self.service.export.next_event()
    }

    /// Replies to be sent.
    pub fn replies(&self) -> &[u8] {
        self.client.unsent()
    }

    /// Takes note that so many bytes of the replies were sent.
    pub fn sent(&mut self, bytes: usize) {
        self.client.sent(bytes);
    }

    /// No more input will come.
    pub fn hang_up(&mut self) {
        self.client.is_closing = true;
    }

    /// More input can be used; if not, replies have to be sent or time has to pass first.
    pub fn wants_input(&self) -> bool {
        matches!(self.wait, Wait::Input(_)) && !self.client.is_closing
    }

    /// Input is there that waits only for limits.
    pub fn can_proceed(&self) -> bool {
        matches!(self.wait, Wait::Turn | Wait::Client | Wait::Others) && !self.client.is_closing
    }

    /// Requests that the export has.
    pub fn pending(&self) -> usize {
        self.service.pending()
    }

    /// Nothing more will come from either side.
    pub fn is_over(&self) -> bool {
        self.client.is_closing && self.client.is_idle()
    }

    /// Memory that it holds for input, replies and requests.
    pub fn held_bytes(&self) -> u64 {
        self.client.request_bytes + (self.client.input.capacity() + self.client.out.capacity()) as u64
    }

    /// What was done, as the control socket's `stats` tells it, without time.
    pub fn statistics(&self) -> Value {
        self.service.statistics_json(1)
    }

    /// The export, when the conversation is over.
    pub fn into_export(self) -> E {
        self.service.export
    }
}
