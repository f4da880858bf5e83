//! Durable mode of drives of every family: effects, media, power cycles.

use drivelab_controller::{Completion, Effects, FlashShape, MountReport, UnitContent};
use drivelab_nand::Lpn;
use drivelab_nand::view::MediumView;

use crate::by_kind;
use crate::engine::Engine;

impl Engine {
    /// Why the drive forgets its data with its power, if it does.
    #[must_use]
    pub fn forgets(&self) -> Option<&'static str> {
        by_kind!(self, flash => flash.forgets(), disk => disk.forgets(), array => array.forgets())
    }

    /// Durable mode from now on: effects are recorded, and flash operations wait for one another so that a power cut
    /// loses nothing that was promised. Call it on a new drive.
    ///
    /// # Errors
    /// Why the drive forgets its data with its power.
    pub fn record_effects(&mut self) -> Result<(), &'static str> {
        by_kind!(self,
            flash => flash.record_effects(flash.flash_shape().log_records),
            disk => disk.record_effects(),
            array => array.record_effects())
    }

    /// How each medium of the drive is laid out: one, but for arrays.
    #[must_use]
    pub fn flash_shapes(&self) -> Vec<FlashShape> {
        by_kind!(self,
            flash => vec![flash.flash_shape()],
            disk => vec![disk.flash_shape()],
            array => array.flash_shapes())
    }

    /// How many media the drive has.
    #[must_use]
    pub fn media_count(&self) -> usize {
        match self {
            Self::Raid0(array) => array.members().map(|member| member.device().media_count()).sum(),
            _ => 1,
        }
    }

    /// The effects on one medium since they were last taken, instead of what `out` held. Tags are the host's.
    pub fn take_effects(&mut self, medium: usize, out: &mut Effects) {
        by_kind!(self,
            flash => flash.take_effects(out),
            disk => disk.take_effects(out),
            array => array.take_effects(medium, out));
    }

    /// Whether a checkpoint must be written ([`Self::standby`]).
    #[must_use]
    pub fn wants_checkpoint(&self) -> bool {
        by_kind!(self, flash => flash.wants_checkpoint(), _disk => false, array => array.wants_checkpoint())
    }

    /// Bytes of a map unit, if the drive wants to know what the data of writes is like
    /// ([`Self::set_unit_contents`]). Arrays don't: they cut commands.
    #[must_use]
    pub fn content_unit_bytes(&self) -> Option<u32> {
        by_kind!(self, flash => flash.content_unit_bytes(), _disk => None, _array => None)
    }

    /// What the data of the write is like that will be submitted next with this tag: unit by unit, from the first that
    /// it touches on. It takes precedence over the command's own `content`. In durable mode.
    pub fn set_unit_contents(&mut self, tag: u32, units: Vec<UnitContent>) {
        by_kind!(self, flash => flash.set_unit_contents(tag, units), _disk => drop(units), _array => drop(units));
    }

    /// Goes to rest: everything is in flash, and a checkpoint is written. Gives completions not heard of.
    pub fn standby(&mut self) -> Vec<Completion> {
        by_kind!(self, flash => flash.standby(), disk => disk.standby(), array => array.standby())
    }

    /// A new drive becomes what its media hold, in durable mode.
    ///
    /// # Errors
    /// Media that can't be this drive's, in words.
    pub fn mount(&mut self, media: &[&dyn MediumView]) -> Result<MountReport, String> {
        let wanted = self.media_count();
        let ([first, ..], true) = (media, media.len() == wanted) else {
            return Err(format!("the drive has {wanted} media, but {} were found", media.len()));
        };
        Ok(by_kind!(self,
            flash => flash.mount(*first, flash.flash_shape().log_records)?,
            disk => disk.record_effects().map(|()| MountReport::default())?,
            array => array.mount(media)?))
    }

    /// Units of a medium that hold something, each with its payload cell. In durable mode.
    #[must_use]
    pub fn live_cells(&self, medium: usize) -> Vec<(u32, u32)> {
        by_kind!(self,
            flash => flash.live_cells().map(|(lpn, cell)| (lpn.0, cell)).collect(),
            _disk => Vec::new(),
            array => array.live_cells(medium))
    }

    /// Units in a medium's write buffer, each with the payload cell of its newest complete version (`NO_CELL`: none) and of
    /// its newest. In durable mode; a disk has none.
    #[must_use]
    pub fn buffered_cells(&self, medium: usize) -> Vec<(u32, u32, u32)> {
        by_kind!(self,
            flash => flash.buffered_cells().into_iter().map(|(lpn, complete, newest)| (lpn.0, complete, newest)).collect(),
            _disk => Vec::new(),
            array => array.buffered_cells(medium))
    }

    /// Whether a payload cell is what a unit of a medium holds. In durable mode.
    #[must_use]
    pub fn holds_cell(&self, medium: usize, unit: u32, cell: u32) -> bool {
        by_kind!(self,
            flash => flash.holds_cell(Lpn(unit), cell),
            _disk => false,
            array => array.holds_cell(medium, unit, cell))
    }

    /// Whether a range that begins with this sector holds anything (otherwise it reads as zeros), and for how many of
    /// `sector_count` sectors at least that goes on. In durable mode.
    #[must_use]
    pub fn allocation(&self, lba: u64, sector_count: u64) -> (bool, u64) {
        by_kind!(self,
            flash => flash.allocation(lba, sector_count),
            _disk => (true, sector_count),
            array => array.allocation(lba, sector_count))
    }
}
