//! What a flash drive of any mapping scheme says about itself: counters, pages, what follows from its parameters.

use drivelab_controller::{Device, SECTOR_BYTES, Scheduled, SolidStateDrive};
use drivelab_ftl::BadBlocks;
use drivelab_nand::BlockIndex;
use serde_json::{Value, json};

/// Sectors of the unit that a trim frees only whole, if trims have an effect.
pub fn trim_unit_sectors<M: Scheduled>(drive: &SolidStateDrive<M>) -> Option<u32> {
    drive.mapping().takes_trims().then(|| drive.mapping().sectors_per_unit())
}

/// Cumulative counters as a flat JSON object. Bytes of flash programs count whole pages, padding included. Some schemes
/// have counters of their own, as a drive with an SLC cache has, and one whose bits go wrong.
pub fn counters<M: Scheduled>(drive: &SolidStateDrive<M>) -> Value {
    let meters = drive.meters();
    let ftl = drive.mapping();
    let counts = ftl.counters();
    let layout = ftl.layout();
    let program_bytes = u64::from(layout.geometry.program_bytes()) * u64::from(layout.pages_per_unit);
    let slc_page_bytes = slc_page_bytes(drive);
    let (host, map) = slc_programs(drive);
    let less = program_bytes - slc_page_bytes;
    let wear = ftl.flash().erase_counts();
    let (least, most, sum) = wear.iter().fold((u32::MAX, 0, 0u64), |(least, most, sum), &count| {
        (least.min(count), most.max(count), sum + u64::from(count))
    });
    let mut found = json!({
        "host_read_bytes": meters.host.host_read_bytes,
        "host_write_bytes": meters.host.host_write_bytes,
        "host_trim_bytes": meters.host.host_trim_bytes,
        "host_read_commands": meters.host.host_read_commands,
        "host_write_commands": meters.host.host_write_commands,
        "host_flush_commands": meters.host.host_flush_commands,
        "host_trim_commands": meters.host.host_trim_commands,
        "program_bytes_host": counts.programs_host * program_bytes - host * less,
        "program_bytes_cleaning": counts.programs_cleaning * program_bytes,
        "program_bytes_wear": counts.programs_wear * program_bytes,
        "program_bytes_map": counts.programs_map * program_bytes - map * less,
        "program_bytes_parity": counts.programs_parity * program_bytes,
        "read_bytes_host": meters.read_bytes_host,
        "read_bytes_rmw": meters.read_bytes_rmw,
        "read_bytes_map": meters.read_bytes_map,
        "read_bytes_cleaning": meters.read_bytes_cleaning,
        "read_bytes_wear": meters.read_bytes_wear,
        "erases_cleaning": counts.erases_cleaning,
        "erases_wear": counts.erases_wear,
        "erases_map": counts.erases_map,
        "erases_secure": counts.erases_secure,
        "coalesced_bytes": meters.coalesced_bytes,
        "buffer_trimmed_bytes": meters.buffer_trimmed_bytes,
        "zero_read_bytes": meters.zero_read_bytes,
        "buffer_hit_bytes": meters.buffer_hit_bytes,
        "units_written_host": counts.units_host,
        "units_rmw": meters.units_rmw,
        "units_trimmed": counts.units_trimmed,
        "units_padded": counts.units_padded,
        "valid_units": ftl.valid_units(),
        "free_blocks": ftl.free_blocks(),
        "erase_count_min": least,
        "erase_count_max": most,
        "erase_count_mean": sum as f64 / wear.len() as f64,
    });
    for (name, count) in ftl.own_counters() {
        found[name] = count.into();
    }
    if drive.config().power.is_known() {
        found["energy_nj"] = drive.energy_nj().into();
    }
    if let Some(cache) = ftl.slc_cache() {
        found["program_bytes_slc"] = (host * slc_page_bytes).into();
        found["program_bytes_folding"] = (counts.programs_folding * program_bytes).into();
        found["read_bytes_folding"] = meters.read_bytes_folding.into();
        found["erases_folding"] = counts.erases_folding.into();
        found["slc_cache_bytes"] = (u64::from(cache.used_blocks) * cache.block_bytes).into();
    }
    if drive.wears_out() {
        let faults = drive.fault_counters();
        found["read_retries"] = faults.read_retries.into();
        found["corrected_codewords"] = faults.corrected_codewords.into();
        found["uncorrectable_codewords"] = faults.uncorrectable_codewords.into();
        found["read_errors"] = faults.read_errors.into();
        found["refused_commands"] = (faults.refused_commands + faults.failed_commands).into();
        found["blocks_refreshed"] = faults.blocks_refreshed.into();
        found["blocks_retired"] = ftl.bad_blocks().map_or(0, BadBlocks::retired).into();
        found["read_only"] = u8::from(drive.is_read_only()).into();
    }
    found
}

