//! Waiting units of the write buffer by superblock, and which superblock leaves next (REFERENCES.md, \[BPLRU\]).
//!
//! Entries come and go in constant time. A choice skips banks that are at work, the random one draws until it meets a waiting
//! entry, and what is left of a group finds its place among those that are younger.

use drivelab_ftl::Superblocks;
use drivelab_nand::{DieIndex, Lpn};
use drivelab_sim::{Nanos, Stream as RandomStream};
use serde::{Deserialize, Serialize};

use super::index::NONE;
use crate::config::BufferEviction;

/// Purpose number of the random stream.
const EVICTION_STREAM: u64 = 0x0045_5643;
/// Draws of the random choice before it takes the oldest instead.
const DRAWS: u32 = 256;

/// Neighbours in a list of superblocks or of entries.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Link {
    previous: u32,
    next: u32,
}

const UNLINKED: Link = Link { previous: NONE, next: NONE };

/// The groups.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Clusters {
    superblocks: Superblocks,
    policy: BufferEviction,
    random: RandomStream,
    seed: u64,
    /// Waiting entries of every superblock, newest first.
    newest: Vec<u32>,
    counts: Vec<u32>,
    entries: Vec<Link>,
    /// Superblock of every waiting entry; `NONE`: not waiting.
    owners: Vec<u32>,
    /// Superblocks with waiting entries, in the order in which the first of those came; after trims, of those that were there.
    ages: Vec<Link>,
    /// When each of them began to wait.
    since_ns: Vec<Nanos>,
    oldest: u32,
    youngest: u32,
    /// Superblocks by count of waiting entries: heads of lists, and the highest that is not empty.
    fullness: Vec<Link>,
    of_count: Vec<u32>,
    highest: u32,
}

impl Clusters {
    pub(crate) fn new(superblocks: Superblocks, policy: BufferEviction, seed: u64, capacity: u32) -> Self {
        let count = superblocks.count as usize;
        Self {
            superblocks,
            policy,
            random: RandomStream::new(seed, EVICTION_STREAM),
            seed,
            newest: vec![NONE; count],
            counts: vec![0; count],
            entries: vec![UNLINKED; capacity as usize],
            owners: vec![NONE; capacity as usize],
            ages: vec![UNLINKED; count],
            since_ns: vec![0; count],
            oldest: NONE,
            youngest: NONE,
            fullness: vec![UNLINKED; count],
            of_count: vec![NONE; 2],
            highest: 0,
        }
    }

    /// An entry waits.
    #[inline]
    pub(crate) fn insert(&mut self, id: u32, lpn: Lpn, now: Nanos) {
        if id as usize >= self.entries.len() {
            self.entries.resize(id as usize + 1, UNLINKED);
            self.owners.resize(id as usize + 1, NONE);
        }
        let superblock = self.superblocks.locate(lpn).superblock;
        let head = std::mem::replace(&mut self.newest[superblock as usize], id);
        self.entries[id as usize] = Link { previous: NONE, next: head };
        if head != NONE {
            self.entries[head as usize].previous = id;
        }
        self.owners[id as usize] = superblock;
        let count = self.counts[superblock as usize];
        if count == 0 {
            self.link_behind(self.youngest, superblock);
            self.since_ns[superblock as usize] = now;
        }
        self.recount(superblock, count + 1);
    }

    /// An entry waits no longer.
    #[inline]
    pub(crate) fn remove(&mut self, id: u32) {
        let superblock = std::mem::replace(&mut self.owners[id as usize], NONE);
        let link = self.entries[id as usize];
        match link.previous {
            NONE => self.newest[superblock as usize] = link.next,
            previous => self.entries[previous as usize].next = link.next,
        }
        if link.next != NONE {
            self.entries[link.next as usize].previous = link.previous;
        }
        let count = self.counts[superblock as usize];
        self.recount(superblock, count - 1);
        if count == 1 {
            self.unlink_age(superblock);
        }
    }

    /// A part of a superblock's entries has left; the first of the rest came at `since_ns`. Rows of a sequence that are
    /// still coming would otherwise be as old as those that have left, and leave before they are whole.
    pub(crate) fn age_rest(&mut self, superblock: u32, since_ns: Nanos) {
        self.unlink_age(superblock);
        let mut before = self.youngest;
        while before != NONE && self.since_ns[before as usize] > since_ns {
            before = self.ages[before as usize].previous;
        }
        self.link_behind(before, superblock);
        self.since_ns[superblock as usize] = since_ns;
    }

