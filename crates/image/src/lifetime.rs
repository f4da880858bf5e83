//! Counters over a drive's life: the engine counts from power-on, the image keeps what came before.

use drivelab_drive::faults::erase_histogram;
use drivelab_drive::{Drive, Model};
use drivelab_nand::BlockIndex;
use drivelab_nand::view::{BlockState, MediumView};
use serde_json::{Map, Value, json};

use crate::image::Image;
use crate::manifest::FORMAT_VERSION;
use crate::state::State;

/// Counters that say how things are, and so replace what was before.
fn is_level(key: &str) -> bool {
    const LEVELS: [&str; 8] = [
        "valid_units",
        "free_blocks",
        "block_count",
        "retired_blocks",
        "spare_blocks",
        "spare_blocks_new",
        "trim_unit_sectors",
        "write_amplification",
    ];
    LEVELS.contains(&key) || key.starts_with("erase_count_")
}

/// Counters of before and those since power-on, together.
pub(crate) fn add_counters(before: &Map<String, Value>, since: &Value) -> Map<String, Value> {
    let mut sum = before.clone();
    for (key, value) in since.as_object().into_iter().flatten() {
        let added = match (sum.get(key), value) {
            _ if is_level(key) => None,
            (Some(Value::Number(old)), Value::Number(new)) => match (old.as_u64(), new.as_u64()) {
                (Some(old), Some(new)) => Some(Value::from(old.saturating_add(new))),
                _ => Some(json!(old.as_f64().unwrap_or(0.0) + new.as_f64().unwrap_or(0.0))),
            },
            (Some(Value::Object(old)), Value::Object(_)) => Some(add_counters(old, value).into()),
            _ => None,
        };
        sum.insert(key.clone(), added.unwrap_or_else(|| value.clone()));
    }
    sum
}

/// What the flash itself knows of its wear, whenever counters were last saved.
pub(crate) fn levels_of_flash(media: &[&dyn MediumView]) -> Map<String, Value> {
    let blocks = media
        .iter()
        .flat_map(|medium| (0..medium.block_count()).map(|block| medium.block(BlockIndex(block))));
    let (mut counts, mut retired) = (Vec::new(), 0u64);
    for block in blocks {
        counts.push(block.erase_count);
        retired += u64::from(block.state == BlockState::Retired);
    }
    if counts.is_empty() {
        return Map::new();
    }
    let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let levels = json!({
        "erase_count_min": counts.iter().min(),
        "erase_count_mean": sum as f64 / counts.len() as f64,
        "erase_count_max": counts.iter().max(),
        "erase_count_histogram": erase_histogram(&counts),
        "retired_blocks": retired,
    });
    levels.as_object().cloned().unwrap_or_default()
}

/// Erases that the flash is made for, of an array the least of its members'.
fn endurance_cycles(model: &Model) -> Option<u64> {
    let of_members = model.members().iter().filter_map(|member| endurance_cycles(member)).min();
    model.optional_integer("flash.endurance_cycles").or(of_members)
}

/// Erases that the flash had behind it when the drive was new, of an array the most of its members'. Where no bits go wrong it has
/// no past: nothing follows from one.
fn erases_before(model: &Model) -> u64 {
    let own =
        if model.flag("flash.bit_errors") { model.optional_integer("flash.initial_cycles") } else { None };
    let of_members = model.members().iter().map(|member| erases_before(member)).max();
    own.or(of_members).unwrap_or(0)
}

/// What SMART tells, as a flat JSON object.
pub(crate) fn facts(image: &Image, drive: &Drive, state: &State) -> Value {
    let (manifest, model) = (image.manifest(), drive.model());
    let derived = &Drive::describe(model)["derived"];
    let mut facts = state.counters.clone();
    let bytes = |key: &str| state.counters.get(key).and_then(Value::as_f64);
    let amplification = match (bytes("flash_write_bytes"), bytes("host_write_bytes")) {
        (Some(flash), Some(host)) if host > 0.0 => Some(flash / host),
        _ => None,
    };
    let blocks: u64 = manifest.media.iter().map(|shape| u64::from(shape.blocks)).sum();
    let more = json!({
        "model": manifest.model_name,
        "title": model.title(),
        "firmware": manifest.model_name.split_once('@').map(|(_, firmware)| firmware),
        "model_hash": manifest.model_hash,
        "seed": manifest.seed,
        "serial": manifest.identity.serial,
        "uuid": manifest.identity.uuid,
        "engine_version": manifest.engine_version,
        "image_format": FORMAT_VERSION,
        "image_bytes_on_disk": image.bytes_on_disk().ok(),
        "user_capacity_bytes": derived["user_capacity_bytes"],
        "raw_capacity_bytes": derived["raw_capacity_bytes"],
        "block_count": blocks,
        "write_amplification": amplification,
        "power_on_ns": state.power_on_ns,
        "power_cycles": state.power_cycles,
        "unsafe_shutdowns": state.unsafe_shutdowns,
        "clean": state.is_clean,
        "counters_current": state.is_clean,
        "trim_supported": drive.engine().trim_unit_sectors().is_some(),
        "endurance_erases": endurance_cycles(model),
        "erases_before": erases_before(model),
        "map_unit_bytes": model.optional_integer("ftl.map_unit_bytes"),
        "rotation_rate": model.optional_integer("disk.rpm").unwrap_or(0),
    });
    facts.extend(more.as_object().cloned().unwrap_or_default());
    facts.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_levels_are_replaced() {
        let before = json!({"a": 3, "energy": 0.5, "valid_units": 9, "members": {"b": 1}, "gone": 7});
        let since = json!({"a": 4, "energy": 0.25, "valid_units": 2, "members": {"b": 2}, "new": 1});
        let sum = add_counters(before.as_object().unwrap(), &since);
        let expected =
            json!({"a": 7, "energy": 0.75, "valid_units": 2, "members": {"b": 3}, "new": 1, "gone": 7});
        assert_eq!(Value::from(sum), expected);
    }
}
