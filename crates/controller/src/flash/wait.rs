//! What a command waits for that waits for flash.

use drivelab_sim::Nanos;

/// What a command waits for that waits for flash, part by part, from when it is asked for to when it is there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlashWait {
    /// When it is there.
    pub ready_ns: Nanos,
    /// Dies, buses and the way to the link, busy with other work of the host; data of the buffer that has not come.
    pub queueing_ns: Nanos,
    /// Dies busy with cleaning.
    pub cleaning_ns: Nanos,
    /// Sensing and moving data, that of earlier pieces of the same command included; looking up a map in the host's memory.
    pub flash_ns: Nanos,
}

impl FlashWait {
    /// There at once.
    #[inline]
    pub(crate) fn none(now: Nanos) -> Self {
        Self { ready_ns: now, ..Self::default() }
    }

    /// Sensed and moved before anybody asked for it: there at `ready_ns`.
    #[inline]
    pub(crate) fn under_way(now: Nanos, ready_ns: Nanos) -> Self {
        let flash_ns = ready_ns.saturating_sub(now);
        Self { ready_ns: now + flash_ns, flash_ns, ..Self::default() }
    }

    /// It waits for something else of the host until then, if it lies ahead.
    #[inline]
    pub(crate) fn queued_until(&mut self, until: Nanos) {
        self.queueing_ns += until.saturating_sub(self.ready_ns);
        self.ready_ns = self.ready_ns.max(until);
    }

    /// Something that is done for it alone takes so long.
    #[inline]
    pub(crate) fn work(&mut self, work_ns: Nanos) {
        self.flash_ns += work_ns;
        self.ready_ns += work_ns;
    }

    /// What it has waited for since `before` and longer than others have something to do, up to `others_ns`, it has waited
    /// for pieces of its own command. Cleaning of that time is told already.
    #[inline]
    pub(crate) fn own_after(&mut self, others_ns: Nanos, before: &Self) {
        let queueing_ns = self.queueing_ns - before.queueing_ns;
        let told_ns = self.cleaning_ns - before.cleaning_ns;
        let others_ns = others_ns.saturating_sub(before.ready_ns).saturating_sub(told_ns);
        let own_ns = queueing_ns.saturating_sub(others_ns);
        self.queueing_ns -= own_ns;
        self.flash_ns += own_ns;
    }

    /// The last `hidden_ns` of it are told elsewhere: what came last, the moving of data, is left out first.
    #[inline]
    pub(crate) fn without_last(mut self, hidden_ns: Nanos) -> Self {
        if hidden_ns == 0 {
            return self;
        }
        self.ready_ns -= hidden_ns;
        let mut left = hidden_ns;
        for part in [&mut self.flash_ns, &mut self.queueing_ns, &mut self.cleaning_ns] {
            let taken = left.min(*part);
            *part -= taken;
            left -= taken;
        }
        debug_assert_eq!(left, 0, "more is hidden than there was");
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(queueing_ns: Nanos, cleaning_ns: Nanos, flash_ns: Nanos) -> FlashWait {
        let ready_ns = 1000 + queueing_ns + cleaning_ns + flash_ns;
        FlashWait { ready_ns, queueing_ns, cleaning_ns, flash_ns }
    }

    fn own_after(mut wait: FlashWait, others_ns: Nanos) -> (Nanos, Nanos, Nanos) {
        wait.own_after(others_ns, &FlashWait::none(1000));
        (wait.queueing_ns, wait.cleaning_ns, wait.flash_ns)
    }

    #[test]
    fn what_is_longer_than_others_work_is_for_pieces_of_the_same_command() {
        assert_eq!(own_after(waited(300, 0, 50), 0), (0, 0, 350));
        assert_eq!(own_after(waited(300, 0, 50), 1100), (100, 0, 250));
        assert_eq!(own_after(waited(300, 0, 50), 1400), (300, 0, 50));
    }

    #[test]
    fn cleaning_that_is_told_is_no_work_of_others() {
        // The die cleans up to 1200; a piece in front has it 100 longer.
        assert_eq!(own_after(waited(100, 200, 50), 1200), (0, 200, 150));
        // Up to 1250, the last 50 of it for another command.
        assert_eq!(own_after(waited(100, 200, 50), 1250), (50, 200, 100));
    }
}
