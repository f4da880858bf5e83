//! Every block of a drive in eleven bytes, to be drawn many times a second, and the pages of one block.

use std::mem;

use drivelab_controller::{Device, DieWork, Scheduled, SolidStateDrive};
use drivelab_nand::BlockIndex;
use drivelab_sim::Nanos;

use crate::by_kind;
use crate::engine::Engine;

/// A share that is the whole block.
const WHOLE: u64 = 255;
/// The stream of a block that takes none.
const NO_STREAM: u8 = 255;
/// The mode of a block that is erased.
const NO_MODE: u8 = 255;
/// Bytes of a block among changes; of all blocks each is [`INDEX_BYTES`] smaller.
const CHANGE_BYTES: usize = 15;
const INDEX_BYTES: usize = 4;

/// A block as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tile {
    /// The lowest 32 bits of the sequence number of its first program: ages up to 2^32 programs follow from it.
    born: u32,
    erase_count: u16,
    valid: u8,
    written: u8,
    role: u8,
    stream: u8,
    mode: u8,
}

/// A share in 255ths, rounded up. Most blocks are whole, and a division of 32 bits takes a fraction of one of 64.
#[inline]
fn share(part: u64, whole: u64) -> u8 {
    if part >= whole {
        return WHOLE as u8;
    }
    match (u32::try_from(part * WHOLE), u32::try_from(whole)) {
        (Ok(part), Ok(whole)) => part.div_ceil(whole) as u8,
        _ => (part * WHOLE).div_ceil(whole) as u8,
    }
}

/// All blocks as they were drawn last, by member, die and number.
#[derive(Clone, Debug, Default)]
pub struct Tiles {
    seen: Vec<Tile>,
    found: Vec<Tile>,
}

/// What is to be drawn: all blocks, or those that have changed.
#[derive(Clone, Debug, Default)]
pub struct TileChanges {
    /// How many.
    pub count: usize,
    /// Whether these are all blocks, which have no indices then.
    pub is_whole: bool,
    /// Sequence number that the next program will have, of each member.
    pub next_sequences: Vec<u64>,
    /// How long each die has worked since power came or the drive was erased securely, by member and number.
    pub worked_ns: Vec<Nanos>,
    /// Columns one after the other, little-endian: `index` (u32, of changes only), `born` (u32: the lowest bits of the
    /// sequence number of the first program), `erase_count` (u16, at most 65535), `valid` and `written` (u8, shares of
    /// what the block holds in its mode, in 255ths, rounded up), `role` (u8, a number of
    /// [`BlockRole`](drivelab_ftl::BlockRole)), `stream` (u8; 255: none), `mode` (u8, a number of
    /// [`CellMode`](drivelab_nand::CellMode); 255: erased).
    pub bytes: Vec<u8>,
}

impl Tiles {
    /// What has changed since the last call, which counts as drawn; of the first one everything.
    #[must_use]
    pub fn changes(&mut self, engine: &Engine) -> TileChanges {
        let mut changes = TileChanges::default();
        self.found.clear();
        self.add_engine(engine, &mut changes);
        let is_new = self.seen.len() != self.found.len();
        let changed = if is_new { Vec::new() } else { self.changed() };
        // Changes have an index each: of many of them all blocks are shorter.
        let room = self.found.len() * (CHANGE_BYTES - INDEX_BYTES);
        changes.is_whole = is_new || changed.len() * CHANGE_BYTES > room;
        changes.bytes = if changes.is_whole { columns(&self.found) } else { self.partial(&changed) };
        changes.count = if changes.is_whole { self.found.len() } else { changed.len() };
        mem::swap(&mut self.seen, &mut self.found);
        changes
    }

    /// Everything is sent again: whoever draws has begun anew.
    pub fn forget(&mut self) {
        self.seen.clear();
    }

    fn changed(&self) -> Vec<u32> {
        let pairs = (0u32..).zip(self.found.iter().zip(&self.seen));
        pairs.filter(|(_, (found, seen))| found != seen).map(|(index, _)| index).collect()
    }

    fn partial(&self, changed: &[u32]) -> Vec<u8> {
        let tiles: Vec<Tile> = changed.iter().map(|&index| self.found[index as usize]).collect();
        let mut bytes: Vec<u8> = changed.iter().flat_map(|index| index.to_le_bytes()).collect();
        bytes.append(&mut columns(&tiles));
        bytes
    }

    fn add_engine(&mut self, engine: &Engine, changes: &mut TileChanges) {
        by_kind!(engine,
            flash => self.add(flash, changes),
            _disk => {},
            array => array.members().for_each(|part| self.add_engine(part.device(), changes)));
    }

