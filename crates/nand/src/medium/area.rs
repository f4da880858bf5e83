//! The two system areas, each a checkpoint and the log that goes on from it.
//!
//! A header of eight words: generation, state, sequence number that the checkpoint covers, log records, checkpoint
//! entries stored, sum over the entries, two of zero. Then the checkpoint: for each unit a half word, one more than the
//! number of the page that holds it, or 0. Then the log: three words for each record, the third one a check word.
//!
//! The area of the newest complete checkpoint is active: its log is appended to. Before there is one, the log of area 0
//! is. A new checkpoint goes to the other area and counts from its end on.

use std::ops::Range;

use drivelab_sim::rng::mix;

use super::Medium;
use super::error::MediumError;
use super::findings::Findings;
use super::shape::LOG_ENTRY_BYTES;
use super::state::AreaState;
use super::words::{commit, load, load_half, store, store_half, wipe};
use crate::op::Record;

const GENERATION: usize = 0;
const STATE: usize = 8;
const SEQUENCE: usize = 16;
const LOG_COUNT: usize = 24;
const ENTRIES: usize = 32;
const TABLE_SUM: usize = 40;

/// Part of a checkpoint's sum: entries may come in any order.
fn entry_sum(lpn: u32, entry: u32) -> u64 {
    mix(u64::from(lpn) << 32 | u64::from(entry))
}

