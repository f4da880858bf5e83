//! Disk-busy time: how long at least one request was outstanding.

use drivelab_sim::Nanos;

/// Length of the union of the times that requests were outstanding, from a start on.
///
/// Requests must begin in order of time, which those of one job do. A request may begin in the past, as in open
/// loop one does that arrived while the drive's queue was full.
#[derive(Clone, Copy, Debug, Default)]
pub struct BusyTime {
    outstanding: u32,
    /// When the present busy period began; of no meaning without outstanding requests.
    since_ns: Nanos,
    /// All before this has been counted, or doesn't count.
    counted_to_ns: Nanos,
    sum_ns: Nanos,
}

impl BusyTime {
    /// Nothing outstanding; time before `start_ns` doesn't count.
    #[must_use]
    pub fn new(start_ns: Nanos) -> Self {
        Self { counted_to_ns: start_ns, ..Self::default() }
    }

    /// A request is outstanding from `from_ns` on.
    #[inline]
    pub fn begin(&mut self, from_ns: Nanos) {
        if self.outstanding == 0 {
            self.since_ns = from_ns.max(self.counted_to_ns);
        }
        self.outstanding += 1;
    }

    /// A request is done.
    #[inline]
    pub fn end(&mut self, now_ns: Nanos) {
        self.outstanding -= 1;
        if self.outstanding == 0 {
            self.sum_ns += now_ns.saturating_sub(self.since_ns);
            self.counted_to_ns = self.counted_to_ns.max(now_ns);
        }
    }

    /// Busy time of the periods that have ended.
    #[must_use]
    pub fn sum_ns(&self) -> Nanos {
        self.sum_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_join_and_gaps_do_not_count() {
        let mut busy = BusyTime::new(0);
        busy.begin(10);
        busy.begin(15);
        busy.end(20);
        busy.end(30);
        busy.begin(50);
        busy.end(51);
        assert_eq!(busy.sum_ns(), 21);
    }

    #[test]
    fn a_request_that_began_in_the_past_counts_no_time_twice() {
        let mut busy = BusyTime::new(0);
        busy.begin(0);
        busy.end(10);
        busy.begin(5);
        busy.end(12);
        assert_eq!(busy.sum_ns(), 12);
    }

    #[test]
    fn time_before_the_start_does_not_count() {
        let mut busy = BusyTime::new(100);
        busy.begin(0);
        busy.end(50);
        assert_eq!(busy.sum_ns(), 0);
        busy.begin(60);
        busy.end(130);
        assert_eq!(busy.sum_ns(), 30);
    }
}
