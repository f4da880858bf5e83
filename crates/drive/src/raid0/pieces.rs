//! Commands cut into pieces, pieces handed to members, and put together again.

use drivelab_controller::{Command, Completion, Content, Device, LatencySplit, Op, Outcome, SECTOR_BYTES};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};
use drivelab_sim::time::{NEVER, share};

use super::port::SLOT_BITS;
use super::{Raid0, Share};

impl<D: Device> Raid0<D> {
    /// The driver is done with a command: its pieces go to the members.
    pub(super) fn begin(&mut self, slot: u32, now: Nanos) {
        let Command { op, lba, sector_count, .. } = self.slots[slot as usize].command;
        let sectors = u64::from(sector_count);
        match op {
            Op::Flush => {
                self.slots[slot as usize].left = self.ports.len() as u64;
                for member in 0..self.ports.len() as u32 {
                    self.enqueue(slot, member, Share { lba: 0, end: 0 }, now);
                }
            }
            Op::Trim if !self.config.pass_trim => {
                self.meters.dropped_trim_bytes += sectors * SECTOR_BYTES;
                let (start, end) = self.transfer(slot, now, 1, 1);
                let split = LatencySplit {
                    queueing_ns: start - now,
                    link_ns: end - start,
                    ..LatencySplit::default()
                };
                self.complete(slot, end, split);
            }
            _ if self.stripes.is_one_strip(lba, sectors) => {
                let (member, first) = self.stripes.place(lba);
                self.enqueue(slot, member, Share { lba: first, end: first + sectors }, now);
            }
            _ => {
                self.meters.split_commands += 1;
                for member in 0..self.ports.len() as u32 {
                    if let Some(share) = self.stripes.share(member, lba, sectors) {
                        self.enqueue(slot, member, share, now);
                    }
                }
            }
        }
    }

    #[inline]
    fn enqueue(&mut self, slot: u32, member: u32, share: Share, now: Nanos) {
        let place = self.share_index(slot, member);
        self.shares[place] = share;
        let port = &mut self.ports[member as usize];
        port.waiting.push_back(slot);
        if port.waiting.len() == 1 {
            self.feed(member, now);
        }
    }

    #[inline]
    fn share_index(&self, slot: u32, member: u32) -> usize {
        slot as usize * self.ports.len() + member as usize
    }

    /// Hands a member what waits for it, as far as its queue has room and the data of writes has arrived.
    pub(super) fn feed(&mut self, member: u32, now: Nanos) {
        loop {
            let port = &mut self.ports[member as usize];
            port.gate_ns = NEVER;
            let Some(&slot) = port.waiting.front() else { return };
            let mut piece = self.next_piece(slot, member);
            if self.config.link.is_some() && piece.op == Op::Write {
                if self.ports[member as usize].data_ns == NEVER {
                    let total = self.slots[slot as usize].command.sector_count;
                    let (_, arrival) = self.transfer(slot, now, piece.sector_count, total);
                    self.ports[member as usize].data_ns = arrival;
                }
                let port = &mut self.ports[member as usize];
                if port.has_room() && port.data_ns > now {
                    port.gate_ns = port.data_ns;
                    return;
                }
            }
            if !self.ports[member as usize].has_room() {
                return;
            }
            if let Some(stamps) = &mut self.stamps {
                stamps.issued(member, &mut piece);
            }
            if let Some(durable) = &mut self.durable {
                durable.issued(member, &mut piece, self.slots[slot as usize].command);
            }
            let place = self.share_index(slot, member);
            let share = &mut self.shares[place];
            share.lba += u64::from(piece.sector_count);
            let is_last = share.lba >= share.end;
            self.ports[member as usize].submit(now, piece, is_last);
        }
    }