/// What says that a log record is whole, and of this log.
fn log_check(generation: u64, index: u32, record: [u64; Record::WORDS]) -> u64 {
    mix(record[0] ^ mix(record[1] ^ mix(generation << 32 ^ u64::from(index))))
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Medium<B> {
    fn area_word(&self, area: usize, word: usize) -> u64 {
        load(self.bytes.as_ref(), self.layout.areas[area].head + word)
    }

    /// The state of an area; `None`: no such state.
    pub(super) fn area_state(&self, area: usize) -> Option<AreaState> {
        let word = self.area_word(area, STATE);
        [AreaState::Empty, AreaState::Building, AreaState::Complete, AreaState::Torn]
            .into_iter()
            .find(|&state| state as u64 == word)
    }

    pub(super) fn set_area_state(&mut self, area: usize, state: AreaState) {
        let at = self.layout.areas[area].head + STATE;
        commit(self.bytes.as_mut(), at, state as u64);
    }

    pub(super) fn is_complete(&self, area: usize) -> bool {
        self.area_state(area) == Some(AreaState::Complete)
    }

    /// Finds the area whose checkpoint is the newest complete one.
    pub(super) fn find_active(&mut self) {
        self.active = match (self.is_complete(0), self.is_complete(1)) {
            (true, true) => usize::from(self.area_word(1, GENERATION) > self.area_word(0, GENERATION)),
            (_, second) => usize::from(second),
        };
    }

    /// Records in the log of an area.
    pub(super) fn log_count(&self, area: usize) -> u32 {
        self.area_word(area, LOG_COUNT).min(u64::from(self.shape.log_records)) as u32
    }

    /// Records in the log.
    #[must_use]
    pub fn log_records(&self) -> u32 {
        self.log_count(self.active)
    }

    /// A record of an area's log; `None` if its check word doesn't fit.
    pub(super) fn log_record(&self, area: usize, index: u32) -> Option<[u64; Record::WORDS]> {
        let at = self.layout.areas[area].log + index as usize * LOG_ENTRY_BYTES;
        let bytes = self.bytes.as_ref();
        let record = [load(bytes, at), load(bytes, at + 8)];
        let check = log_check(self.area_word(area, GENERATION), index, record);
        (load(bytes, at + 16) == check).then_some(record)
    }

    pub(super) fn append_log(
        &mut self,
        area: usize,
        records: &[[u64; Record::WORDS]],
    ) -> Result<(), MediumError> {
        let count = self.log_count(area);
        let room = self.shape.log_records - count;
        if records.len() > room as usize {
            return Err(MediumError::LogFull { records: records.len(), room });
        }
        let generation = self.area_word(area, GENERATION);
        let place = self.layout.areas[area];
        let bytes = self.bytes.as_mut();
        for (index, &record) in (count..).zip(records) {
            let at = place.log + index as usize * LOG_ENTRY_BYTES;
            store(bytes, at, record[0]);
            store(bytes, at + 8, record[1]);
            store(bytes, at + 16, log_check(generation, index, record));
        }
        commit(bytes, place.head + LOG_COUNT, u64::from(count) + records.len() as u64);
        Ok(())
    }

    /// Where so many more log records of an area are stored.
    pub(super) fn touched_log(&self, area: usize, records: usize) -> [Range<usize>; 3] {
        let place = self.layout.areas[area];
        let count = self.log_count(area) as usize;
        let at = |index: usize| place.log + index.min(self.shape.log_records as usize) * LOG_ENTRY_BYTES;
        [place.head..place.table, at(count)..at(count.saturating_add(records)), 0..0]
    }

    /// Where entries of the checkpoint under construction are stored.
    pub(super) fn touched_table(&self, first: u32, entries: usize) -> [Range<usize>; 3] {
        let place = self.layout.areas[1 - self.active];
        let at = |entry: usize| place.table + entry.min(self.shape.user_units as usize) * 4;
        [place.head..place.table, at(first as usize)..at((first as usize).saturating_add(entries)), 0..0]
    }

    pub(super) fn area_under_construction(&self) -> Result<usize, MediumError> {
        let area = 1 - self.active;
        match self.area_state(area) {
            Some(AreaState::Building) => Ok(area),
            _ => Err(MediumError::NoCheckpoint),
        }
    }

    pub(super) fn begin_checkpoint(&mut self) {
        let area = 1 - self.active;
        let generation = self.area_word(self.active, GENERATION).saturating_add(1);
        self.set_area_state(area, AreaState::Building);
        let head = self.layout.areas[area].head;
        let bytes = self.bytes.as_mut();
        for (word, value) in
            [(GENERATION, generation), (SEQUENCE, 0), (LOG_COUNT, 0), (ENTRIES, 0), (TABLE_SUM, 0)]
        {
            store(bytes, head + word, value);
        }
    }

    pub(super) fn store_checkpoint(&mut self, first: u32, entries: &[u64]) -> Result<(), MediumError> {
        let area = self.area_under_construction()?;
        let end = u64::from(first) + entries.len() as u64;
        if end > u64::from(self.shape.user_units) {
            return Err(MediumError::CheckpointRange { first, end, user_units: self.shape.user_units });
        }
        let place = self.layout.areas[area];
        let mut sum = self.area_word(area, TABLE_SUM);
        let stored = self.area_word(area, ENTRIES).saturating_add(entries.len() as u64);
        let bytes = self.bytes.as_mut();
        for (lpn, &entry) in (first..).zip(entries) {
            store_half(bytes, place.table + lpn as usize * 4, entry as u32);
            sum = sum.wrapping_add(entry_sum(lpn, entry as u32));
        }
        store(bytes, place.head + TABLE_SUM, sum);
        store(bytes, place.head + ENTRIES, stored);
        Ok(())
    }

    pub(super) fn end_checkpoint(&mut self, sequence: u64) -> Result<(), MediumError> {
        let area = self.area_under_construction()?;
        let entries = self.area_word(area, ENTRIES);
        let user_units = self.shape.user_units;
        if entries != u64::from(user_units) {
            return Err(MediumError::CheckpointShort { entries, user_units });
        }
        if self.sum_of_table(area) != self.area_word(area, TABLE_SUM) {
            return Err(MediumError::CheckpointTwice);
        }
        let at = self.layout.areas[area].head + SEQUENCE;
        store(self.bytes.as_mut(), at, sequence);
        self.set_area_state(area, AreaState::Complete);
        self.active = area;
        Ok(())
    }

    /// The sum over an area's entries as they are.
    fn sum_of_table(&self, area: usize) -> u64 {
        let begin = self.layout.areas[area].table;
        let table = &self.bytes.as_ref()[begin..begin + self.shape.user_units as usize * 4];
        let (halves, _) = table.as_chunks::<4>();
        (0..)
            .zip(halves)
            .fold(0u64, |sum, (lpn, &half)| sum.wrapping_add(entry_sum(lpn, u32::from_le_bytes(half))))
    }

    /// Sequence number that an area's checkpoint covers.
    pub(super) fn covered(&self, area: usize) -> u64 {
        self.area_word(area, SEQUENCE)
    }

    /// Entry of a unit in an area's checkpoint.
    pub(super) fn table_entry(&self, area: usize, lpn: u32) -> u32 {
        load_half(self.bytes.as_ref(), self.layout.areas[area].table + lpn as usize * 4)
    }

    pub(super) fn wipe_areas(&mut self) {
        let begin = self.layout.areas[0].head;
        let end = self.layout.holds;
        wipe(self.bytes.as_mut(), begin..end);
    }

    /// What is wrong with the system areas. A drive that finds anything must not trust its map.
    pub fn check_areas(&self) -> Vec<String> {
        let mut wrong = Findings::default();
        self.find_in_areas(&mut wrong);
        wrong.into_lines()
    }

    pub(super) fn find_in_areas(&self, wrong: &mut Findings) {
        for area in 0..2 {
            if self.area_state(area).is_none() {
                let state = self.area_word(area, STATE);
                wrong.push(format!("system area {area}: state {state} is none"));
            }
            if self.is_complete(area) {
                self.check_table(area, wrong);
            }
        }
        if self.is_complete(0) && self.is_complete(1) {
            let generations = [0, 1].map(|area| self.area_word(area, GENERATION));
            if generations[0].abs_diff(generations[1]) != 1 {
                let [first, second] = generations;
                wrong
                    .push(format!("system areas of generations {first} and {second}: one follows the other"));
            }
        }
        let (count, room) = (self.area_word(self.active, LOG_COUNT), self.shape.log_records);
        if count > u64::from(room) {
            wrong.push(format!("the log has {count} records, but room for {room}"));
        }
        let active = self.active;
        if let Some(index) =
            (0..self.log_count(active)).find(|&index| self.log_record(active, index).is_none())
        {
            wrong.push(format!("log record {index} is damaged: its check word doesn't fit"));
        }
    }

    fn check_table(&self, area: usize, wrong: &mut Findings) {
        let units = self.shape.user_units;
        let entries = self.area_word(area, ENTRIES);
        if entries != u64::from(units) {
            wrong.push(format!("checkpoint {area} has {entries} entries of {units}"));
        }
        if self.sum_of_table(area) != self.area_word(area, TABLE_SUM) {
            wrong.push(format!("checkpoint {area} is damaged: its sum doesn't fit"));
        }
    }
}