/// Bytes of a page of the SLC cache; of all planes of a die, as native ones. Native ones, where there is no cache.
pub fn slc_page_bytes<M: Scheduled>(drive: &SolidStateDrive<M>) -> u64 {
    let layout = drive.mapping().layout();
    let page_bytes = u64::from(layout.geometry.program_bytes()) * u64::from(layout.pages_per_unit);
    drive.mapping().slc_cache().map_or(page_bytes, |cache| page_bytes / u64::from(cache.bits))
}

/// Of the programs for the host and for the map those with one bit a cell: the map's journal is of such blocks, where there
/// are any; lines of a map that lies in flash are not.
pub fn slc_programs<M: Scheduled>(drive: &SolidStateDrive<M>) -> (u64, u64) {
    let ftl = drive.mapping();
    let has_journal = ftl.slc_cache().is_some() && ftl.map_log_fill_ratio().is_none();
    (ftl.counters().programs_slc, if has_journal { ftl.counters().programs_map } else { 0 })
}

/// State of every page, for drives small enough to look at. A block with one bit a cell has fewer of them.
pub fn page_states<M: Scheduled>(drive: &SolidStateDrive<M>) -> Value {
    let ftl = drive.mapping();
    let layout = ftl.layout();
    let blocks = (0..layout.block_count()).map(BlockIndex).map(|block| {
        let pages = ftl.flash().places(block).map(|ppn| match ftl.flash().read(ppn) {
            Err(_) => json!({ "state": "erased", "lpn": null }),
            Ok(lpn) => {
                let state = if ftl.is_valid(ppn) { "valid" } else { "invalid" };
                json!({ "state": state, "lpn": lpn.map(|lpn| lpn.0) })
            }
        });
        json!({
            "die": layout.die_of(block).0,
            "block": block.0,
            "mode": ftl.flash().mode_of_data(block).map(|mode| mode.to_string()),
            "erase_count": ftl.flash().erase_count(block),
            "pages": pages.collect::<Vec<_>>(),
        })
    });
    Value::Array(blocks.collect())
}

/// Adds what of the flash is no user data, and as a share of the user data that lies there.
pub fn add_spare_area(found: &mut Value, raw_bytes: u64, held_back_bytes: u64, user_bytes: u64) {
    let spare_bytes = raw_bytes.saturating_sub(user_bytes);
    let effective_bytes = spare_bytes.saturating_sub(held_back_bytes);
    found["raw_capacity_bytes"] = raw_bytes.into();
    found["spare_bytes"] = spare_bytes.into();
    found["spare_ratio"] = (spare_bytes as f64 / user_bytes as f64).into();
    found["held_back_bytes"] = held_back_bytes.into();
    found["effective_spare_bytes"] = effective_bytes.into();
    found["effective_spare_ratio"] = (effective_bytes as f64 / user_bytes as f64).into();
}

/// What follows from the parameters: capacities in bytes, counts.
pub fn derived<M: Scheduled>(drive: &SolidStateDrive<M>) -> Value {
    let geometry = drive.mapping().layout().geometry;
    let user_bytes = drive.capacity_sectors() * SECTOR_BYTES;
    let mut found = json!({
        "user_capacity_bytes": user_bytes,
        "map_log_fill_ratio": drive.mapping().map_log_fill_ratio(),
        "blocks_per_die": geometry.blocks_per_die(),
        "die_count": geometry.die_count() * drive.config().timing.lockstep_channels,
        "block_bytes": u64::from(geometry.pages_per_block) * u64::from(geometry.program_bytes()),
        "map_units": drive.mapping().user_units(),
        "queue_depth": drive.config().queue_depth,
        "spare_blocks": drive.mapping().spare_blocks_new(),
    });
    add_spare_area(&mut found, geometry.raw_bytes(), drive.mapping().held_back_bytes(), user_bytes);
    if let Some(cache) = drive.mapping().slc_cache() {
        found["slc_cache_bytes"] = (u64::from(cache.most_blocks) * cache.block_bytes).into();
        found["slc_static_bytes"] = (u64::from(cache.static_blocks) * cache.block_bytes).into();
    }
    found
}
