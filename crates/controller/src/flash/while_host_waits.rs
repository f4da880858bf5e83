//! What a drive does with its flash while the host waits for all of it: as times, without dies' calendars.

use drivelab_sim::Nanos;

use super::Flash;

impl Flash {
    /// Erases `blocks` while the host waits, as many as `most` of them on one die; how long that takes.
    pub(crate) fn erase_all(&mut self, blocks: u64, most: u32) -> Nanos {
        self.work.erase_ns += blocks * self.timing.erase_ns;
        u64::from(most) * self.timing.erase_ns
    }

    /// Programs pages of the drive's own while the host waits, on all dies at once, and erases what they make
    /// outdated; how long that takes.
    pub(crate) fn program_own(&mut self, pages: u64) -> Nanos {
        self.work.program_ns += pages * self.timing.program_ns(0);
        self.work.bus_ns += pages * self.page_bus_ns;
        self.work.erase_ns += self.timing.erase_ns;
        let rounds = pages.div_ceil(u64::from(self.layout.geometry.die_count()));
        rounds * (self.page_bus_ns + self.timing.program_ns(0)) + self.timing.erase_ns
    }

    /// How long a mount takes that reads `pages` on all dies at once and erases `blocks`, one after the other.
    pub(crate) fn mount_ns(&self, pages: u64, blocks: u64) -> Nanos {
        let rounds = pages.div_ceil(u64::from(self.layout.geometry.die_count()));
        rounds * (self.timing.read_ns + self.page_bus_ns + self.timing.decode_ns)
            + blocks * self.timing.erase_ns
    }
}