    /// Puts a superblock behind another one in the order of ages; `NONE`: before all.
    fn link_behind(&mut self, before: u32, superblock: u32) {
        let next = match before {
            NONE => std::mem::replace(&mut self.oldest, superblock),
            before => std::mem::replace(&mut self.ages[before as usize].next, superblock),
        };
        match next {
            NONE => self.youngest = superblock,
            next => self.ages[next as usize].previous = superblock,
        }
        self.ages[superblock as usize] = Link { previous: before, next };
    }

    /// Takes a superblock out of the order of ages.
    fn unlink_age(&mut self, superblock: u32) {
        let age = self.ages[superblock as usize];
        match age.previous {
            NONE => self.oldest = age.next,
            previous => self.ages[previous as usize].next = age.next,
        }
        match age.next {
            NONE => self.youngest = age.previous,
            next => self.ages[next as usize].previous = age.previous,
        }
    }

    /// Moves a superblock to the list of its new count.
    #[inline]
    fn recount(&mut self, superblock: u32, count: u32) {
        let old = std::mem::replace(&mut self.counts[superblock as usize], count);
        if self.policy != BufferEviction::Fullest {
            return;
        }
        if old > 0 {
            let link = self.fullness[superblock as usize];
            match link.previous {
                NONE => self.of_count[old as usize] = link.next,
                previous => self.fullness[previous as usize].next = link.next,
            }
            if link.next != NONE {
                self.fullness[link.next as usize].previous = link.previous;
            }
        }
        if count > 0 {
            if count as usize >= self.of_count.len() {
                self.of_count.resize(count as usize + 1, NONE);
            }
            let head = std::mem::replace(&mut self.of_count[count as usize], superblock);
            self.fullness[superblock as usize] = Link { previous: NONE, next: head };
            if head != NONE {
                self.fullness[head as usize].previous = superblock;
            }
        }
        self.highest = self.highest.max(count);
        while self.highest > 0 && self.of_count[self.highest as usize] == NONE {
            self.highest -= 1;
        }
    }

    /// Since when the oldest superblock has waited.
    #[inline]
    pub(crate) fn oldest_since_ns(&self) -> Option<Nanos> {
        (self.oldest != NONE).then(|| self.since_ns[self.oldest as usize])
    }

    /// The superblock whose units have waited longest, among banks that `idle` allows.
    pub(crate) fn oldest(&self, idle: impl Fn(DieIndex) -> bool) -> Option<u32> {
        let mut superblock = self.oldest;
        while superblock != NONE && !idle(self.superblocks.bank_of(superblock)) {
            superblock = self.ages[superblock as usize].next;
        }
        (superblock != NONE).then_some(superblock)
    }

    fn fullest(&self, idle: impl Fn(DieIndex) -> bool) -> Option<u32> {
        (1..=self.highest).rev().find_map(|count| {
            let mut superblock = self.of_count[count as usize];
            while superblock != NONE && !idle(self.superblocks.bank_of(superblock)) {
                superblock = self.fullness[superblock as usize].next;
            }
            (superblock != NONE).then_some(superblock)
        })
    }

    /// The superblock that leaves next, among banks that `idle` allows.
    pub(crate) fn choose(&mut self, idle: impl Fn(DieIndex) -> bool) -> Option<u32> {
        match self.policy {
            BufferEviction::Oldest => self.oldest(idle),
            BufferEviction::Fullest => self.fullest(idle),
            BufferEviction::Random => {
                for _ in 0..DRAWS {
                    let id = self.random.below(self.owners.len() as u64) as usize;
                    let superblock = self.owners[id];
                    if superblock != NONE && idle(self.superblocks.bank_of(superblock)) {
                        return Some(superblock);
                    }
                }
                self.oldest(idle)
            }
        }
    }

    /// Waiting entries of a superblock, newest first.
    pub(crate) fn members(&self, superblock: u32) -> impl Iterator<Item = u32> {
        let mut id = self.newest[superblock as usize];
        std::iter::from_fn(move || {
            let here = (id != NONE).then_some(id)?;
            id = self.entries[id as usize].next;
            Some(here)
        })
    }

    /// Waiting entries of the superblock of a unit, newest first.
    pub(crate) fn members_with(&self, lpn: Lpn) -> impl Iterator<Item = u32> {
        self.members(self.superblocks.locate(lpn).superblock)
    }

