//! What a drive finds out after the power comes back: where the newest version of every unit lies.
//!
//! The newest complete checkpoint says what was true when it was written; pages programmed later say what has changed
//! since, the program with the highest sequence number counts; logged trims drop what is older than they are. Versions
//! whose page may be erased are in the log themselves. Torn pages hold nothing. Each mapping scheme then builds its own state from that.

use drivelab_nand::op::Record;
use drivelab_nand::view::MediumView;
use drivelab_nand::{BlockIndex, Lpn};

/// Kind of a log record: units that the host has trimmed.
pub const LOG_TRIM: u64 = 0;
/// Kind of a log record: as many records as it counts follow, each a version of its unit that was current after the
/// program before this sequence number, and whose page may have been erased since.
pub const LOG_VERSIONS: u64 = 1;

/// The information word of a log record: what happened to data older than this sequence number.
#[must_use]
pub fn log_info(sequence: u64, kind: u64) -> u64 {
    sequence << 8 | kind
}

/// Sequence number and kind of a log record.
#[must_use]
pub fn log_parts(info: u64) -> (u64, u64) {
    (info >> 8, info & 0xFF)
}

/// What was found.
pub struct Recovered<'a> {
    /// The medium, to read records from.
    pub medium: &'a dyn MediumView,
    /// One more than the number of the page that holds the newest version of each unit (block times pages per block,
    /// plus page); 0: none.
    pub page_of: Vec<u32>,
    /// Sequence number of the last program found.
    pub last_sequence: u64,
    /// Records of the log, in order.
    pub log: Vec<Record>,
    /// One more than the index of the log's record that is the newest version of each unit; 0: none is. Empty: none is
    /// of any unit.
    logged: Vec<u32>,
    /// Pages whose out-of-band data was read.
    pub pages_read: u64,
    /// Blocks that the checkpoint covered whole, so that only their first and last pages were looked at.
    pub blocks_skipped: u32,
}

/// Reads a medium.
///
/// # Errors
/// Records that can't be of this drive, in words.
pub fn recover(
    medium: &dyn MediumView,
    user_units: u32,
    pages_per_block: u32,
) -> Result<Recovered<'_>, String> {
    recover_without(medium, user_units, pages_per_block, |_| false)
}

/// Reads a medium as if some blocks were erased.
///
/// # Errors
/// As [`recover`].
pub fn recover_without(
    medium: &dyn MediumView,
    user_units: u32,
    pages_per_block: u32,
    is_left_out: impl Fn(BlockIndex) -> bool,
) -> Result<Recovered<'_>, String> {
    let covered = medium.checkpoint_sequence();
    let mut found = Recovered {
        medium,
        page_of: vec![0; user_units as usize],
        last_sequence: covered.unwrap_or(0),
        log: Vec::new(),
        logged: Vec::new(),
        pages_read: 0,
        blocks_skipped: 0,
    };
    // Entries of the checkpoint count as older than anything programmed after it.
    let mut newest = vec![0u64; user_units as usize];
    if covered.is_some() {
        for (lpn, entry) in found.page_of.iter_mut().enumerate() {
            *entry = medium.checkpoint_entry(lpn as u32);
            if *entry > medium.block_count() * pages_per_block {
                return Err(format!("the checkpoint says that unit {lpn} is on page {entry}, which is none"));
            }
            if entry.checked_sub(1).is_some_and(|page| is_left_out(BlockIndex(page / pages_per_block))) {
                *entry = 0;
            }
        }
    }
    let mut records = Vec::new();
    for block in (0..medium.block_count()).map(BlockIndex).filter(|&block| !is_left_out(block)) {
        let state = medium.block(block);
        let last = (0..state.write_pointer).rev().find_map(|page| medium.page(block, page));
        if last.is_none_or(|page| covered.is_some_and(|covered| page.sequence <= covered)) {
            found.blocks_skipped += 1;
            continue;
        }
        for page in 0..state.write_pointer {
            let Some(head) = medium.page(block, page) else { continue };
            found.pages_read += 1;
            found.last_sequence = found.last_sequence.max(head.sequence);
            if covered.is_some_and(|covered| head.sequence <= covered) {
                continue;
            }
            records.clear();
            medium.records(block, page, &mut records);
            let number = block.0 * pages_per_block + page + 1;
            for record in records.iter().filter(|record| record.lpn != Lpn::PADDING) {
                let Some(sequence) = newest.get_mut(record.lpn.0 as usize) else {
                    return Err(format!(
                        "page {page} of block {} holds unit {}, but there are {user_units} units",
                        block.0, record.lpn.0
                    ));
                };
                if head.sequence >= *sequence {
                    *sequence = head.sequence;
                    found.page_of[record.lpn.0 as usize] = number;
                }
            }
        }
    }
    medium.log(&mut found.log);
    found.take_logged(&mut newest)?;
    found.drop_trimmed(&newest)?;
    Ok(found)
}

