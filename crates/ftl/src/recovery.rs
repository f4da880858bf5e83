//! What a drive finds out after the power comes back: where the newest version of every unit lies.
//!
//! The newest complete checkpoint says what was true when it was written; pages programmed later say what has changed
//! since, the program with the highest sequence number counts; logged trims drop what is older than they are. Torn
//! pages hold nothing. Each mapping scheme then builds its own state from that.

use drivelab_nand::op::Record;
use drivelab_nand::view::MediumView;
use drivelab_nand::{BlockIndex, Lpn};

/// Kind of a log record: units that the host has trimmed.
pub const LOG_TRIM: u64 = 0;

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
    let covered = medium.checkpoint_sequence();
    let mut found = Recovered {
        medium,
        page_of: vec![0; user_units as usize],
        last_sequence: covered.unwrap_or(0),
        log: Vec::new(),
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
        }
    }
    let mut records = Vec::new();
    for block in (0..medium.block_count()).map(BlockIndex) {
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
    found.drop_trimmed(&newest)?;
    Ok(found)
}

impl Recovered<'_> {
    /// Applies the logged trims.
    fn drop_trimmed(&mut self, newest: &[u64]) -> Result<(), String> {
        let units = self.page_of.len() as u64;
        for record in &self.log {
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
            for (page, &programmed) in self.page_of[units.clone()].iter_mut().zip(&newest[units]) {
                if programmed < sequence {
                    *page = 0;
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
