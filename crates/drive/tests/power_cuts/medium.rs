//! Flash that remembers, as plainly as it can be written down: pages, blocks, two system areas, what a capacitor keeps.
//! It refuses what flash can't do. Beside it are the payload cells.

use drivelab_controller::FlashShape;
use drivelab_nand::op::{FlashOp, NO_CELL, PageKind, Record};
use drivelab_nand::view::{BlockState, FoundBlock, FoundPage, MediumView};
use drivelab_nand::{BlockIndex, CellMode, Lpn};

use super::cells::Cells;

mod passes;
mod versions;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PageState {
    #[default]
    Erased,
    Programmed,
    Torn,
    /// It has had the first of two passes.
    Coarse,
}

#[derive(Clone, Copy, Debug, Default)]
struct Page {
    state: PageState,
    sequence: u64,
    kind: u8,
    mode: CellMode,
    /// Its records: the first, within the block, and how many.
    records: (u32, u32),
}

#[derive(Clone, Copy, Debug)]
struct Block {
    state: BlockState,
    erase_count: u32,
    /// Pages that are not erased.
    write_pointer: u32,
    /// Records of its pages.
    records: u32,
}

/// A system area: a checkpoint and the log after it.
#[derive(Clone, Debug, Default)]
struct Area {
    /// Last program that the checkpoint covers; `None`: it is no checkpoint (yet).
    covers: Option<u64>,
    entries: Vec<u32>,
    /// Entries that were written.
    written: u32,
    log: Vec<Record>,
}

/// The medium of one flash array.
#[derive(Debug)]
pub struct Medium {
    shape: FlashShape,
    blocks: Vec<Block>,
    pages: Vec<Page>,
    records: Vec<Record>,
    current: Area,
    building: Option<Area>,
    /// Units that a capacitor keeps, and their cells.
    held: Vec<(u32, u32)>,
    pub cells: Cells,
    /// Torn pages can be read (a medium that lies).
    pub shows_torn: bool,
    /// Torn erases look like finished ones (a medium that lies).
    pub hides_torn_erases: bool,
    /// Nothing says that a block has one bit a cell (a medium that lies).
    pub hides_modes: bool,
    /// Word lines between their passes can be read (a medium that lies).
    pub shows_coarse: bool,
    /// Word lines behind one that must have had their coarse pass before its fine one.
    pub held_word_lines: u32,
    /// Sequence numbers wrap at this (a medium that lies).
    pub wraps_at: Option<u64>,
}

impl Clone for Medium {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.shape);
        copy.clone_from(self);
        copy
    }

    /// Without new memory: there is a copy for every cut.
    fn clone_from(&mut self, other: &Self) {
        self.shape = other.shape;
        self.blocks.clone_from(&other.blocks);
        self.pages.clone_from(&other.pages);
        self.records.clone_from(&other.records);
        self.current.covers = other.current.covers;
        self.current.written = other.current.written;
        self.current.entries.clone_from(&other.current.entries);
        self.current.log.clone_from(&other.current.log);
        self.building.clone_from(&other.building);
        self.held.clone_from(&other.held);
        self.cells.clone_from(&other.cells);
        self.shows_torn = other.shows_torn;
        self.hides_torn_erases = other.hides_torn_erases;
        self.hides_modes = other.hides_modes;
        self.shows_coarse = other.shows_coarse;
        self.held_word_lines = other.held_word_lines;
        self.wraps_at = other.wraps_at;
    }
}

fn to_records(words: &[u64]) -> impl Iterator<Item = Record> + '_ {
    words.chunks_exact(Record::WORDS).map(|words| Record::from_words([words[0], words[1]]))
}

impl Medium {
    pub fn new(shape: FlashShape) -> Self {
        let block = Block { state: BlockState::Good, erase_count: 0, write_pointer: 0, records: 0 };
        Self {
            blocks: vec![block; shape.blocks as usize],
            pages: vec![Page::default(); (shape.blocks * shape.pages_per_block) as usize],
            records: vec![
                Record { lpn: Lpn(0), cell: 0, info: 0 };
                (shape.blocks * shape.records_per_block) as usize
            ],
            current: Area::default(),
            building: None,
            held: Vec::new(),
            cells: Cells::new(shape.cells, shape.cell_bytes / 512, shape.blocks == 0),
            shows_torn: false,
            hides_torn_erases: false,
            hides_modes: false,
            shows_coarse: false,
            held_word_lines: 0,
            wraps_at: None,
            shape,
        }
    }

    fn page_mut(&mut self, block: BlockIndex, page: u32) -> &mut Page {
        &mut self.pages[(block.0 * self.shape.pages_per_block + page) as usize]
    }

    fn page_at(&self, block: BlockIndex, page: u32) -> &Page {
        &self.pages[(block.0 * self.shape.pages_per_block + page) as usize]
    }

