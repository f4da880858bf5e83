//! A drive under power whose flash and bytes are an image.

use std::path::Path;

use drivelab_controller::faults::{Fault, FaultKind, Trigger};
use drivelab_controller::{
    Command, CommandError, Completion, Device, Effects, FaultPlan, MountReport, Op, PowerCut, Unreadable,
};
use drivelab_drive::Drive;
use serde_json::{Map, Value};

use crate::content::ContentMeter;
use crate::error::ImageError;
use crate::image::{Access, Image};
use crate::lifetime::{add_counters, facts};
use crate::state::State;
use crate::store::HostData;

/// Drive time between two saves of the counters.
const SAVE_NS: u64 = 10_000_000_000;

/// A drive under power. Dropped without [`Self::standby`] it has lost its power.
#[derive(Debug)]
pub struct ImageDrive {
    image: Image,
    drive: Drive,
    effects: Effects,
    /// Of a drive that compresses.
    content: Option<ContentMeter>,
    report: MountReport,
    /// The counters of earlier times under power.
    before: State,
    saved_ns: u64,
    /// Where a plan of faults cuts the power.
    power_cut: Option<PowerCut>,
    /// Nothing is carried out any more: what the drive believes is not what the image holds.
    is_dead: bool,
    was_cut: bool,
}

impl ImageDrive {
    /// Opens an image and powers its drive on.
    ///
    /// # Errors
    /// [`ImageError`]; nothing has changed then.
    pub fn power_on(path: &Path) -> Result<Self, ImageError> {
        Self::power_on_with(path, &FaultPlan::default())
    }

    /// Opens an image and powers its drive on, and these faults happen from the first flash operation on: so the power
    /// may be gone again already.
    ///
    /// # Errors
    /// [`ImageError`]; nothing has changed then.
    pub fn power_on_with(path: &Path, faults: &FaultPlan) -> Result<Self, ImageError> {
        let image = Image::open(path, Access::Serve)?;
        let mut before = image.state().clone();
        before.power_cycles += 1;
        before.unsafe_shutdowns += u64::from(!before.is_clean);
        before.is_clean = false;
        let mut powered = Self::mount(image, before)?;
        if *faults != FaultPlan::default() {
            let refuse = |what| ImageError::Faults { path: path.to_owned(), what };
            powered.drive.set_faults(faults).map_err(refuse)?;
            powered.power_cut = powered.drive.power_cut();
        }
        powered.image.save(powered.before.clone())?;
        if powered.power_cut.is_some_and(|cut| cut.operation == 0) {
            powered.cut();
        }
        powered.carry_out(&mut NoCommands)?;
        Ok(powered)
    }

    /// The drive as it would be under power, only to look at: its image doesn't change.
    pub(crate) fn look(image: Image) -> Result<Self, ImageError> {
        let before = image.state().clone();
        Self::mount(image, before)
    }

    fn mount(mut image: Image, before: State) -> Result<Self, ImageError> {
        if let Some(line) = image.check_areas().first() {
            return Err(ImageError::damaged(image.path(), line));
        }
        let mounted = Drive::mount(image.model()?, image.manifest().seed, &image.media());
        let (drive, report) = mounted.map_err(|what| ImageError::damaged(image.path(), what))?;
        image.forget_copies();
        let effects = Effects::default();
        let content = drive.engine().content_unit_bytes().map(ContentMeter::new);
        Ok(Self {
            image,
            drive,
            effects,
            content,
            report,
            before,
            saved_ns: 0,
            power_cut: None,
            is_dead: false,
            was_cut: false,
        })
    }

    /// What the mount did.
    #[must_use]
    pub fn report(&self) -> &MountReport {
        &self.report
    }

    /// The drive.
    #[must_use]
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// The image.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The file may take at most so many bytes on disk from now on.
    pub fn limit(&mut self, bytes_max: u64) {
        self.image.limit(bytes_max);
    }

    /// Whether the host may write so many bytes more.
    pub fn has_room_for(&mut self, bytes: u64) -> bool {
        self.image.has_room_for(bytes)
    }

