//! The inside of a drive as columns, to look at: every block and every die.

use drivelab_controller::{Device, Scheduled, SolidStateDrive};
use drivelab_ftl::BlockRole;
use drivelab_nand::{BlockIndex, CellMode, DieIndex};
use drivelab_sim::Nanos;

use crate::by_kind;
use crate::engine::Engine;

/// What is inside of a drive now. A hard disk has neither blocks nor dies; of an array all members are here.
#[derive(Clone, Debug, Default)]
pub struct Inside {
    /// Blocks, by member, die and number.
    pub blocks: BlockColumns,
    /// Dies, by member and number.
    pub dies: DieColumns,
}

/// Every block, as columns of one length.
#[derive(Clone, Debug, Default)]
pub struct BlockColumns {
    /// The array's member; 0 of a single drive.
    pub member: Vec<u32>,
    /// Die of the member. Dies that work in lockstep are one.
    pub die: Vec<u32>,
    /// Number on the die.
    pub block: Vec<u32>,
    /// A number of [`BlockRole`].
    pub role: Vec<u8>,
    /// The write stream that an open block takes; -1: none.
    pub stream: Vec<i16>,
    /// A number of [`CellMode`]; -1 of a block that is erased.
    pub mode: Vec<i8>,
    /// Bytes that hold current data, as they are stored.
    pub valid_bytes: Vec<u64>,
    /// The same as a share of what the block holds in its mode, 0 to 1.
    pub valid_share: Vec<f64>,
    /// Pages programmed since the last erase.
    pub written_pages: Vec<u32>,
    /// Erases since the drive was made.
    pub erase_count: Vec<u32>,
    /// Programs of the whole drive since the block's first page was programmed; 0 of a block that is erased.
    pub age_programs: Vec<u64>,
}

/// Every die, as columns of one length.
#[derive(Clone, Debug, Default)]
pub struct DieColumns {
    /// The array's member; 0 of a single drive.
    pub member: Vec<u32>,
    /// Die of the member.
    pub die: Vec<u32>,
    /// Channel that leads to it.
    pub channel: Vec<u32>,
    /// For how long from now on it is reserved.
    pub reserved_ns: Vec<Nanos>,
    /// How long it has worked since power came or the drive was erased securely.
    pub worked_ns: Vec<Nanos>,
    /// Blocks that are free.
    pub free_blocks: Vec<u32>,
    /// Bytes that hold current data, as they are stored.
    pub valid_bytes: Vec<u64>,
}

impl Inside {
    /// What is inside of a drive now.
    #[must_use]
    pub fn of(engine: &Engine) -> Self {
        let mut inside = Self::default();
        inside.add_engine(engine, &mut 0);
        inside
    }

    fn add_engine(&mut self, engine: &Engine, member: &mut u32) {
        by_kind!(engine,
            flash => self.add(flash, *member),
            _disk => {},
            array => return array.members().for_each(|part| self.add_engine(part.device(), member)));
        *member += 1;
    }

    fn add<M: Scheduled>(&mut self, drive: &SolidStateDrive<M>, member: u32) {
        let mapping = drive.mapping();
        let geometry = mapping.layout().geometry;
        let uses = mapping.block_uses();
        let by_die = uses.chunks(geometry.blocks_per_die() as usize);
        for ((die, blocks), work) in (0u32..).zip(by_die).zip(drive.die_work()) {
            let reserved_ns = work.busy_until_ns.saturating_sub(drive.now_ns());
            let free = blocks.iter().filter(|block| block.role == BlockRole::Free).count();
            let dies = &mut self.dies;
            dies.member.push(member);
            dies.die.push(die);
            dies.channel.push(mapping.layout().channel_of(DieIndex(die)));
            dies.reserved_ns.push(reserved_ns);
            dies.worked_ns.push(work.busy_ns.saturating_sub(reserved_ns));
            dies.free_blocks.push(free as u32);
            dies.valid_bytes.push(blocks.iter().map(|block| u64::from(block.valid_bytes)).sum());
        }
        let flash = mapping.flash();
        let block_bytes = f64::from(geometry.pages_per_block) * f64::from(geometry.program_bytes());
        let page_types = drive.config().word_lines.map_or(1, |lines| lines.page_types);
        let next = flash.next_sequence();
        let first = flash.first_sequences(0, uses.len() as u32);
        for ((number, block), &first) in (0u32..).zip(&uses).zip(first) {
            let index = BlockIndex(number);
            let mode = flash.mode_of_data(index);
            let held = f64::from(flash.block_units(index)) / f64::from(flash.layout().units_per_block);
            let pages_at_once = if mode == Some(CellMode::Slc) { 1 } else { page_types };
            let written = flash.write_pointer(index);
            let blocks = &mut self.blocks;
            blocks.member.push(member);
            blocks.die.push(number / geometry.blocks_per_die());
            blocks.block.push(number % geometry.blocks_per_die());
            blocks.role.push(block.role as u8);
            blocks.stream.push(block.stream.map_or(-1, i16::from));
            blocks.mode.push(mode.map_or(-1, |mode| mode as i8));
            blocks.valid_bytes.push(block.valid_bytes.into());
            blocks.valid_share.push(f64::from(block.valid_bytes) / (block_bytes * held));
            blocks.written_pages.push(written * pages_at_once);
            blocks.erase_count.push(flash.erase_count(index));
            blocks.age_programs.push(if written == 0 { 0 } else { next - first });
        }
    }
}