    /// Forgets all entries.
    pub(crate) fn clear(&mut self) {
        self.random = RandomStream::new(self.seed, EVICTION_STREAM);
        self.newest.fill(NONE);
        self.counts.fill(0);
        self.owners.fill(NONE);
        self.of_count.fill(NONE);
        (self.oldest, self.youngest, self.highest) = (NONE, NONE, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_nand::{Geometry, UnitLayout};
    use proptest::prelude::*;

    fn superblocks() -> Superblocks {
        let geometry = Geometry {
            channel_count: 1,
            dies_per_channel: 2,
            planes_per_die: 1,
            blocks_per_plane: 9,
            pages_per_block: 2,
            page_bytes: 8192,
            oob_bytes: 0,
            two_plane: false,
        };
        Superblocks::new(&UnitLayout::new(geometry, 4096).unwrap(), 32, 2).unwrap()
    }

    proptest! {
        #[test]
        fn groups_agree_with_a_plain_list(
            policy in prop_oneof![Just(BufferEviction::Oldest), Just(BufferEviction::Fullest), Just(BufferEviction::Random)],
            steps in prop::collection::vec((0u32..3, any::<u32>()), 1..200),
        ) {
            let cut = superblocks();
            let mut clusters = Clusters::new(cut, policy, 7, 16);
            // (entry, superblock, when it came) in order of arrival; superblocks by age, and since when.
            let mut plain: Vec<(u32, u32, u64)> = Vec::new();
            let mut since: Vec<(u32, u64)> = Vec::new();
            for (now, (kind, pick)) in (0u64..).zip(steps) {
                let free = (0..16).find(|id| plain.iter().all(|&(known, ..)| known != *id));
                let mut aged = None;
                match (kind, free) {
                    (0 | 1, Some(id)) => {
                        let lpn = Lpn(pick % 32);
                        clusters.insert(id, lpn, now);
                        plain.push((id, cut.locate(lpn).superblock, now));
                    }
                    _ if !plain.is_empty() => {
                        let (id, owner, _) = plain.remove(pick as usize % plain.len());
                        clusters.remove(id);
                        let rest = plain.iter().find(|&&(_, of, _)| of == owner && pick % 3 > 0);
                        aged = rest.map(|&(_, of, came)| (of, came));
                    }
                    _ => {}
                }
                since.retain(|&(superblock, _)| plain.iter().any(|&(_, owner, _)| owner == superblock));
                if let Some((superblock, came)) = aged {
                    clusters.age_rest(superblock, came);
                    since.retain(|&(known, _)| known != superblock);
                    let place = since.iter().rposition(|&(_, other)| other <= came).map_or(0, |last| last + 1);
                    since.insert(place, (superblock, came));
                }
                for &(_, owner, came) in &plain {
                    if !since.iter().any(|&(known, _)| known == owner) {
                        since.push((owner, came));
                    }
                }
                prop_assert_eq!(clusters.oldest_since_ns(), since.first().map(|&(_, came)| came));
                for bank in [None, Some(DieIndex(0)), Some(DieIndex(1))] {
                    let idle = |of: DieIndex| bank.is_none_or(|bank| bank == of);
                    let allowed: Vec<u32> = since.iter().map(|&(of, _)| of).filter(|&of| idle(cut.bank_of(of))).collect();
                    prop_assert_eq!(clusters.oldest(idle), allowed.first().copied());
                    let chosen = clusters.choose(idle);
                    prop_assert_eq!(chosen.is_some(), !allowed.is_empty());
                    let Some(chosen) = chosen else { continue };
                    prop_assert!(allowed.contains(&chosen));
                    let count = |of: u32| plain.iter().filter(|&&(_, owner, _)| owner == of).count();
                    if policy == BufferEviction::Fullest {
                        prop_assert_eq!(count(chosen), allowed.iter().map(|&of| count(of)).max().unwrap());
                    }
                    let mut members: Vec<u32> = clusters.members(chosen).collect();
                    members.sort_unstable();
                    let mut wanted: Vec<u32> = plain.iter().filter(|&&(_, owner, _)| owner == chosen).map(|&(id, ..)| id).collect();
                    wanted.sort_unstable();
                    prop_assert_eq!(members, wanted);
                }
            }
        }
    }
}
