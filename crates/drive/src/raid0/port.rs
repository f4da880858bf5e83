//! A member of an array, and what waits in front of it.

use std::collections::VecDeque;

use drivelab_controller::{Command, Device};
use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;
use serde::{Deserialize, Serialize};

/// Bits of a piece's tag that are its command's slot; above them oracles number pieces.
pub(super) const SLOT_BITS: u32 = 16;

/// A member and its place in the array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Port<D> {
    pub device: D,
    /// Commands of the array that have pieces for this member left, in order.
    pub waiting: VecDeque<u32>,
    /// Pieces inside the member.
    pub inside: u32,
    /// Pieces that it takes at once.
    depth: u32,
    /// The member's next event.
    pub next_ns: Nanos,
    /// When the data of the first waiting piece, a write, is in the bridge; `NEVER`: not asked for yet.
    pub data_ns: Nanos,
    /// When the first waiting piece can go in, if only its data is missing.
    pub gate_ns: Nanos,
}

impl<D: Device> Port<D> {
    pub fn new(mut device: D, array_depth: usize, now_ns: Nanos) -> Self {
        let mut unheard = Vec::new();
        device.advance(now_ns, &mut unheard);
        Self {
            waiting: VecDeque::with_capacity(array_depth),
            inside: 0,
            depth: device.queue_depth(),
            next_ns: device.next_event().unwrap_or(NEVER),
            data_ns: NEVER,
            gate_ns: NEVER,
            device,
        }
    }

    #[inline]
    pub fn has_room(&self) -> bool {
        self.inside < self.depth
    }

    /// Hands over a piece of the first waiting command, which `is_last` removes from the line.
    #[inline]
    pub fn submit(&mut self, now_ns: Nanos, piece: Command, is_last: bool) {
        let accepted = self.device.submit(now_ns, piece);
        assert_eq!(accepted, Ok(()), "a member takes what lies inside it and fits its queue");
        self.inside += 1;
        self.next_ns = self.device.next_event().unwrap_or(NEVER);
        self.data_ns = NEVER;
        if is_last {
            self.waiting.pop_front();
        }
    }
}
