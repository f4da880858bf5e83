//! What a recovery reads of a drive's flash, in memory and without the host's bytes: for drives that are looked at while
//! they work, and whose power can be cut.

use std::sync::Arc;

use drivelab_controller::{Completion, Effect, Effects, MountReport};
use drivelab_drive::{Drive, Model};
use drivelab_nand::BlockIndex;
use drivelab_nand::op::NO_CELL;
use drivelab_nand::view::MediumView;

use crate::drive::NoCommands;
use crate::room::Unlimited;
use crate::store::Store;

/// A unit that was in the write buffer when the power failed.
#[derive(Clone, Copy, Debug)]
struct Buffered {
    medium: usize,
    unit: u32,
    /// The newest version of it whose data was complete, or [`NO_CELL`].
    complete: u32,
    /// The newest version.
    newest: u32,
}

/// What a power cut met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Units in the write buffer whose data was complete there.
    pub complete_units: u64,
    /// Units in the write buffer whose data was still on its way.
    pub arriving_units: u64,
    /// Programs of pages that were broken off.
    pub torn_programs: u64,
    /// Erases of blocks that were broken off.
    pub torn_erases: u64,
}

/// What was left after a power cut, and what the drive did when the power came back.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    /// What the mount did.
    pub report: MountReport,
    /// Of each block of each medium, in order: whether all its pages were read.
    pub blocks_read: Vec<bool>,
    /// Units whose newest data was in the write buffer only and is gone, although it was complete there.
    pub lost_units: u64,
}

/// The flash of a drive as a recovery would find it.
#[derive(Clone, Debug)]
pub struct KeptFlash {
    stores: Vec<Store<Vec<u8>, Unlimited>>,
    effects: Effects,
    /// When the power failed: what was in the write buffer.
    buffered: Vec<Buffered>,
    is_on: bool,
    failure: Option<String>,
}

impl KeptFlash {
    /// Keeps the flash of a new drive from now on.
    ///
    /// # Errors
    /// Why the drive forgets its data with its power, that it isn't new, or that it has flash that can't be kept.
    pub fn of(drive: &mut Drive) -> Result<Self, String> {
        drive.record_effects()?;
        let shapes = drive.engine().flash_shapes();
        let stores: Result<Vec<_>, _> = shapes.iter().map(Store::without_bytes).collect();
        let stores = stores.map_err(|error| error.to_string())?;
        Ok(Self { stores, effects: Effects::default(), buffered: Vec::new(), is_on: true, failure: None })
    }

    /// Bytes of memory that this takes for a drive.
    #[must_use]
    pub fn bytes_for(drive: &Drive) -> u64 {
        drive.engine().flash_shapes().iter().map(|shape| shape.medium().bytes()).sum()
    }

    /// Whether the drive has power.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// What has gone wrong since this was last asked.
    pub fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// What the drive has done happens to its flash; a checkpoint that is due is written, which may complete commands.
    pub fn follow(&mut self, drive: &mut Drive, done: &mut Vec<Completion>) {
        self.carry_out(drive);
        if drive.engine().wants_checkpoint() {
            self.rest(drive, done);
        }
    }

    /// The drive goes to rest: all is in flash, and a checkpoint of the map is written.
    pub fn rest(&mut self, drive: &mut Drive, done: &mut Vec<Completion>) {
        done.extend(drive.standby());
        self.carry_out(drive);
    }

    fn carry_out(&mut self, drive: &mut Drive) {
        // Which sectors a read could not give back: nobody asks where no bytes are kept.
        drop(drive.take_unreadable());
        for (medium, store) in self.stores.iter_mut().enumerate() {
            drive.take_effects(medium, &mut self.effects);
            for &effect in &self.effects.list {
                // Bytes that nobody keeps need no moving.
                if !matches!(
                    effect,
                    Effect::Fill { .. } | Effect::Send { .. } | Effect::Copy { .. } | Effect::Free { .. }
                ) && let Err(error) = store.carry_out_one(effect, &self.effects, &mut NoCommands)
                {
                    self.failure.get_or_insert(error.to_string());
                }
            }
        }
    }

    /// The power fails now: what flash has begun is torn.
    pub fn cut(&mut self, drive: &mut Drive) -> Cut {
        self.carry_out(drive);
        let engine = drive.engine();
        let of = |medium: usize| {
            let found = engine.buffered_cells(medium).into_iter();
            found.map(move |(unit, complete, newest)| Buffered { medium, unit, complete, newest })
        };
        self.buffered = (0..self.stores.len()).flat_map(of).collect();
        let count = |of: fn(&Buffered) -> bool| self.buffered.iter().filter(|unit| of(unit)).count() as u64;
        let mut cut = Cut {
            complete_units: count(|unit| unit.complete != NO_CELL),
            arriving_units: count(|unit| unit.complete != unit.newest),
            ..Cut::default()
        };
        for store in &mut self.stores {
            let (programs, erases) = store.cut();
            cut.torn_programs += programs;
            cut.torn_erases += erases;
        }
        self.is_on = false;
        cut
    }

    /// The power comes back: the drive becomes what its flash holds.
    ///
    /// # Errors
    /// Flash that can't be this drive's.
    pub fn mount(&mut self, model: Arc<Model>, seed: u64) -> Result<(Drive, Recovery), String> {
        let media: Vec<&dyn MediumView> =
            self.stores.iter().map(|store| -> &dyn MediumView { store.medium() }).collect();
        let blocks_read = media.iter().flat_map(|&medium| read_of(medium)).collect();
        let (mut drive, report) = Drive::mount(model, seed, &media)?;
        let engine = drive.engine();
        let holds = |unit: &Buffered, cell| engine.holds_cell(unit.medium, unit.unit, cell);
        let is_lost = |unit: &&Buffered| {
            unit.complete != NO_CELL && !holds(unit, unit.complete) && !holds(unit, unit.newest)
        };
        let lost_units = self.buffered.iter().filter(is_lost).count() as u64;
        self.buffered.clear();
        self.is_on = true;
        self.carry_out(&mut drive);
        Ok((drive, Recovery { report, blocks_read, lost_units }))
    }
}

/// Of each block whether the out-of-band data of all its pages is read: something was programmed there since the
/// checkpoint. Of the others the last page says that nothing was.
fn read_of(medium: &dyn MediumView) -> impl Iterator<Item = bool> {
    let covered = medium.checkpoint_sequence();
    (0..medium.block_count()).map(BlockIndex).map(move |block| {
        let pages = 0..medium.block(block).write_pointer;
        let last = pages.rev().find_map(|page| medium.page(block, page));
        last.is_some_and(|page| covered.is_none_or(|covered| page.sequence > covered))
    })
}
