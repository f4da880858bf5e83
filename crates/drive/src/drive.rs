//! A drive with its identity: what a laboratory or a server holds.

use std::sync::Arc;

use drivelab_controller::{
    Command, CommandError, Completion, Device, Effects, MountReport, QueueClass, SECTOR_BYTES, UnitContent,
};
use drivelab_nand::view::MediumView;
use drivelab_sim::Nanos;
use drivelab_sim::time::LATEST;
use serde_json::{Value, json};

use crate::build;
use crate::engine::Engine;
use crate::error::ModelError;
use crate::flash_report::add_spare_area;
use crate::gauges::Gauges;
use crate::model::{Model, Sourced};
use crate::parameters::Parameter;
use crate::partition::Partition;
use crate::timeline::TimelineColumns;

/// Version of the engine: results carry it.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// A drive. `clone` is a snapshot: an independent copy of the whole state.
#[derive(Clone, Debug)]
pub struct Drive {
    model: Arc<Model>,
    engine: Partition<Engine>,
}

impl Drive {
    /// A new drive of a model. The seed decides everything that is random inside.
    ///
    /// # Errors
    /// [`ModelError`] for a model that makes no drive (parsing has already tried).
    pub fn new(model: Arc<Model>, seed: u64) -> Result<Self, ModelError> {
        Ok(Self { engine: build::partitioned(&model, seed)?, model })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The drive inside, to look at.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        self.engine.device()
    }

    /// The drive inside, to change.
    pub(crate) fn engine_mut(&mut self) -> &mut Engine {
        self.engine.device_mut()
    }

    pub(crate) fn partition(&self) -> &Partition<Engine> {
        &self.engine
    }

    pub(crate) fn of_partition(model: Arc<Model>, engine: Partition<Engine>) -> Self {
        Self { model, engine }
    }

    /// Notes from now on what dies and buses do: [`Engine::record_timeline`].
    pub fn record_timeline(&mut self, from_ns: Nanos, until_ns: Nanos, most: usize) {
        self.engine_mut().record_timeline(from_ns, until_ns, most);
    }

    /// What has been noted; nothing is from now on.
    pub fn take_timeline(&mut self) -> TimelineColumns {
        self.engine_mut().take_timeline()
    }

    /// Lets time pass without commands: idle-time cleaning may work.
    pub fn idle(&mut self, duration_ns: Nanos) {
        let until = self.engine.now_ns().saturating_add(duration_ns);
        self.engine.advance(until, &mut Vec::new());
    }

    /// Erases everything: the new state, except for wear. Commands still inside are completed unheard.
    pub fn secure_erase(&mut self) {
        self.engine.device_mut().secure_erase();
    }

    /// Durable mode from now on: see [`Engine::record_effects`]. Call it on a new drive.
    ///
    /// # Errors
    /// Why the drive forgets its data with its power, or that it isn't new: its medium would lack what was before.
    pub fn record_effects(&mut self) -> Result<(), &'static str> {
        if self.now_ns() > 0 || self.engine().outstanding() > 0 {
            return Err(
                "time has passed for it, or commands are inside: durable mode begins with a new drive",
            );
        }
        self.engine.device_mut().record_effects()
    }

    /// The effects on one medium since they were last taken, instead of what `out` held. Tags are the host's.
    pub fn take_effects(&mut self, medium: usize, out: &mut Effects) {
        self.engine.device_mut().take_effects(medium, out);
    }

    /// What the data of the write is like that will be submitted next with this tag: [`Engine::set_unit_contents`].
    pub fn set_unit_contents(&mut self, tag: u32, units: Vec<UnitContent>) {
        self.engine.device_mut().set_unit_contents(tag, units);
    }

    /// Goes to rest: everything is in flash, and a checkpoint is written. Gives completions not heard of.
    pub fn standby(&mut self) -> Vec<Completion> {
        self.engine.device_mut().standby()
    }

    /// A drive of a model that becomes what its media hold, in durable mode.
    ///
    /// # Errors
    /// A model that makes no drive, or media that can't be its own, in words.
    pub fn mount(
        model: Arc<Model>,
        seed: u64,
        media: &[&dyn MediumView],
    ) -> Result<(Self, MountReport), String> {
        let mut drive = Self::new(model, seed).map_err(|error| error.to_string())?;
        let report = drive.engine.device_mut().mount(media)?;
        Ok((drive, report))
    }

    /// Cumulative counters as a flat JSON object. Bytes of flash programs count whole pages, padding included.
    #[must_use]
    pub fn counters(&self) -> Value {
        self.engine.device().counters()
    }

    /// The few numbers that are read often.
    #[must_use]
    pub fn gauges(&self) -> Gauges {
        Gauges::of(self.engine.device())
    }

    /// State of every page, for drives small enough to look at.
    #[must_use]
    pub fn page_states(&self) -> Value {
        self.engine.device().page_states()
    }

    /// The model as JSON: identity, every parameter with unit and source, those without a default that it leaves out, and
    /// what follows from them. Of an array `left_out` is what the array itself could state.
    #[must_use]
    pub fn describe(model: &Model) -> Value {
        let Ok(drive) = build::partitioned(model, 0) else { return Value::Null };
        let mut derived = derived(&drive);
        derived["write_buffer_bytes"] = write_buffer_bytes(model).into();
        json!({
            "name": model.name(),
            "title": model.text("title"),
            "family": model.family().word(),
            "released": model.text("released"),
            "hash": model.hash(),
            "parameters": rows(model, ""),
            "left_out": model.left_out().map(|parameter| row(parameter, "")).collect::<Vec<_>>(),
            "derived": derived,
            "scale_remarks": model.scale_remarks(),
        })
    }
}

