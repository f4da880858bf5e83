//! Operations on dies and channels: how long each takes, and what it waits for.

use drivelab_nand::{DieIndex, UnitLayout};
use drivelab_sim::Nanos;
use drivelab_sim::sabotage::{self, Sabotage};

use crate::config::ControllerConfig;
use crate::scheduled::Scheduled;
use crate::ssd::SolidStateDrive;

/// One die.
#[derive(Clone, Copy, Debug, Default)]
struct Die {
    /// Operations are reserved up to here.
    busy_until_ns: Nanos,
    /// The last stretch of them that belongs to cleaning: its beginning and its end.
    cleaning_from_ns: Nanos,
    cleaning_until_ns: Nanos,
}

/// What a command waits for that waits for flash, part by part, from when it is asked for to when it is there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlashWait {
    /// When it is there.
    pub ready_ns: Nanos,
    /// Dies, buses and the way to the link, busy with other work of the host; data of the buffer that has not come.
    pub queueing_ns: Nanos,
    /// Dies busy with cleaning.
    pub cleaning_ns: Nanos,
    /// Sensing and moving data.
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

/// Busy time of all dies together, by what they were busy with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BusyTime {
    /// Work that the host asked for.
    pub host_ns: Nanos,
    /// Cleaning and wear levelling.
    pub cleaning_ns: Nanos,
}

/// What all dies are reserved for.
#[derive(Clone, Debug)]
pub(crate) struct Dies {
    dies: Vec<Die>,
    /// Busy time so far.
    pub busy: BusyTime,
    /// Bus time of one whole page, in and out.
    pub page_bus_ns: Nanos,
}

impl Dies {
    pub(crate) fn new(layout: &UnitLayout, config: &ControllerConfig) -> Self {
        let page = u64::from(layout.geometry.page_bytes + layout.geometry.oob_bytes);
        let page_bus_ns = config.timing.bus_ns(page * u64::from(layout.geometry.fused_planes()));
        Self {
            dies: vec![Die::default(); layout.geometry.die_count() as usize],
            busy: BusyTime::default(),
            page_bus_ns,
        }
    }

    /// When a die is free, from this time on.
    #[inline]
    fn free_from(&self, die: DieIndex, from: Nanos) -> Nanos {
        self.dies[die.0 as usize].busy_until_ns.max(from)
    }

    /// How long an operation that arrives now waits for a die because of cleaning.
    #[inline]
    fn wait_for_cleaning(&self, die: DieIndex, now: Nanos) -> Nanos {
        let die = &self.dies[die.0 as usize];
        die.cleaning_until_ns.saturating_sub(die.cleaning_from_ns.max(now))
    }

    /// Whether every die's cleaning ends with its work at the latest.
    pub(crate) fn are_sound(&self) -> bool {
        self.dies.iter().all(|die| {
            die.cleaning_from_ns <= die.cleaning_until_ns && die.cleaning_until_ns <= die.busy_until_ns
        })
    }

    #[inline]
    fn occupy(&mut self, die: DieIndex, begin: Nanos, end: Nanos, cleaning: bool) {
        let die = &mut self.dies[die.0 as usize];
        let goes_on = die.cleaning_until_ns == die.busy_until_ns;
        die.busy_until_ns = end;
        if cleaning {
            if !goes_on {
                die.cleaning_from_ns = begin;
            }
            die.cleaning_until_ns = end;
            self.busy.cleaning_ns += end - begin;
        } else {
            self.busy.host_ns += end - begin;
        }
    }
}

impl<M: Scheduled> SolidStateDrive<M> {
    /// Senses `pages` pages and moves `bytes` of them over the bus; when they are in the controller.
    #[inline]
    pub(crate) fn sense_and_transfer(
        &mut self,
        die: DieIndex,
        bytes: u64,
        pages: u64,
        now: Nanos,
        cleaning: bool,
    ) -> Nanos {
        self.sense_from(die, bytes, pages, (now, now), cleaning)
    }

    /// The same, asked for `now` but not before `ready`.
    #[inline]
    pub(crate) fn sense_from(
        &mut self,
        die: DieIndex,
        bytes: u64,
        pages: u64,
        (now, ready): (Nanos, Nanos),
        cleaning: bool,
    ) -> Nanos {
        self.sense(die, bytes, pages, (now, ready), cleaning).0
    }