    /// Time that the drive has reached.
    #[must_use]
    pub fn drive_now_ns(&self) -> u64 {
        self.drive.now_ns()
    }

    /// Hands over a command; `data`: all of a write's, otherwise empty. Only drives that compress look at it here.
    ///
    /// # Errors
    /// [`CommandError`]; nothing has changed then.
    pub fn submit(&mut self, now_ns: u64, command: Command, data: &[u8]) -> Result<(), CommandError> {
        if let (Op::Write, Some(content)) = (command.op, &mut self.content) {
            let units = content.measure(command.lba, data);
            self.drive.set_unit_contents(command.tag, units);
        }
        self.drive.submit(now_ns, command)
    }

    /// When something next happens.
    pub fn next_event(&mut self) -> Option<u64> {
        if self.is_dead { None } else { self.drive.next_event() }
    }

    /// Lets time pass, also if nothing happens in it, carries out what the drive does, and appends completions. A
    /// checkpoint that is due is written; the drive's time is later than `until_ns` then, and completions may be.
    ///
    /// # Errors
    /// [`ImageError`]: from now on the power is off. Commands that were not completed before may not have happened.
    pub fn advance(
        &mut self,
        until_ns: u64,
        host: &mut impl HostData,
        done: &mut Vec<Completion>,
    ) -> Result<(), ImageError> {
        while !self.is_dead && self.drive.next_event().is_some_and(|event| event <= until_ns) {
            self.advance_to_completion(until_ns, host, done)?;
        }
        // An idle drive is under power, too.
        if !self.is_dead && self.drive.now_ns() < until_ns {
            self.advance_to_completion(until_ns, host, done)?;
        }
        Ok(())
    }