/// Every parameter of a model, with its key after a prefix, and of its members, once where they are alike.
fn rows(model: &Model, prefix: &str) -> Vec<Value> {
    let stated = |(parameter, sourced): (&Parameter, &Sourced)| {
        let mut row = row(parameter, prefix);
        row["value"] = sourced.value.clone();
        row["source"] = json!(sourced.source);
        row["default"] = sourced.is_default().into();
        row
    };
    let mut found: Vec<Value> = model.parameters().map(stated).collect();
    let members = model.members();
    if let Some(first) = members.first()
        && members.iter().all(|member| member.hash() == first.hash())
    {
        found.extend(rows(first, &format!("{prefix}member.")));
    } else {
        let each = members.iter().enumerate();
        found.extend(each.flat_map(|(index, member)| rows(member, &format!("{prefix}members[{index}]."))));
    }
    found
}

/// What a parameter is, whatever its value, with its key after a prefix.
fn row(parameter: &Parameter, prefix: &str) -> Value {
    json!({
        "key": format!("{prefix}{}", parameter.key),
        "unit": parameter.unit,
        "help": parameter.help,
        "allowed": parameter.kind.allowed().trim_start_matches("must be "),
    })
}

/// What write buffers hold, of an array those of all its drives.
fn write_buffer_bytes(model: &Model) -> u64 {
    let of_members = || model.members().iter().map(|member| write_buffer_bytes(member)).sum();
    model.optional_integer("write_buffer.size_bytes").unwrap_or_else(of_members)
}

/// What follows from the parameters; what lies outside the partition is spare area.
fn derived(drive: &Partition<Engine>) -> Value {
    let mut derived = drive.device().derived();
    let trim_unit_bytes = drive.device().trim_unit_sectors().map(|sectors| u64::from(sectors) * SECTOR_BYTES);
    derived["trim_unit_bytes"] = trim_unit_bytes.into();
    let whole_bytes = drive.device().capacity_sectors() * SECTOR_BYTES;
    let user_bytes = drive.capacity_sectors() * SECTOR_BYTES;
    if user_bytes < whole_bytes {
        derived["user_capacity_bytes"] = user_bytes.into();
        derived["drive_capacity_bytes"] = whole_bytes.into();
        let number = |key: &str| derived[key].as_u64();
        if let (Some(raw_bytes), Some(held_back_bytes)) =
            (number("raw_capacity_bytes"), number("held_back_bytes"))
        {
            let on_flash = number("flash_user_bytes")
                .map(|bytes| (bytes as f64 * user_bytes as f64 / whole_bytes as f64) as u64);
            if let Some(bytes) = on_flash {
                derived["flash_user_bytes"] = bytes.into();
            }
            add_spare_area(&mut derived, raw_bytes, held_back_bytes, on_flash.unwrap_or(user_bytes));
        }
    }
    derived
}

impl Device for Drive {
    fn capacity_sectors(&self) -> u64 {
        self.engine.capacity_sectors()
    }

    fn queue_depth(&self) -> u32 {
        self.engine.queue_depth()
    }

    fn queue_count(&self) -> u32 {
        self.engine.queue_count()
    }

    fn queue_lengths(&self) -> Vec<u32> {
        self.engine.queue_lengths()
    }

    fn set_queue_classes(&mut self, classes: &[QueueClass]) {
        self.engine.set_queue_classes(classes);
    }

    fn max_transfer_sectors(&self) -> u32 {
        self.engine.max_transfer_sectors()
    }

    fn now_ns(&self) -> Nanos {
        self.engine.now_ns()
    }

    #[inline]
    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        // Members of an array are handed over theirs later than the array.
        if now_ns > LATEST {
            return Err(CommandError::TooLate { now_ns });
        }
        self.engine.submit(now_ns, command)
    }

    fn next_event(&mut self) -> Option<Nanos> {
        self.engine.next_event()
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        self.engine.advance(until_ns, done);
    }

    #[inline]
    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        self.engine.advance_to_completion(until_ns, done);
    }

    #[inline]
    fn prefetch(&self, lba: u64) {
        self.engine.prefetch(lba);
    }
}