    /// An operation has ended.
    pub fn apply(&mut self, op: FlashOp, words: &[u64]) -> Result<(), String> {
        match op {
            FlashOp::Program { block, page, kind, mode, sequence } => {
                self.check_mode(block, mode)?;
                self.take_page(block, page)?;
                self.store_records(block, page, words)?;
                let place = self.page_mut(block, page);
                place.state = PageState::Programmed;
                place.sequence = sequence;
                place.kind = kind as u8;
                place.mode = mode;
                for record in to_records(words).filter(|record| record.cell != NO_CELL) {
                    self.cells.keep(record.cell);
                }
            }
            FlashOp::Coarse { block, page } => self.program_coarse(block, page, words)?,
            FlashOp::Fine { block, page, kind, sequence } => {
                self.program_fine((block, page), kind, sequence, words)?;
            }
            FlashOp::Erase { block } => {
                self.wipe(block);
                self.blocks[block.0 as usize].state = BlockState::Good;
                self.blocks[block.0 as usize].erase_count += 1;
            }
            FlashOp::Retire { block } => self.blocks[block.0 as usize].state = BlockState::Retired,
            FlashOp::Log => {
                self.current.log.extend(to_records(words));
                if self.current.log.len() > self.shape.log_records as usize {
                    let (records, room) = (self.current.log.len(), self.shape.log_records);
                    return Err(format!("{records} records in a log with room for {room}"));
                }
            }
            FlashOp::CheckpointBegin => {
                let entries = vec![0; self.shape.user_units as usize];
                self.building = Some(Area { entries, ..Area::default() });
            }
            FlashOp::Checkpoint { first_lpn } => {
                let area = self.building.as_mut().ok_or("a page of no checkpoint")?;
                for (entry, &word) in area.entries[first_lpn as usize..].iter_mut().zip(words) {
                    *entry = word as u32;
                }
                area.written += words.len() as u32;
            }
            FlashOp::CheckpointLog => {
                let area = self.building.as_mut().ok_or("the log of no checkpoint")?;
                area.log.extend(to_records(words));
            }
            FlashOp::CheckpointEnd { sequence } => {
                let mut area = self.building.take().ok_or("the end of no checkpoint")?;
                if area.written != self.shape.user_units {
                    let (written, units) = (area.written, self.shape.user_units);
                    return Err(format!("a checkpoint of {written} entries, but there are {units} units"));
                }
                area.covers = Some(sequence);
                self.current = area;
            }
        }
        Ok(())
    }

    /// The power fails during an operation. `words`: what it would have written, for a medium that lies.
    pub fn tear(&mut self, op: FlashOp, words: &[u64]) -> Result<(), String> {
        match op {
            FlashOp::Program { block, page, kind, mode, sequence } => {
                self.take_page(block, page)?;
                self.store_records(block, page, words)?;
                let place = self.page_mut(block, page);
                place.state = PageState::Torn;
                place.sequence = sequence;
                place.kind = kind as u8;
                place.mode = mode;
            }
            FlashOp::Coarse { block, page } => {
                self.take_page(block, page)?;
                self.store_records(block, page, &[])?;
                self.page_mut(block, page).state = PageState::Torn;
            }
            FlashOp::Fine { block, page, .. } => self.page_mut(block, page).state = PageState::Torn,
            FlashOp::Erase { block } => self.blocks[block.0 as usize].state = BlockState::TornErase,
            FlashOp::Retire { .. } | FlashOp::Log => {}
            FlashOp::CheckpointBegin
            | FlashOp::Checkpoint { .. }
            | FlashOp::CheckpointLog
            | FlashOp::CheckpointEnd { .. } => self.building = None,
        }
        Ok(())
    }

    /// All pages of a block have as many bits a cell.
    fn check_mode(&self, block: BlockIndex, mode: CellMode) -> Result<(), String> {
        let pages = (0..self.shape.pages_per_block).map(|page| self.page_at(block, page));
        let other = pages.filter(|page| page.state == PageState::Programmed).find(|page| page.mode != mode);
        match other {
            Some(page) => Err(format!(
                "block {} is programmed in {mode} mode, and in {} mode before",
                block.0, page.mode
            )),
            None => Ok(()),
        }
    }

    /// The next page of a block is used up.
    fn take_page(&mut self, block: BlockIndex, page: u32) -> Result<(), String> {
        let state = &mut self.blocks[block.0 as usize];
        if state.state != BlockState::Good {
            return Err(format!("block {} is programmed, but it is {:?}", block.0, state.state));
        }
        if page != state.write_pointer {
            return Err(format!(
                "block {}: page {page} is programmed, the next is {}",
                block.0, state.write_pointer
            ));
        }
        state.write_pointer += self.shape.pages_per_unit;
        if state.write_pointer > self.shape.pages_per_block {
            return Err(format!("block {}: page {page} is beyond its end", block.0));
        }
        Ok(())
    }

