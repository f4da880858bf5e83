//! Every block of a drive in eleven bytes, to be drawn many times a second, and the pages of one block.

use std::mem;

use drivelab_controller::{Device, DieWork, Scheduled, SolidStateDrive};
use drivelab_ftl::BlockUse;
use drivelab_nand::{BlockIndex, FlashArray};
use drivelab_sim::Nanos;

use crate::by_kind;
use crate::engine::Engine;
use crate::tile_marks::{MayHaveChanged, TileMarks};

/// A share that is the whole block.
const WHOLE: u64 = 255;
/// The stream of a block that takes none.
const NO_STREAM: u8 = 255;
/// The mode of a block that is erased.
const NO_MODE: u8 = 255;
/// Bytes of a block among changes; of all blocks each is [`INDEX_BYTES`] smaller.
const CHANGE_BYTES: usize = 15;
const INDEX_BYTES: usize = 4;
/// Of a block of which only the valid share has changed.
const VALID_BYTES: usize = 2;
/// Blocks between two of these that a byte doesn't tell.
const FAR: u32 = 255;

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
    /// Of each member.
    marks: Vec<TileMarks>,
}

/// What is to be drawn: all blocks, or those that have changed.
#[derive(Clone, Debug, Default)]
pub struct TileChanges {
    /// Blocks that are told in all columns.
    pub count: usize,
    /// Whether these are all blocks, which have no indices then.
    pub is_whole: bool,
    /// Further blocks of which only the valid share has changed: of a host that overwrites nearly all.
    pub valid_count: usize,
    /// Sequence number that the next program will have, of each member.
    pub next_sequences: Vec<u64>,
    /// How long each die has worked since power came or the drive was erased securely, by member and number.
    pub worked_ns: Vec<Nanos>,
    /// Columns one after the other, little-endian. Of `count` blocks: `index` (u32, of changes only), `born` (u32: the
    /// lowest bits of the sequence number of the first program), `erase_count` (u16, at most 65535), `valid` and
    /// `written` (u8, shares of what the block holds in its mode, in 255ths, rounded up), `role` (u8, a number of
    /// [`BlockRole`](drivelab_ftl::BlockRole)), `stream` (u8; 255: none), `mode` (u8, a number of
    /// [`CellMode`](drivelab_nand::CellMode); 255: erased). Of `valid_count` blocks in order: `valid`, and to the end
    /// how many blocks lie between each and the one before (u8; 255: so many, and as the next byte says).
    pub bytes: Vec<u8>,
}

/// Indices of blocks that have changed.
#[derive(Debug, Default)]
struct Changed {
    all_columns: Vec<u32>,
    /// In order.
    valid_only: Vec<u32>,
}

impl Tiles {
    /// What has changed since the last call, which counts as drawn; of the first one everything.
    #[must_use]
    pub fn changes(&mut self, engine: &Engine) -> TileChanges {
        let mut changes = TileChanges::default();
        let mut changed = Changed::default();
        let is_new = self.seen.is_empty();
        let mut first = 0;
        self.look_at(engine, &mut first, &mut changed, &mut changes);
        // Changes have an index each: of many of them all blocks are shorter.
        let room = self.seen.len() * (CHANGE_BYTES - INDEX_BYTES);
        let needed = changed.all_columns.len() * CHANGE_BYTES + changed.valid_only.len() * VALID_BYTES;
        changes.is_whole = is_new || needed > room;
        if changes.is_whole {
            changes.count = self.seen.len();
            changes.bytes = columns(self.seen.iter());
        } else {
            changes.count = changed.all_columns.len();
            changes.valid_count = changed.valid_only.len();
            changes.bytes = self.partial(&changed);
        }
        changes
    }

