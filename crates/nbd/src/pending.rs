//! Requests that the export has and has not answered.

use crate::export::{RequestKind, Ticket};

/// Names a connection; a later one in the same place has another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientId {
    /// Place in the table of connections.
    pub index: u32,
    /// How often the place was used before.
    pub generation: u32,
}

/// What the server needs in order to answer a request.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Who asked.
    pub client: ClientId,
    /// The client's name for it.
    pub cookie: u64,
    /// What it asked for.
    pub kind: RequestKind,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
    /// It is to be in flash when it is answered.
    pub fua: bool,
    /// When the export got it.
    pub submitted_ns: u64,
}

#[derive(Default)]
struct Slot {
    generation: u32,
    entry: Option<Entry>,
}

/// Requests under way, found by ticket in constant time.
#[derive(Default)]
pub struct Pending {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Pending {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Keeps a request; its ticket is not used again before [`Pending::take`].
    pub fn insert(&mut self, entry: Entry) -> Ticket {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.entry = Some(entry);
        u64::from(slot.generation) << 32 | u64::from(index)
    }

    /// Forgets a request; `None` if there is none of that ticket.
    pub fn take(&mut self, ticket: Ticket) -> Option<Entry> {
        let index = ticket as u32;
        let slot = self.slots.get_mut(index as usize)?;
        if u64::from(slot.generation) != ticket >> 32 {
            return None;
        }
        let entry = slot.entry.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_finds_its_request_once() {
        let mut pending = Pending::default();
        let client = ClientId { index: 3, generation: 1 };
        let kind = RequestKind::Flush;
        let entry = Entry { client, cookie: 9, kind, offset: 0, length: 0, fua: false, submitted_ns: 5 };
        let first = pending.insert(entry);
        let second = pending.insert(Entry { cookie: 10, ..entry });
        assert_eq!(pending.count(), 2);
        assert_eq!(pending.take(first).map(|found| found.cookie), Some(9));
        assert!(pending.take(first).is_none());
        let third = pending.insert(Entry { cookie: 11, ..entry });
        assert_ne!(first, third);
        assert!(pending.take(first).is_none());
        assert_eq!(pending.take(second).map(|found| found.cookie), Some(10));
        assert_eq!(pending.take(third).map(|found| found.cookie), Some(11));
        assert_eq!(pending.count(), 0);
    }
}
