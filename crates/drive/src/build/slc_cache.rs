//! What a model says of an SLC cache.

use drivelab_ftl::SlcCacheConfig;
use drivelab_nand::{Geometry, UnitLayout};

use super::{flash, word_lines};
use crate::error::ModelError;
use crate::model::Model;

const MAX: &str = "slc_cache.max_bytes";
const STATIC: &str = "slc_cache.static_bytes";
const READ: &str = "flash.slc_read_ns";
const PROGRAM: &str = "flash.slc_program_ns";

/// Whether the parts of a cache are a block at least, which is what they would be.
pub(super) fn check_stated(model: &Model) -> Result<(), ModelError> {
    let (max_bytes, static_bytes) = (model.integer(MAX), model.integer(STATIC));
    if max_bytes == 0 {
        return Ok(());
    }
    let geometry = flash::geometry(model)?;
    let block_bytes = slc_block_bytes(&geometry, word_lines::page_types(model)?);
    let dies = u64::from(geometry.die_count());
    for (key, bytes, least, what) in [
        (MAX, max_bytes, block_bytes, "one block"),
        (STATIC, static_bytes, block_bytes * dies, "one block on each die"),
    ] {
        if bytes > 0 && bytes < least {
            let allowed = format!("must be 0, or at least {least}, {what} with one bit a cell");
            return Err(model.bad(key, &bytes.to_string(), &allowed));
        }
    }
    let dynamic_bytes = max_bytes - static_bytes;
    if dynamic_bytes > 0 && dynamic_bytes < block_bytes {
        let allowed = format!(
            "must be {STATIC} = {static_bytes}, or a block more: at least {}",
            static_bytes + block_bytes
        );
        return Err(model.bad(MAX, &max_bytes.to_string(), &allowed));
    }
    Ok(())
}

/// What a block holds with one bit a cell.
fn slc_block_bytes(geometry: &Geometry, bits: u32) -> u64 {
    u64::from(geometry.pages_per_block) * u64::from(geometry.program_bytes()) / u64::from(bits)
}

/// The cache, if the drive has one.
pub(super) fn config(model: &Model, layout: &UnitLayout) -> Result<Option<SlcCacheConfig>, ModelError> {
    let max_bytes = model.integer(MAX);
    let static_bytes = model.integer(STATIC);
    if max_bytes == 0 {
        // Whoever takes the cache away wants to see the drive without it, and need not take its other sizes away, too.
        return Ok(None);
    }
    let bits = word_lines::page_types(model)?;
    if bits < 2 {
        let allowed = "needs flash.one_shot = true and a flash.cell of more than one bit";
        return Err(model.bad(MAX, &max_bytes.to_string(), allowed));
    }
    if let Some(key) = [READ, PROGRAM].into_iter().find(|key| model.optional_integer(key).is_none()) {
        return Err(ModelError::Missing {
            origin: model.origin().to_owned(),
            key,
            help: "slc_cache.max_bytes above 0 needs it",
        });
    }
    if static_bytes > max_bytes {
        let allowed = format!("must be at most {MAX} = {max_bytes}");
        return Err(model.bad(STATIC, &static_bytes.to_string(), &allowed));
    }
    let (whole_until, gone_from) = (
        model.real("slc_cache.whole_until_fill").unwrap_or(1.0),
        model.real("slc_cache.gone_from_fill").unwrap_or(1.0),
    );
    if gone_from < whole_until {
        let allowed = format!("must be at least slc_cache.whole_until_fill = {whole_until}");
        return Err(model.bad("slc_cache.gone_from_fill", &gone_from.to_string(), &allowed));
    }
    let geometry = &layout.geometry;
    let slc_bytes = slc_block_bytes(geometry, bits);
    let block_bytes = slc_bytes * u64::from(bits);
    let dies = u64::from(geometry.die_count());
    let blocks = |bytes: u64, each: u64| u32::try_from((bytes + each / 2) / each).unwrap_or(u32::MAX / 2);
    // A part that is there has a block at least.
    let static_blocks = blocks(static_bytes, slc_bytes * dies).max(u32::from(static_bytes > 0));
    let user_bytes = model.integer("user_capacity_bytes");
    let native = user_bytes.div_ceil(block_bytes * dies);
    let room = u64::from(geometry.blocks_per_die()).saturating_sub(native + 1);
    if u64::from(static_blocks) > room {
        let most = room * slc_bytes * dies;
        let allowed =
            format!("must be at most {most}: user_capacity_bytes = {user_bytes} needs the other blocks");
        return Err(model.bad(STATIC, &static_bytes.to_string(), &allowed));
    }
    let dynamic = max_bytes - static_bytes;
    Ok(Some(SlcCacheConfig {
        bits,
        static_blocks,
        dynamic_blocks: blocks(dynamic, slc_bytes).max(u32::from(dynamic > 0)),
        whole_until,
        gone_from,
        reserve_blocks: blocks(model.integer("slc_cache.reserve_bytes"), block_bytes * dies),
        when_full: model.word("slc_cache.when_full")?,
        refill_blocks: blocks(model.integer("slc_cache.refill_bytes"), slc_bytes),
        kept_blocks: blocks(model.integer("slc_cache.kept_bytes"), slc_bytes),
        fold_dies: model.small("slc_cache.fold_dies"),
    }))
}