    /// Everything is sent again: whoever draws has begun anew.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    fn partial(&self, Changed { all_columns, valid_only }: &Changed) -> Vec<u8> {
        let seen = |&index: &u32| &self.seen[index as usize];
        let mut bytes: Vec<u8> = all_columns.iter().flat_map(|index| index.to_le_bytes()).collect();
        bytes.append(&mut columns(all_columns.iter().map(seen)));
        bytes.reserve(valid_only.len() * VALID_BYTES + self.seen.len() / FAR as usize);
        bytes.extend(valid_only.iter().map(|index| seen(index).valid));
        let mut next = 0;
        for &index in valid_only {
            let mut between = index - next;
            while between >= FAR {
                bytes.push(FAR as u8);
                between -= FAR;
            }
            bytes.push(between as u8);
            next = index + 1;
        }
        bytes
    }

    /// Looks at a drive, whose blocks begin at `first`, which goes on to what comes after it.
    fn look_at(
        &mut self,
        engine: &Engine,
        first: &mut u32,
        changed: &mut Changed,
        changes: &mut TileChanges,
    ) {
        by_kind!(engine,
            flash => {
                let member = changes.next_sequences.len();
                self.look_at_flash(flash.mapping(), (member, *first), changed);
                add_clocks(flash, changes);
                *first += block_count(flash);
            },
            _disk => {},
            array => array.members().for_each(|part| self.look_at(part.device(), first, changed, changes)));
    }

    /// Looks at a member whose blocks begin at `first`.
    fn look_at_flash<M: Scheduled>(
        &mut self,
        mapping: &M,
        (member, first): (usize, u32),
        changed: &mut Changed,
    ) {
        let look = Look::at(mapping);
        let each = || (0u32..).map(BlockIndex).zip(mapping.block_uses());
        let settled = mapping.settled_uses();
        if self.marks.len() == member {
            self.seen.extend(each().map(|(block, used)| look.tile(block, used)));
            let mut marks = TileMarks::default();
            if let Some(uses) = &settled {
                marks.renew(mapping, uses);
            }
            self.marks.push(marks);
            return;
        }
        let mut drawn = Drawn { seen: &mut self.seen[first as usize..], first, changed };
        let marks = &mut self.marks[member];
        let Some(uses) = settled.filter(|uses| marks.are_of(uses)) else {
            each().for_each(|(block, used)| drawn.take_in_order(block, look.tile(block, used)));
            return;
        };
        let no_longer = marks.take_unsettled(mapping, &uses).into_iter().map(|block| (block, uses.of(block)));
        for (block, used) in uses.unsettled.iter().copied().chain(no_longer) {
            drawn.take(block, look.tile(block, used));
        }
        let MayHaveChanged { by_mark, worked_on } = marks.take_changed(mapping, &uses);
        for block in worked_on.into_iter().map(BlockIndex) {
            drawn.take(block, look.tile(block, uses.of(block)));
        }
        for block in by_mark.into_iter().map(BlockIndex) {
            let (used, before) = (uses.of(block), drawn.seen[block.0 as usize]);
            let valid = look.valid_share(block, used);
            drawn.take_in_order(block, Tile { valid, role: used.role as u8, ..before });
        }
        debug_assert!(
            each().all(|(block, used)| drawn.seen[block.0 as usize] == look.tile(block, used)),
            "a block has changed, and its marks have not"
        );
    }
}

/// The blocks of a member as they were drawn, of which the first has the index `first`.
struct Drawn<'a> {
    seen: &'a mut [Tile],
    first: u32,
    changed: &'a mut Changed,
}

impl Drawn<'_> {
    fn take(&mut self, block: BlockIndex, now: Tile) {
        if mem::replace(&mut self.seen[block.0 as usize], now) != now {
            self.changed.all_columns.push(self.first + block.0);
        }
    }

    /// The same, where blocks come in order.
    #[inline]
    fn take_in_order(&mut self, block: BlockIndex, now: Tile) {
        let before = mem::replace(&mut self.seen[block.0 as usize], now);
        if before == now {
            return;
        }
        let is_valid_only = Tile { valid: now.valid, ..before } == now;
        let list = if is_valid_only { &mut self.changed.valid_only } else { &mut self.changed.all_columns };
        list.push(self.first + block.0);
    }
}

/// How blocks of a drive look.
struct Look<'a> {
    flash: &'a FlashArray,
    pages: u64,
    unit_bytes: u64,
}

impl<'a> Look<'a> {
    fn at<M: Scheduled>(mapping: &'a M) -> Self {
        let (geometry, flash) = (mapping.layout().geometry, mapping.flash());
        let pages = u64::from(geometry.pages_per_block);
        let block_bytes = pages * u64::from(geometry.program_bytes());
        Self { flash, pages, unit_bytes: block_bytes / u64::from(flash.layout().units_per_block) }
    }

    #[inline]
    fn valid_share(&self, block: BlockIndex, used: BlockUse) -> u8 {
        share(u64::from(used.valid_bytes), u64::from(self.flash.block_units(block)) * self.unit_bytes)
    }

    #[inline]
    fn tile(&self, block: BlockIndex, used: BlockUse) -> Tile {
        let written = self.flash.write_pointer(block);
        Tile {
            born: if written == 0 { 0 } else { self.flash.first_sequence(block) as u32 },
            erase_count: u16::try_from(self.flash.erase_count(block)).unwrap_or(u16::MAX),
            valid: self.valid_share(block, used),
            written: share(u64::from(written), self.pages),
            role: used.role as u8,
            stream: used.stream.unwrap_or(NO_STREAM),
            mode: self.flash.mode_of_data(block).map_or(NO_MODE, |mode| mode as u8),
        }
    }
}

fn block_count<M: Scheduled>(drive: &SolidStateDrive<M>) -> u32 {
    drive.mapping().layout().block_count()
}

fn add_clocks<M: Scheduled>(drive: &SolidStateDrive<M>, changes: &mut TileChanges) {
    changes.next_sequences.push(drive.mapping().flash().next_sequence());
    let now_ns = drive.now_ns();
    let worked = |work: DieWork| work.busy_ns.saturating_sub(work.busy_until_ns.saturating_sub(now_ns));
    changes.worked_ns.extend(drive.die_work().map(worked));
}

fn columns<'a>(tiles: impl ExactSizeIterator<Item = &'a Tile> + Clone) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(tiles.len() * (CHANGE_BYTES - INDEX_BYTES));
    bytes.extend(tiles.clone().flat_map(|tile| tile.born.to_le_bytes()));
    bytes.extend(tiles.clone().flat_map(|tile| tile.erase_count.to_le_bytes()));
    bytes.extend(tiles.clone().map(|tile| tile.valid));
    bytes.extend(tiles.clone().map(|tile| tile.written));
    bytes.extend(tiles.clone().map(|tile| tile.role));
    bytes.extend(tiles.clone().map(|tile| tile.stream));
    bytes.extend(tiles.map(|tile| tile.mode));
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