    /// As [`Self::advance`], but no further than to the next completion.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn advance_to_completion(
        &mut self,
        until_ns: u64,
        host: &mut impl HostData,
        done: &mut Vec<Completion>,
    ) -> Result<(), ImageError> {
        let heard = done.len();
        self.drive.advance_to_completion(until_ns, done);
        self.carry_out(host).inspect_err(|_| done.truncate(heard))?;
        if !self.is_dead && self.drive.engine().wants_checkpoint() {
            done.extend(self.drive.standby());
            self.carry_out(host).inspect_err(|_| done.truncate(heard))?;
        }
        if self.is_dead {
            // What was on its way when the power failed was not answered.
            done.truncate(heard);
        }
        // What the host has flushed outlives a power cut, and so does the count of it.
        let is_flushed = done[heard..].iter().any(|completion| completion.op == Op::Flush);
        if !self.is_dead && (is_flushed || self.drive.now_ns() >= self.saved_ns + SAVE_NS) {
            self.save(false)?;
        }
        Ok(())
    }

    /// Carries out what the drive has done, unless the power fails on the way.
    fn carry_out(&mut self, host: &mut impl HostData) -> Result<(), ImageError> {
        for medium in 0..self.image.stores().len() {
            self.drive.take_effects(medium, &mut self.effects);
            if self.is_dead {
                continue;
            }
            match self.image.carry_out(medium, &self.effects, self.power_cut, host) {
                Ok(false) => {}
                Ok(true) => (self.is_dead, self.was_cut) = (true, true),
                Err(error) => {
                    self.is_dead = true;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Goes to rest: commands are finished, everything is in flash, a checkpoint is written. Gives completions not heard
    /// of. The drive can go on.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn standby(&mut self, host: &mut impl HostData) -> Result<Vec<Completion>, ImageError> {
        if self.is_dead {
            return Ok(Vec::new());
        }
        let done = self.drive.standby();
        self.carry_out(host)?;
        Ok(if self.is_dead { Vec::new() } else { done })
    }

    /// Standby, and the power goes off. Gives whether the drive went to rest: its power may have been cut before, or on
    /// the way.
    ///
    /// # Errors
    /// As [`Self::advance`], or the image can't be written.
    pub fn power_off(mut self, host: &mut impl HostData) -> Result<bool, ImageError> {
        self.rest(host)
    }

    /// As [`Self::power_off`], and what the drive has done can still be asked for.
    ///
    /// # Errors
    /// As [`Self::power_off`].
    pub fn rest(&mut self, host: &mut impl HostData) -> Result<bool, ImageError> {
        self.standby(host)?;
        if self.is_dead {
            return Ok(false);
        }
        self.image.sync()?;
        self.save(true)?;
        self.image.sync()?;
        self.is_dead = true;
        Ok(true)
    }

    /// The power fails now: what flash has begun is torn.
    pub fn cut(&mut self) {
        (self.is_dead, self.was_cut) = (true, true);
        self.image.cut();
    }

    /// Whether the power was cut, by [`Self::cut`] or by a fault.
    #[must_use]
    pub fn was_cut(&self) -> bool {
        self.was_cut
    }

    /// These faults happen too, from now on; the power may be gone at once.
    ///
    /// # Errors
    /// A fault that this drive can't have, or whose time has passed, in one line that names it.
    pub fn add_faults(&mut self, plan: &FaultPlan) -> Result<(), String> {
        let begun = self.drive.flash_operations();
        let is_late = |fault: &Fault| match (fault.kind, fault.trigger) {
            (FaultKind::PowerCut { .. }, Trigger::Number(operation)) => operation <= begun,
            _ => false,
        };
        if let Some((index, fault)) = plan.faults.iter().enumerate().find(|(_, fault)| is_late(fault)) {
            let operation = fault.sheet.at_operation.unwrap_or_default();
            return Err(format!(
                "faults[{index}].at_operation = {operation}: must be greater than {begun}, the flash operations since \
                 power-on"
            ));
        }
        self.drive.add_faults(plan)?;
        self.power_cut = self.drive.power_cut();
        if self.power_cut.is_some_and(|cut| cut.operation == 0) {
            self.cut();
        }
        Ok(())
    }

    /// No more faults happen. What has failed stays so.
    pub fn clear_faults(&mut self) {
        self.drive.clear_faults();
        self.power_cut = None;
    }

    /// Sectors that reads could not give back since this was last asked.
    pub fn take_unreadable(&mut self) -> Vec<Unreadable> {
        self.drive.take_unreadable()
    }

    /// Whether the power is gone.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.is_dead
    }

    /// Erases everything, also in the file. Commands inside are completed unheard.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn secure_erase(&mut self) -> Result<(), ImageError> {
        self.carry_out(&mut NoCommands)?;
        self.drive.secure_erase();
        self.carry_out(&mut NoCommands)
    }

    /// Brings what was stored to the disk beneath.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn sync(&self) -> Result<(), ImageError> {
        self.image.sync()
    }

    /// The state as it is now.
    #[must_use]
    pub fn state(&self, is_clean: bool) -> State {
        State {
            is_clean,
            power_on_ns: self.before.power_on_ns + self.drive.now_ns(),
            counters: self.counters(),
            ..self.before.clone()
        }
    }

    /// Counters over the drive's life.
    #[must_use]
    pub fn counters(&self) -> Map<String, Value> {
        add_counters(&self.before.counters, &self.drive.smart())
    }

    /// What SMART tells, as a flat JSON object.
    #[must_use]
    pub fn facts(&self) -> Value {
        let mut told = facts(&self.image, &self.drive, &self.state(self.image.state().is_clean));
        told["counters_current"] = true.into();
        told
    }

    fn save(&mut self, is_clean: bool) -> Result<(), ImageError> {
        self.saved_ns = self.drive.now_ns();
        self.image.save(self.state(is_clean))
    }
}

/// No command is under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCommands;

impl HostData for NoCommands {
    fn written(&self, _: u32, _: u32, _: u32) -> Option<&[u8]> {
        None
    }

    fn to_read(&mut self, _: u32, _: u32, _: u32) -> Option<&mut [u8]> {
        None
    }
}
