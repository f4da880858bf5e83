//! The link to the host, or one of its two ways: one thing at a time, first come first served.

use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use super::account::Account;

/// A link, and what it is reserved for.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Link {
    free_ns: Nanos,
    busy_ns: Nanos,
}

impl Link {
    /// A link that is free from then on.
    #[must_use]
    pub fn free_from(free_ns: Nanos) -> Self {
        Self { free_ns, busy_ns: 0 }
    }

    /// When all that it is reserved for has passed, at the earliest `now`.
    #[inline]
    #[must_use]
    pub fn free_ns(&self, now: Nanos) -> Nanos {
        self.free_ns.max(now)
    }

    /// For how long it has been, or will have been, in use.
    #[inline]
    #[must_use]
    pub fn busy_ns(&self) -> Nanos {
        self.busy_ns
    }

    /// Nothing is on it before this time.
    pub fn hold_until(&mut self, until: Nanos) {
        self.free_ns = self.free_ns.max(until);
    }

    /// Nothing is on it any more from now on.
    pub fn restart(&mut self, now: Nanos) {
        self.free_ns = now;
    }

    /// Carries something for so long, from `ready` on at the earliest; when it has.
    #[inline]
    pub fn carry(&mut self, link_ns: Nanos, ready: Nanos) -> Nanos {
        self.carry_until(self.free_ns.max(ready) + link_ns, link_ns)
    }

    /// Carries something for so long with gaps, because it comes bit by bit, and has carried it `end`.
    #[inline]
    pub fn carry_until(&mut self, end: Nanos, link_ns: Nanos) -> Nanos {
        self.busy_ns += link_ns;
        self.free_ns = end;
        end
    }

    /// A command whose time is told up to `now` waits for what is on the link before it; when that has passed.
    #[inline]
    pub fn wait_for(&self, account: &mut Account, now: Nanos) -> Nanos {
        debug_assert!(account.told_ns >= now, "where the time of {account:?} went until {now}");
        let free_ns = self.free_ns(now);
        account.queued_until(free_ns);
        free_ns
    }

    /// Carries the last of a command whose time is told up to `now`; when it has.
    #[inline]
    pub fn finish(&mut self, account: &mut Account, link_ns: Nanos, now: Nanos) -> Nanos {
        debug_assert!(account.told_ns >= now, "where the time of {account:?} went until {now}");
        self.carry_for(account, link_ns, now)
    }

    /// Carries for a command, which waits for it now; when it has.
    #[inline]
    pub fn carry_for(&mut self, account: &mut Account, link_ns: Nanos, now: Nanos) -> Nanos {
        account.queued_until(self.free_ns(now));
        account.on_link(link_ns);
        self.carry_until(account.told_ns, link_ns)
    }
}