    /// The same for what has waited so far as `wait` says, and waits for this now.
    #[inline]
    pub(crate) fn sense_for(
        &mut self,
        wait: &mut FlashWait,
        die: DieIndex,
        bytes: u64,
        pages: u64,
        now: Nanos,
        cleaning: bool,
    ) {
        let for_cleaning = self.dies.wait_for_cleaning(die, wait.ready_ns);
        let (end, work_ns) = self.sense(die, bytes, pages, (now, wait.ready_ns), cleaning);
        wait.cleaning_ns += for_cleaning;
        wait.flash_ns += work_ns;
        // For other work of the die, and for the bus.
        wait.queueing_ns += end - wait.ready_ns - for_cleaning - work_ns;
        wait.ready_ns = end;
    }

    /// The same: when it is done, and for how long die and bus work for it.
    #[allow(clippy::inline_always, reason = "hot, and called by too many to be inlined otherwise")]
    #[inline(always)]
    fn sense(
        &mut self,
        die: DieIndex,
        bytes: u64,
        pages: u64,
        (now, ready): (Nanos, Nanos),
        cleaning: bool,
    ) -> (Nanos, Nanos) {
        let timing = &self.config.timing;
        let (read_ns, holds_bus) = (timing.read_ns, timing.hold_bus_while_reading);
        let geometry = &self.layout.geometry;
        let bus_ns = if bytes == u64::from(geometry.program_bytes()) {
            self.dies.page_bus_ns
        } else {
            // Error correction data comes with every sector.
            let with_oob = bytes + bytes * u64::from(geometry.oob_bytes) / u64::from(geometry.page_bytes);
            timing.bus_ns(with_oob / pages)
        };
        let bus_ns = bus_ns + timing.decode_ns;
        let channel = &mut self.channels[self.layout.channel_of(die) as usize];
        let mut at = self.dies.free_from(die, ready);
        for _ in 0..pages {
            let begin = at;
            let bus_start = if holds_bus {
                channel.reserve(now, begin, read_ns + bus_ns) + read_ns
            } else {
                channel.reserve(now, begin + read_ns, bus_ns)
            };
            at = bus_start + bus_ns;
            // The page register is taken until its data has left.
            self.dies.occupy(die, begin, at + Self::sabotaged_hold_ns(), cleaning);
        }
        self.meters.sense_busy_ns += pages * read_ns;
        self.meters.bus_busy_ns += pages * bus_ns;
        (at, pages * (read_ns + bus_ns))
    }

    /// Transfer and program of one unit's pages (or one page of units), the first at `page` of its block: what a command
    /// that waits for them owes to flash itself.
    #[inline]
    pub(crate) fn program_work_ns(&self, page: u32) -> Nanos {
        let pages = page..page + self.layout.pages_per_unit;
        pages.map(|page| self.dies.page_bus_ns + self.config.timing.program_ns(page)).sum()
    }

    /// Moves one unit's pages (or one page of units) to a die and programs them, the first at `page` of its block;
    /// when that is done.
    #[inline]
    pub(crate) fn transfer_and_program(
        &mut self,
        die: DieIndex,
        page: u32,
        ready: Nanos,
        now: Nanos,
        cleaning: bool,
    ) -> Nanos {
        let timing = self.config.timing;
        let bus_ns = self.dies.page_bus_ns;
        let mut end = now;
        debug_assert!(
            ready <= self.dies.free_from(die, now),
            "reads would wait for a program that has not begun"
        );
        for index in 0..self.layout.pages_per_unit {
            let begin = self.dies.free_from(die, ready);
            let channel = &mut self.channels[self.layout.channel_of(die) as usize];
            let start = channel.reserve(now, begin, bus_ns);
            let program_ns = timing.program_ns(page + index);
            end = start + bus_ns + program_ns;
            self.meters.bus_busy_ns += bus_ns;
            self.meters.program_busy_ns += program_ns;
            self.dies.occupy(die, start, end, cleaning);
        }
        end
    }

    /// How long a die stays busy after a read, in drives that are broken on purpose.
    fn sabotaged_hold_ns() -> Nanos {
        if sabotage::is(Sabotage::ReadHoldsDie) { drivelab_sim::time::SECOND } else { 0 }
    }

    /// Erases a block of a die; when that is done.
    pub(crate) fn erase_on(&mut self, die: DieIndex, now: Nanos, cleaning: bool) -> Nanos {
        let begin = self.dies.free_from(die, now);
        let end = begin + self.config.timing.erase_ns;
        self.meters.erase_busy_ns += self.config.timing.erase_ns;
        self.dies.occupy(die, begin, end, cleaning);
        end
    }
}