    fn add<M: Scheduled>(&mut self, drive: &SolidStateDrive<M>, changes: &mut TileChanges) {
        let mapping = drive.mapping();
        let (geometry, flash) = (mapping.layout().geometry, mapping.flash());
        let pages = u64::from(geometry.pages_per_block);
        let unit_bytes =
            pages * u64::from(geometry.program_bytes()) / u64::from(flash.layout().units_per_block);
        let uses = mapping.block_uses();
        let first = flash.first_sequences(0, uses.len() as u32);
        self.found.extend((0u32..).map(BlockIndex).zip(&uses).zip(first).map(|((block, used), &born)| {
            let written = flash.write_pointer(block);
            Tile {
                born: if written == 0 { 0 } else { born as u32 },
                erase_count: u16::try_from(flash.erase_count(block)).unwrap_or(u16::MAX),
                valid: share(u64::from(used.valid_bytes), u64::from(flash.block_units(block)) * unit_bytes),
                written: share(u64::from(written), pages),
                role: used.role as u8,
                stream: used.stream.unwrap_or(NO_STREAM),
                mode: flash.mode_of_data(block).map_or(NO_MODE, |mode| mode as u8),
            }
        }));
        changes.next_sequences.push(flash.next_sequence());
        let now_ns = drive.now_ns();
        let worked = |work: DieWork| work.busy_ns.saturating_sub(work.busy_until_ns.saturating_sub(now_ns));
        changes.worked_ns.extend(drive.die_work().map(worked));
    }
}

fn columns(tiles: &[Tile]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(tiles.len() * (CHANGE_BYTES - INDEX_BYTES));
    bytes.extend(tiles.iter().flat_map(|tile| tile.born.to_le_bytes()));
    bytes.extend(tiles.iter().flat_map(|tile| tile.erase_count.to_le_bytes()));
    bytes.extend(tiles.iter().map(|tile| tile.valid));
    bytes.extend(tiles.iter().map(|tile| tile.written));
    bytes.extend(tiles.iter().map(|tile| tile.role));
    bytes.extend(tiles.iter().map(|tile| tile.stream));
    bytes.extend(tiles.iter().map(|tile| tile.mode));
    bytes
}

/// The pages of a block in its mode, as columns of one length.
#[derive(Clone, Debug, Default)]
pub struct PageColumns {
    /// 0 erased, 1 valid, 2 invalid.
    pub state: Vec<u8>,
    /// The map unit that was written there; -1: none.
    pub lpn: Vec<i64>,
}

/// Units that take more room or less on the pages that they share, as columns of one length.
#[derive(Clone, Debug, Default)]
pub struct PieceColumns {
    /// The map unit.
    pub lpn: Vec<u32>,
    /// Block of the drive.
    pub block: Vec<u32>,
    /// Page of the block.
    pub page: Vec<u32>,
    /// Room that it takes there, in granules.
    pub granules: Vec<u32>,
    /// 1: it was trimmed, and takes its room all the same.
    pub trimmed: Vec<u8>,
}

impl Engine {
    /// Where every unit lies and what it takes, of a drive that compresses; of all others nothing.
    #[must_use]
    pub fn unit_pieces(&self) -> PieceColumns {
        by_kind!(self,
            flash => pieces_of(flash),
            _disk => PieceColumns::default(),
            _array => PieceColumns::default())
    }

    /// The pages of a block of a die of an array's member (0 of a single drive); `None`: there is no such block.
    #[must_use]
    pub fn block_pages(&self, member: u32, die: u32, block: u32) -> Option<PageColumns> {
        by_kind!(self,
            flash => if member == 0 { pages_of(flash, die, block) } else { None },
            _disk => None,
            array => array.members().nth(member as usize)?.device().block_pages(0, die, block))
    }
}

fn pages_of<M: Scheduled>(drive: &SolidStateDrive<M>, die: u32, block: u32) -> Option<PageColumns> {
    let mapping = drive.mapping();
    let layout = mapping.layout();
    if die >= layout.geometry.die_count() || block >= layout.geometry.blocks_per_die() {
        return None;
    }
    let index = BlockIndex(die * layout.geometry.blocks_per_die() + block);
    let mut pages = PageColumns::default();
    for ppn in mapping.flash().places(index) {
        let (state, lpn) = match mapping.flash().read(ppn) {
            Err(_) => (0, None),
            Ok(lpn) => (if mapping.is_valid(ppn) { 1 } else { 2 }, lpn),
        };
        pages.state.push(state);
        pages.lpn.push(lpn.map_or(-1, |lpn| i64::from(lpn.0)));
    }
    Some(pages)
}

fn pieces_of<M: Scheduled>(drive: &SolidStateDrive<M>) -> PieceColumns {
    let mapping = drive.mapping();
    let mut columns = PieceColumns::default();
    for piece in mapping.unit_pieces() {
        let block = mapping.layout().block_of(piece.place);
        columns.lpn.push(piece.lpn.0);
        columns.block.push(block.0);
        columns.page.push(piece.place.0 - mapping.layout().first_ppn(block).0);
        columns.granules.push(piece.granules);
        columns.trimmed.push(u8::from(piece.is_trimmed));
    }
    columns
}
