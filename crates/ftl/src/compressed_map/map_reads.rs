//! Lines of the map that changes need from flash. No command waits for them, so each die reads its own between two jobs,
//! all that lie on one page at once. Until then the changes stay in memory beside the cache, which takes no more of them
//! than it has lines: host pages, which would bring more, wait.

use std::collections::VecDeque;

use drivelab_nand::DieIndex;
use serde::{Deserialize, Serialize};

use crate::log::LogPage;

/// Lines that are to be read, and where.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MapReads {
    /// Per line: the page that it must be read from, + 1; 0: it need not be read.
    page_of: Vec<LogPage>,
    /// Per die: lines and pages in the order in which they came. Those that say something else by now are passed over.
    queues: Vec<VecDeque<(u32, LogPage)>>,
    waiting_of_die: Vec<u32>,
    waiting: u32,
    pages_per_die: u32,
    /// Dies that were given a line since the controller asked last.
    called: Vec<DieIndex>,
}

impl MapReads {
    pub fn new(dies: u32, pages_per_die: u32, lines: u32) -> Self {
        Self {
            page_of: vec![0; lines as usize],
            queues: vec![VecDeque::new(); dies as usize],
            waiting_of_die: vec![0; dies as usize],
            waiting: 0,
            pages_per_die,
            called: Vec::new(),
        }
    }

    /// Lines that wait.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Whether a line waits.
    #[inline]
    pub fn is_waiting(&self, line: u32) -> bool {
        self.page_of[line as usize] != 0
    }

    /// Brings what is known of a line into the processor's cache.
    #[inline]
    pub fn prefetch(&self, line: u32) {
        drivelab_sim::prefetch(&self.page_of, line as usize);
    }

    /// The die of a page.
    #[inline]
    pub fn die_of(&self, page: LogPage) -> DieIndex {
        DieIndex(page / self.pages_per_die)
    }

    /// A line that does not wait yet is to be read.
    #[inline]
    pub fn push(&mut self, line: u32, page: LogPage) {
        debug_assert!(!self.is_waiting(line), "line {line} waits already");
        let die = self.die_of(page);
        self.page_of[line as usize] = page + 1;
        self.queues[die.0 as usize].push_back((line, page));
        self.waiting_of_die[die.0 as usize] += 1;
        self.waiting += 1;
        self.called.push(die);
    }

    /// The next die that was given a line.
    #[inline]
    pub fn take_called(&mut self) -> Option<DieIndex> {
        self.called.pop()
    }

    /// A line need not be read any more: it was, or it is gone. Where it was; `None`: it did not wait.
    #[inline]
    pub fn remove(&mut self, line: u32) -> Option<LogPage> {
        let page = std::mem::take(&mut self.page_of[line as usize]).checked_sub(1)?;
        let die = self.die_of(page).0 as usize;
        self.waiting -= 1;
        self.waiting_of_die[die] -= 1;
        if self.waiting_of_die[die] == 0 {
            self.queues[die].clear();
        }
        Some(page)
    }

    /// Takes the lines of the page of a die that has waited longest.
    #[inline]
    pub fn take_page(&mut self, die: DieIndex, out: &mut Vec<u32>) {
        out.clear();
        if self.waiting_of_die[die.0 as usize] == 0 {
            return;
        }
        let Self { page_of, queues, .. } = self;
        let queue = &mut queues[die.0 as usize];
        let waits = |&(line, page): &(u32, LogPage)| page_of[line as usize] == page + 1;
        while queue.front().is_some_and(|front| !waits(front)) {
            queue.pop_front();
        }
        if let Some(&(_, first)) = queue.front() {
            out.extend(queue.iter().filter(|entry| entry.1 == first && waits(entry)).map(|&(line, _)| line));
        }
        for &line in &*out {
            self.remove(line);
        }
    }

    /// Recounts the books.
    pub fn check(&self) -> Result<(), String> {
        let mut waiting = vec![0; self.waiting_of_die.len()];
        for (line, &page) in self.page_of.iter().enumerate().filter(|&(_, &page)| page > 0) {
            let die = self.die_of(page - 1).0 as usize;
            waiting[die] += 1;
            if !self.queues[die].contains(&(line as u32, page - 1)) {
                return Err(format!(
                    "line {line} of the map is to be read, but not in the queue of die {die}"
                ));
            }
        }
        if waiting != self.waiting_of_die || waiting.iter().sum::<u32>() != self.waiting {
            return Err(format!(
                "{waiting:?} lines of the map wait to be read, counted {:?}, {} in all",
                self.waiting_of_die, self.waiting
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_page_come_together_and_those_that_are_gone_do_not() {
        let mut reads = MapReads::new(2, 10, 100);
        for (line, page) in [(7, 3), (8, 4), (9, 3), (50, 13), (10, 3)] {
            reads.push(line, page);
        }
        assert_eq!(reads.remove(9), Some(3), "a command read it meanwhile");
        assert_eq!(reads.remove(9), None);
        let mut lines = Vec::new();
        reads.take_page(DieIndex(0), &mut lines);
        assert_eq!(lines, [7, 10]);
        assert_eq!((reads.waiting(), reads.is_waiting(8), reads.is_waiting(7)), (2, true, false));
        reads.push(7, 4);
        reads.take_page(DieIndex(0), &mut lines);
        assert_eq!(lines, [8, 7]);
        reads.take_page(DieIndex(0), &mut lines);
        assert!(lines.is_empty());
        reads.check().unwrap();
        reads.take_page(DieIndex(1), &mut lines);
        assert_eq!((lines.as_slice(), reads.waiting()), ([50].as_slice(), 0));
    }
}
