//! The host's own queue in front of a drive whose queue is full.
//!
//! A drive that queues commands is handed them in the order in which they came; it reorders them itself if it likes. In
//! front of a drive that takes one command at a time operating systems sort what waits by address, as an elevator that
//! goes up and begins again below (C-SCAN): Windows keeps its device queues by a sort key, the first sector [ELV]. So a
//! request may be passed by others that came later, but goes when the elevator comes by.

use std::collections::{BTreeMap, VecDeque};

use drivelab_controller::Op;

use crate::generator::Request;

/// Requests that wait for room in the drive's queue.
pub(super) enum Waiting {
    /// First in, first out.
    InOrder(VecDeque<(u32, Request)>),
    Sorted(Elevator),
}

impl Waiting {
    /// In front of a drive that takes `queue_depth` commands, for at most `slots` requests.
    pub(super) fn before(queue_depth: u32, slots: usize) -> Self {
        if queue_depth == 1 {
            return Self::Sorted(Elevator::default());
        }
        Self::InOrder(VecDeque::with_capacity(slots.saturating_sub(queue_depth as usize)))
    }

    #[inline]
    pub(super) fn push(&mut self, tag: u32, request: Request) {
        match self {
            Self::InOrder(requests) => requests.push_back((tag, request)),
            Self::Sorted(elevator) => elevator.push(tag, request),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::InOrder(requests) => requests.is_empty(),
            Self::Sorted(elevator) => elevator.requests.is_empty(),
        }
    }

    /// The request that goes next.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u32, Request)> {
        match self {
            Self::InOrder(requests) => requests.pop_front(),
            Self::Sorted(elevator) => elevator.pop(),
        }
    }
}

/// Requests sorted by address; of one address, first in, first out.
#[derive(Default)]
pub(super) struct Elevator {
    requests: BTreeMap<(u64, u64), (u32, Request)>,
    arrivals: u64,
    /// Where the elevator is: the first sector of what went last.
    at: u64,
}

impl Elevator {
    fn push(&mut self, tag: u32, request: Request) {
        // A flush has no address: it goes next.
        let key = if request.op == Op::Flush { self.at } else { request.lba };
        self.requests.insert((key, self.arrivals), (tag, request));
        self.arrivals += 1;
    }

    fn pop(&mut self) -> Option<(u32, Request)> {
        let (&key, _) = self.requests.range((self.at, 0)..).next().or_else(|| self.requests.iter().next())?;
        self.at = key.0;
        self.requests.remove(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(op: Op, lba: u64) -> Request {
        Request { op, fua: false, lba, sector_count: 1, delay_ns: 0, background: false }
    }

    fn order(queue_depth: u32, lbas: &[u64]) -> Vec<u64> {
        let mut waiting = Waiting::before(queue_depth, lbas.len());
        for (&lba, tag) in lbas.iter().zip(0..) {
            waiting.push(tag, request(Op::Write, lba));
        }
        std::iter::from_fn(|| waiting.pop()).map(|(_, request)| request.lba).collect()
    }

    #[test]
    fn a_drive_that_queues_gets_requests_as_they_come() {
        assert_eq!(order(32, &[50, 10, 90, 30]), [50, 10, 90, 30]);
    }

    #[test]
    fn in_front_of_one_command_at_a_time_the_elevator_goes_up_and_begins_again_below() {
        assert_eq!(order(1, &[50, 10, 90, 30]), [10, 30, 50, 90]);
        let mut waiting = Waiting::before(1, 4);
        for (lba, tag) in [(50, 0), (90, 1)] {
            waiting.push(tag, request(Op::Write, lba));
        }
        assert_eq!(waiting.pop().map(|(tag, _)| tag), Some(0));
        waiting.push(2, request(Op::Write, 40));
        waiting.push(3, request(Op::Write, 50));
        let rest: Vec<u32> = std::iter::from_fn(|| waiting.pop()).map(|(tag, _)| tag).collect();
        assert_eq!(rest, [3, 1, 2], "what came by again waits for the next round");
    }

    #[test]
    fn a_flush_goes_next_and_equal_addresses_in_their_order() {
        let mut waiting = Waiting::before(1, 4);
        for (op, lba, tag) in [(Op::Write, 7, 0), (Op::Write, 7, 1), (Op::Flush, 0, 2)] {
            waiting.push(tag, request(op, lba));
        }
        let tags: Vec<u32> = std::iter::from_fn(|| waiting.pop()).map(|(tag, _)| tag).collect();
        assert_eq!(tags, [2, 0, 1]);
    }
}