    /// What a member is to be asked for next of a command that waits for it.
    #[inline]
    fn next_piece(&self, slot: u32, member: u32) -> Command {
        let command = self.slots[slot as usize].command;
        let share = self.shares[self.share_index(slot, member)];
        if command.op == Op::Flush {
            // A flush is of all of a drive, whatever place it names, which no member need have.
            return Command { tag: slot, lba: 0, sector_count: 0, ..command };
        }
        let mut end = share.end;
        let first = self.stripes.sector(member, share.lba) - command.lba;
        if command.op != Op::Trim {
            let mut limit = share.lba + self.transfer_sectors;
            // What holds less than two strips is cut where strips are.
            if self.cut_at_strips || (self.stamps.is_some() && command.op == Op::Write) {
                limit = limit.min(self.stripes.next_strip(share.lba));
            }
            end = end.min(limit);
        }
        let sectors = (end - share.lba) as u32;
        // The members' blocks count from the piece's beginning: without a seed of its own, every piece would
        // repeat the copies of the first.
        let seed = command.content.seed.wrapping_add((first as u32).wrapping_mul(0x9E37_79B9));
        Command {
            tag: slot,
            lba: share.lba,
            sector_count: sectors,
            stamp: command.stamp.wrapping_add(first),
            content: Content { seed, ..command.content },
            ..command
        }
    }

    /// Time on the array's own link of `part` of `whole` of a command's data.
    #[inline]
    fn transfer_ns(&self, slot: u32, part: u32, whole: u32) -> Nanos {
        share(self.slots[slot as usize].link_ns, u64::from(part), u64::from(whole.max(1)))
    }

    /// Reserves the array's own link for `part` of `whole` of a command's data, from `ready` on; gives start and end.
    #[inline]
    fn transfer(&mut self, slot: u32, ready: Nanos, part: u32, whole: u32) -> (Nanos, Nanos) {
        if self.config.link.is_none() {
            return (ready, ready);
        }
        let link_ns = self.transfer_ns(slot, part, whole);
        let end = self.link.carry(link_ns, ready);
        (end - link_ns, end)
    }

    /// A member has done a piece.
    #[inline]
    pub(super) fn piece_done(&mut self, piece: &Completion) {
        let slot = piece.tag & ((1 << SLOT_BITS) - 1);
        if sabotage::is(Sabotage::PieceLost) && piece.tag & 3 == 3 {
            return;
        }
        let now = piece.completed_ns;
        let Command { op, sector_count, .. } = self.slots[slot as usize].command;
        let left = self.slots[slot as usize].left - u64::from(piece.sector_count.max(1));
        let (start, end) = match op {
            // Data passes the bridge while it leaves the member.
            Op::Read => {
                let begun = now - piece.split.link_ns.min(now);
                let (start, end) = self.transfer(slot, begun, piece.sector_count, sector_count);
                (start.max(now), end.max(now))
            }
            Op::Flush | Op::Trim if left == 0 => self.transfer(slot, now, 1, 1),
            _ => (now, now),
        };
        let state = &mut self.slots[slot as usize];
        state.left = left;
        state.refused += if piece.outcome == Outcome::Refused { piece.sector_count } else { 0 };
        state.outcome = state.outcome.max(piece.outcome);
        if left == 0 {
            // In front of the member; of a write, while its data went into the bridge.
            let in_front_ns = piece.submitted_ns - state.begun_ns;
            let into_bridge_ns = match (op, self.config.link) {
                (Op::Write, Some(_)) => self.transfer_ns(slot, piece.sector_count, sector_count),
                _ => 0,
            };
            let mut split = piece.split;
            split.queueing_ns += in_front_ns - into_bridge_ns + (start - now);
            split.link_ns += into_bridge_ns + (end - start);
            self.complete(slot, end, split);
        }
    }

    /// A command is done at `completed_ns`; `since_begun` is where its time went since the driver was done with it. That
    /// is the time of its last piece: in front of its member, in the member, and what the bridge took beside that.
    fn complete(&mut self, slot: u32, completed_ns: Nanos, since_begun: LatencySplit) {
        let done = &mut self.slots[slot as usize];
        done.split = since_begun;
        done.split.queueing_ns += done.begun_ns - self.config.driver_ns - done.submitted_ns;
        done.split.firmware_ns += self.config.driver_ns;
        // Reads still on the array's own link may be done later than what is known after them.
        self.queue.complete_in_order(slot, completed_ns);
    }
}