impl Recovered<'_> {
    /// The sequence number of the last page of a block that can be read, or 0.
    pub(crate) fn last_sequence_of(&self, block: BlockIndex) -> u64 {
        let mut pages = (0..self.medium.block(block).write_pointer).rev();
        pages.find_map(|page| self.medium.page(block, page)).map_or(0, |page| page.sequence)
    }

    /// The record of the log, if the newest version of a unit is there.
    #[must_use]
    pub fn logged(&self, lpn: u32) -> Option<Record> {
        let index = self.logged.get(lpn as usize)?.checked_sub(1)?;
        self.log.get(index as usize).copied()
    }

    /// The record that heads an entry of the log, and the index of the next entry's.
    fn entry(&self, index: usize) -> Result<(Record, usize), String> {
        let head = self.log[index];
        let more = if log_parts(head.info).1 == LOG_VERSIONS { head.cell as usize } else { 0 };
        let next = index + 1 + more;
        if next > self.log.len() {
            let left = self.log.len() - index - 1;
            return Err(format!("the log should go on with {more} records, but {left} are left"));
        }
        Ok((head, next))
    }

    /// Takes the versions of units that the log holds.
    fn take_logged(&mut self, newest: &mut [u64]) -> Result<(), String> {
        let mut index = 0;
        while index < self.log.len() {
            let (head, next) = self.entry(index)?;
            let (sequence, kind) = log_parts(head.info);
            if kind == LOG_VERSIONS {
                self.logged.resize(newest.len(), 0);
                let programmed = sequence.saturating_sub(1);
                for at in index + 1..next {
                    let lpn = self.log[at].lpn.0;
                    let Some(known) = newest.get_mut(lpn as usize) else {
                        return Err(format!("the log has unit {lpn}, but there are {} units", newest.len()));
                    };
                    if programmed > *known {
                        *known = programmed;
                        self.page_of[lpn as usize] = 0;
                        self.logged[lpn as usize] = at as u32 + 1;
                    }
                }
            }
            index = next;
        }
        Ok(())
    }

    /// Applies the logged trims.
    fn drop_trimmed(&mut self, newest: &[u64]) -> Result<(), String> {
        let units = self.page_of.len() as u64;
        let mut index = 0;
        while index < self.log.len() {
            let (record, next) = self.entry(index)?;
            index = next;
            let (sequence, kind) = log_parts(record.info);
            self.last_sequence = self.last_sequence.max(sequence.saturating_sub(1));
            if kind != LOG_TRIM {
                continue;
            }
            let end = u64::from(record.lpn.0) + u64::from(record.cell);
            if end > units {
                return Err(format!("the log has a trim up to unit {end}, but there are {units} units"));
            }
            let units = record.lpn.0 as usize..end as usize;
            for (lpn, _) in units.clone().zip(&newest[units]).filter(|&(_, &newest)| newest < sequence) {
                self.page_of[lpn] = 0;
                if let Some(logged) = self.logged.get_mut(lpn) {
                    *logged = 0;
                }
            }
        }
        Ok(())
    }

    /// The place of a unit's newest record: block, page, and which record of the page; and the record.
    ///
    /// # Errors
    /// The page that should hold the unit doesn't.
    pub fn locate(
        &self,
        lpn: u32,
        pages_per_block: u32,
        scratch: &mut Vec<Record>,
    ) -> Result<Option<(BlockIndex, u32, u32, Record)>, String> {
        let Some(number) = self.page_of[lpn as usize].checked_sub(1) else { return Ok(None) };
        let (block, page) = (BlockIndex(number / pages_per_block), number % pages_per_block);
        scratch.clear();
        if self.medium.page(block, page).is_some() {
            self.medium.records(block, page, scratch);
        }
        match scratch.iter().rposition(|record| record.lpn.0 == lpn) {
            Some(index) => Ok(Some((block, page, index as u32, scratch[index]))),
            None => Err(format!("unit {lpn} should be on page {page} of block {}, but is not", block.0)),
        }
    }
}
