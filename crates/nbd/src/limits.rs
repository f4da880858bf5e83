//! How much memory and how many places clients may take.

use std::time::Duration;

/// Limits of a server. Memory that clients can make it hold is bounded by
/// `connections_max` x `connection_bytes_free` + `total_bytes_max`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time; fewer if the process may not have so many open files.
    pub connections_max: usize,
    /// Requests of one connection that the export has at a time; more wait unread.
    pub requests_max: u32,
    /// Bytes of one connection's requests under way and of its replies not yet sent. A single larger request is
    /// let through when nothing else of its connection is there.
    pub connection_bytes_max: u64,
    /// What a connection may hold without asking for its share of `total_bytes_max`. So small requests are always
    /// served, whatever other clients do.
    pub connection_bytes_free: u64,
    /// Bytes of all connections beyond their free ones.
    pub total_bytes_max: u64,
    /// A handshake that takes longer is ended.
    pub handshake: Duration,
    /// While others wait for their share of `total_bytes_max`, a client that holds some of it and for so long neither
    /// reads its replies nor sends what it has announced is ended. So is one that has left without reading.
    pub stall: Duration,
    /// After the stop, replies that are not sent by then are dropped.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 8192,
            requests_max: 1024,
            connection_bytes_max: 16 << 20,
            connection_bytes_free: 32 << 10,
            total_bytes_max: 256 << 20,
            handshake: Duration::from_secs(10),
            stall: Duration::from_secs(2),
            farewell: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// What is wrong with them, in one line: key, value, limit.
    ///
    /// # Errors
    /// A limit below which not even one client could be served.
    pub fn validate(&self, maximum_payload_bytes: u32) -> Result<(), String> {
        // One to be begun, and one to be completed.
        let least_bytes = 2 * whole_bytes(maximum_payload_bytes);
        if self.total_bytes_max < least_bytes {
            return Err(format!("total_bytes_max: {}; at least {least_bytes}", self.total_bytes_max));
        }
        if self.connections_max == 0 || self.requests_max == 0 {
            return Err("connections_max, requests_max: 0; at least 1".to_owned());
        }
        Ok(())
    }
}

/// The largest request, with all that comes with it.
fn whole_bytes(maximum_payload_bytes: u32) -> u64 {
    u64::from(maximum_payload_bytes) + (1 << 20)
}

/// The bytes that all connections share.
#[derive(Debug)]
pub struct Budget {
    used_bytes: u64,
    total_bytes_max: u64,
    free_bytes: u64,
    /// Kept for completing what has begun.
    reserve_bytes: u64,
}

impl Budget {
    /// Nothing is used yet.
    #[must_use]
    pub fn new(limits: &Limits, maximum_payload_bytes: u32) -> Self {
        Self {
            used_bytes: 0,
            total_bytes_max: limits.total_bytes_max,
            free_bytes: limits.connection_bytes_free,
            reserve_bytes: whole_bytes(maximum_payload_bytes),
        }
    }

    /// Bytes in use beyond the free ones of every connection.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// So much of it is in use that the rest should go to many.
    #[must_use]
    pub fn is_tight(&self) -> bool {
        self.used_bytes > (self.total_bytes_max - self.reserve_bytes) / 4
    }

    /// Whether a connection that has `share` of it may come to hold `held_bytes`.
    #[must_use]
    pub fn allows(&self, share: &Share, held_bytes: u64) -> bool {
        self.allows_up_to(self.total_bytes_max - self.reserve_bytes, share, held_bytes)
    }

    /// Likewise, for whoever has begun and will hold no more than that: without its reserve, clients that each wait for
    /// room for the rest of a write would wait for ever.
    #[must_use]
    pub fn allows_completing(&self, share: &Share, held_bytes: u64) -> bool {
        self.allows_up_to(self.total_bytes_max, share, held_bytes)
    }

    fn allows_up_to(&self, limit_bytes: u64, share: &Share, held_bytes: u64) -> bool {
        let wanted = held_bytes.saturating_sub(self.free_bytes);
        wanted <= share.0 || self.used_bytes - share.0 + wanted <= limit_bytes
    }

    /// Counts what a connection holds now.
    pub fn settle(&mut self, share: &mut Share, held_bytes: u64) {
        let wanted = held_bytes.saturating_sub(self.free_bytes);
        self.used_bytes = self.used_bytes - share.0 + wanted;
        share.0 = wanted;
    }
}

/// What one connection has of the budget.
#[derive(Debug, Default)]
pub struct Share(u64);

impl Share {
    /// It holds more than its free bytes.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.0 > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_holdings_are_free_and_large_ones_share_the_total() {
        let limits =
            Limits { connection_bytes_free: 10, total_bytes_max: (1 << 20) + 100, ..Limits::default() };
        let mut budget = Budget::new(&limits, 0);
        let (mut greedy, mut modest) = (Share::default(), Share::default());
        assert!(budget.allows(&greedy, 110) && !budget.allows(&greedy, 111));
        budget.settle(&mut greedy, 110);
        assert!(!budget.allows(&modest, 11) && budget.allows_completing(&modest, 1000));
        assert!(budget.allows(&modest, 10) && !budget.allows(&modest, 11));
        budget.settle(&mut modest, 10);
        assert!(!modest.is_taken());
        budget.settle(&mut greedy, 50);
        assert_eq!(budget.used_bytes(), 40);
        assert!(budget.allows(&modest, 70) && !budget.allows(&modest, 71));
        budget.settle(&mut greedy, 0);
        assert!(!greedy.is_taken());
        assert_eq!(budget.used_bytes(), 0);
    }
}
