//! What an array says about itself: its members' counters put together, and what follows from its parameters.

use drivelab_controller::{Device, SECTOR_BYTES};
use drivelab_ftl::Mapping;
use serde_json::{Map, Number, Value, json};

use crate::by_kind;
use crate::engine::{Array, Engine};
use crate::flash_report::add_spare_area;

impl Array {
    /// Cumulative counters as a flat JSON object: sums over the members, extremes of extremes, the mean of all blocks;
    /// traffic is the host's, not the pieces that members were asked for.
    #[must_use]
    pub fn counters(&self) -> Value {
        let mut all = Map::new();
        let members: Vec<Value> = self.members().map(|member| member.device().counters()).collect();
        for (key, value) in members.iter().filter_map(Value::as_object).flatten() {
            let joined = match all.get(key) {
                None => value.clone(),
                Some(before) => join(key, before, value),
            };
            all.insert(key.clone(), joined);
        }
        let (mut erases, mut count) = (0.0, 0.0);
        for (member, told) in self.members().zip(&members) {
            let blocks = block_count(member.device()) as f64;
            erases += blocks * told["erase_count_mean"].as_f64().unwrap_or(0.0);
            count += blocks;
        }
        if count > 0.0 {
            all.insert("erase_count_mean".to_owned(), json!(erases / count));
        }
        let meters = self.meters();
        if let Some(members_nj) = all.get("energy_nj").and_then(Value::as_u64) {
            all.insert("energy_nj".to_owned(), members_nj.saturating_add(self.energy_nj()).into());
        }
        for (key, value) in [
            ("host_read_bytes", meters.host.host_read_bytes),
            ("host_write_bytes", meters.host.host_write_bytes),
            ("host_read_commands", meters.host.host_read_commands),
            ("host_write_commands", meters.host.host_write_commands),
            ("host_flush_commands", meters.host.host_flush_commands),
            ("host_trim_commands", meters.host.host_trim_commands),
            ("host_trim_bytes", meters.host.host_trim_bytes),
            ("array_split_commands", meters.split_commands),
            ("array_dropped_trim_bytes", meters.dropped_trim_bytes),
        ] {
            all.insert(key.to_owned(), value.into());
        }
        Value::Object(all)
    }

    /// What follows from the parameters: capacities in bytes, counts. What is said of flash is of the members that have
    /// some, and of the user capacity that lies on them, `flash_user_bytes`.
    #[must_use]
    pub fn derived(&self) -> Value {
        let members: Vec<Value> = self.members().map(|member| member.device().derived()).collect();
        let of_flash = || members.iter().filter(|member| member["die_count"].as_u64() > Some(0));
        let sum = |key: &str| of_flash().filter_map(|member| member[key].as_u64()).sum::<u64>();
        let user_bytes = self.capacity_sectors() * SECTOR_BYTES;
        let mut found = json!({
            "user_capacity_bytes": user_bytes,
            "raw_capacity_bytes": user_bytes,
            "spare_bytes": 0,
            "spare_ratio": 0.0,
            "member_count": members.len(),
            "die_count": sum("die_count"),
            "map_units": sum("map_units"),
            "queue_depth": self.queue_depth(),
        });
        let share = |member: &Value| {
            let part = member["flash_user_bytes"].as_f64().zip(member["user_capacity_bytes"].as_f64());
            part.map_or(1.0, |(on_flash, all)| on_flash / all)
        };
        let share = of_flash().map(share).sum::<f64>() / members.len() as f64;
        if share == 0.0 {
            return found;
        }
        let flash_user_bytes = (user_bytes as f64 * share) as u64;
        if share < 1.0 {
            found["flash_user_bytes"] = flash_user_bytes.into();
        }
        add_spare_area(&mut found, sum("raw_capacity_bytes"), sum("held_back_bytes"), flash_user_bytes);
        found
    }
}

/// Blocks of all flash in a drive.
fn block_count(engine: &Engine) -> usize {
    by_kind!(
        engine,
        flash => flash.mapping().flash().erase_counts().len(),
        _disk => 0,
        array => array.members().map(|member| block_count(member.device())).sum(),
    )
}

fn join(key: &str, before: &Value, value: &Value) -> Value {
    match (before.as_u64(), value.as_u64()) {
        (Some(before), Some(value)) if key.ends_with("_min") => before.min(value).into(),
        (Some(before), Some(value)) if key.ends_with("_max") || key == "read_only" => {
            before.max(value).into()
        }
        (Some(before), Some(value)) => before.saturating_add(value).into(),
        _ => {
            let sum = before.as_f64().unwrap_or(0.0) + value.as_f64().unwrap_or(0.0);
            Number::from_f64(sum).map_or(Value::Null, Value::Number)
        }
    }
}