    fn store_records(&mut self, block: BlockIndex, page: u32, words: &[u64]) -> Result<(), String> {
        let count = (words.len() / Record::WORDS) as u32;
        let state = &mut self.blocks[block.0 as usize];
        let first = state.records;
        state.records += count;
        if state.records > self.shape.records_per_block {
            return Err(format!("block {} has more records than it has room for", block.0));
        }
        self.page_mut(block, page).records = (first, count);
        let at = (block.0 * self.shape.records_per_block + first) as usize;
        self.records[at..].iter_mut().zip(to_records(words)).for_each(|(place, record)| *place = record);
        Ok(())
    }

    /// The last program of a block has not happened after all.
    pub fn undo_program(&mut self, block: BlockIndex, page: u32) {
        let state = &mut self.blocks[block.0 as usize];
        if page + self.shape.pages_per_unit == state.write_pointer {
            state.write_pointer = page;
            let (_, records) = std::mem::take(self.page_mut(block, page)).records;
            self.blocks[block.0 as usize].records -= records;
        }
    }

    fn wipe(&mut self, block: BlockIndex) {
        for page in 0..self.shape.pages_per_block {
            *self.page_mut(block, page) = Page::default();
        }
        self.blocks[block.0 as usize].write_pointer = 0;
        self.blocks[block.0 as usize].records = 0;
    }

    /// Nothing is left, but wear.
    pub fn secure_erase(&mut self) {
        for block in (0..self.shape.blocks).map(BlockIndex) {
            if self.blocks[block.0 as usize].write_pointer > 0 {
                self.blocks[block.0 as usize].erase_count += 1;
            }
            self.wipe(block);
        }
        self.current = Area::default();
        self.building = None;
        self.held.clear();
        self.cells.free_all();
    }

    pub fn hold(&mut self, lpn: u32, cell: u32) -> Result<(), String> {
        self.held.retain(|&(held, _)| held != lpn);
        self.held.push((lpn, cell));
        self.cells.keep(cell);
        let (held, room) = (self.held.len(), self.shape.held_units as usize);
        if held > room { Err(format!("{held} units are held, the capacitor keeps {room}")) } else { Ok(()) }
    }

    pub fn unhold(&mut self, lpn: u32, cell: u32) {
        self.held.retain(|&held| held != (lpn, cell));
    }

    /// The capacitor keeps nothing (one that has dried out).
    pub fn forget_held(&mut self) {
        self.held.clear();
    }

    fn records_of(&self, block: BlockIndex, page: &Page) -> &[Record] {
        let first = (block.0 * self.shape.records_per_block + page.records.0) as usize;
        &self.records[first..first + page.records.1 as usize]
    }

    fn wrapped(&self, sequence: u64) -> u64 {
        self.wraps_at.map_or(sequence, |wraps| sequence % wraps)
    }
}

impl MediumView for Medium {
    fn block_count(&self) -> u32 {
        self.shape.blocks
    }

    fn block(&self, block: BlockIndex) -> FoundBlock {
        let Block { mut state, erase_count, mut write_pointer, .. } = self.blocks[block.0 as usize];
        if state == BlockState::TornErase {
            if self.hides_torn_erases {
                state = BlockState::Good;
                write_pointer = 0;
            } else {
                write_pointer =
                    self.shape.pages_per_block / self.shape.pages_per_unit * self.shape.pages_per_unit;
            }
        }
        FoundBlock { state, erase_count, write_pointer }
    }

    fn page(&self, block: BlockIndex, page: u32) -> Option<FoundPage> {
        if self.blocks[block.0 as usize].state == BlockState::TornErase {
            return None;
        }
        let place = self.page_at(block, page);
        match place.state {
            PageState::Programmed => {}
            PageState::Torn if self.shows_torn => {}
            PageState::Coarse if self.shows_coarse => {}
            _ => return None,
        }
        let mode = if self.hides_modes { CellMode::Native } else { place.mode };
        let kind = PageKind::from_byte(place.kind)?;
        Some(FoundPage { sequence: self.wrapped(place.sequence), kind, mode })
    }

    fn records(&self, block: BlockIndex, page: u32, out: &mut Vec<Record>) {
        out.extend_from_slice(self.records_of(block, self.page_at(block, page)));
    }

    fn checkpoint_sequence(&self) -> Option<u64> {
        self.current.covers.map(|sequence| self.wrapped(sequence))
    }

    fn checkpoint_entry(&self, lpn: u32) -> u32 {
        self.current.entries.get(lpn as usize).copied().unwrap_or(0)
    }

    fn log(&self, out: &mut Vec<Record>) {
        out.extend_from_slice(&self.current.log);
    }

    fn held(&self, out: &mut Vec<(u32, u32)>) {
        out.extend_from_slice(&self.held);
    }
}
