//! A drive with its identity: what a laboratory or a server holds.

use std::sync::Arc;

use drivelab_controller::{Command, CommandError, Completion, Device, SolidStateDrive};
use drivelab_nand::{BlockIndex, Ppn};
use drivelab_sim::Nanos;
use serde_json::{Value, json};

use crate::build;
use crate::error::ModelError;
use crate::model::Model;

/// Version of the engine: results carry it.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// A drive. `clone` is a snapshot: an independent copy of the whole state.
#[derive(Clone, Debug)]
pub struct Drive {
    model: Arc<Model>,
    ssd: SolidStateDrive,
}

impl Drive {
    /// A new drive of a model. The seed decides everything that is random inside.
    ///
    /// # Errors
    /// [`ModelError`] for a model that makes no drive (parsing has already tried).
    pub fn new(model: Arc<Model>, seed: u64) -> Result<Self, ModelError> {
        Ok(Self { ssd: build::build(&model, seed)?, model })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The flash drive inside, to look at.
    #[must_use]
    pub fn ssd(&self) -> &SolidStateDrive {
        &self.ssd
    }

    /// Lets time pass without commands: idle-time cleaning may work.
    pub fn idle(&mut self, duration_ns: Nanos) {
        let until = self.ssd.now_ns().saturating_add(duration_ns);
        self.ssd.advance(until, &mut Vec::new());
    }

    /// Erases everything: the new state, except for wear. Commands still inside are completed unheard.
    pub fn secure_erase(&mut self) {
        let _completions = self.ssd.secure_erase();
    }

    /// Cumulative counters as a flat JSON object. Bytes of flash programs count whole pages, padding included.
    #[must_use]
    pub fn counters(&self) -> Value {
        let meters = self.ssd.meters();
        let ftl = self.ssd.ftl();
        let counts = ftl.counters();
        let layout = ftl.layout();
        let program_bytes = u64::from(layout.geometry.program_bytes()) * u64::from(layout.pages_per_unit);
        let wear = ftl.flash().erase_counts();
        let (least, most, sum) = wear.iter().fold((u32::MAX, 0, 0u64), |(least, most, sum), &count| {
            (least.min(count), most.max(count), sum + u64::from(count))
        });
        json!({
            "host_read_bytes": meters.host_read_bytes,
            "host_write_bytes": meters.host_write_bytes,
            "host_trim_bytes": meters.host_trim_bytes,
            "host_read_commands": meters.host_read_commands,
            "host_write_commands": meters.host_write_commands,
            "host_flush_commands": meters.host_flush_commands,
            "host_trim_commands": meters.host_trim_commands,
            "program_bytes_host": counts.programs_host * program_bytes,
            "program_bytes_cleaning": counts.programs_cleaning * program_bytes,
            "program_bytes_wear": counts.programs_wear * program_bytes,
            "program_bytes_map": counts.programs_map * program_bytes,
            "read_bytes_host": meters.read_bytes_host,
            "read_bytes_rmw": meters.read_bytes_rmw,
            "read_bytes_cleaning": meters.read_bytes_cleaning,
            "read_bytes_wear": meters.read_bytes_wear,
            "erases_cleaning": counts.erases_cleaning,
            "erases_wear": counts.erases_wear,
            "erases_map": counts.erases_map,
            "erases_secure": counts.erases_secure,
            "coalesced_bytes": meters.coalesced_bytes,
            "zero_read_bytes": meters.zero_read_bytes,
            "buffer_hit_bytes": meters.buffer_hit_bytes,
            "units_written_host": counts.units_host,
            "units_rmw": meters.units_rmw,
            "units_trimmed": counts.units_trimmed,
            "units_padded": counts.units_padded,
            "energy_nj": self.ssd.energy_nj(),
            "valid_units": ftl.valid_units(),
            "free_blocks": ftl.free_blocks(),
            "erase_count_min": least,
            "erase_count_max": most,
            "erase_count_mean": sum as f64 / wear.len() as f64,
        })
    }

    /// State of every page, for drives small enough to look at.
    #[must_use]
    pub fn page_states(&self) -> Value {
        let ftl = self.ssd.ftl();
        let layout = ftl.layout();
        let blocks = (0..layout.block_count()).map(BlockIndex).map(|block| {
            let first = layout.first_ppn(block).0;
            let pages =
                (first..first + layout.units_per_block).map(Ppn).map(|ppn| match ftl.flash().read(ppn) {
                    Err(_) => json!({ "state": "erased", "lpn": null }),
                    Ok(oob) => {
                        let state = if ftl.is_valid(ppn) { "valid" } else { "invalid" };
                        json!({ "state": state, "lpn": oob.lpn.map(|lpn| lpn.0) })
                    }
                });
            json!({
                "die": layout.die_of(block).0,
                "block": block.0,
                "erase_count": ftl.flash().erase_count(block),
                "pages": pages.collect::<Vec<_>>(),
            })
        });
        Value::Array(blocks.collect())
    }

    /// The model as JSON: identity, every parameter with unit and source, and what follows from them.
    #[must_use]
    pub fn describe(model: &Model) -> Value {
        let Ok(plan) = build::plan(model, 0) else { return Value::Null };
        let layout = plan.layout;
        let geometry = layout.geometry;
        let user_bytes = u64::from(plan.ftl.user_units) * u64::from(layout.unit_bytes);
        let raw_bytes = geometry.raw_bytes();
        let parameters: Vec<Value> = model
            .parameters()
            .map(|(parameter, sourced)| {
                json!({
                    "key": parameter.key,
                    "value": sourced.value,
                    "unit": parameter.unit,
                    "source": sourced.source,
                    "default": sourced.source.as_deref() == Some("default"),
                    "help": parameter.help,
                })
            })
            .collect();
        json!({
            "name": model.name(),
            "title": model.text("title"),
            "family": model.text("family"),
            "released": model.text("released"),
            "hash": model.hash(),
            "parameters": parameters,
            "derived": {
                "user_capacity_bytes": user_bytes,
                "raw_capacity_bytes": raw_bytes,
                "spare_bytes": raw_bytes - user_bytes,
                "spare_ratio": (raw_bytes - user_bytes) as f64 / user_bytes as f64,
                "die_count": geometry.die_count(),
                "block_bytes": u64::from(geometry.pages_per_block) * u64::from(geometry.program_bytes()),
                "map_units": plan.ftl.user_units,
                "queue_depth": plan.controller.queue_depth,
            },
        })
    }
}

impl Device for Drive {
    fn capacity_sectors(&self) -> u64 {
        self.ssd.capacity_sectors()
    }

    fn queue_depth(&self) -> u32 {
        self.ssd.queue_depth()
    }

    fn now_ns(&self) -> Nanos {
        self.ssd.now_ns()
    }

    #[inline]
    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        self.ssd.submit(now_ns, command)
    }

    fn next_event(&mut self) -> Option<Nanos> {
        self.ssd.next_event()
    }

    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        self.ssd.advance(until_ns, done);
    }

    #[inline]
    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        self.ssd.advance_to_completion(until_ns, done);
    }

    #[inline]
    fn prefetch(&self, lba: u64) {
        self.ssd.prefetch(lba);
    }
}
