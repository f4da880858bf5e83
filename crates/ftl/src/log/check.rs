//! What must be true of thresholds before, and of the books after every step; recomputed the slow way.

use drivelab_nand::{BlockIndex, CellMode, DieIndex, GeometryError, UnitLayout};

use super::config::{CleaningMode, FtlConfig, RESERVE_BLOCKS};
use super::die_logs::DieLogs;
use crate::placement::{HOT_WRITES_MAX, STREAMS_MAX, StreamCounts};

impl DieLogs {
    /// Recounts a die's valid units (`valid`, counted by the scheme) and its free pool.
    pub(crate) fn check_die(&self, die: DieIndex, valid: u32) -> Result<(), String> {
        if valid != self.die_valid[die.0 as usize] {
            return Err(format!(
                "die {} has {valid} valid units, its count says {}",
                die.0, self.die_valid[die.0 as usize]
            ));
        }
        let per_die = self.layout.geometry.blocks_per_die();
        let erased = (die.0 * per_die..(die.0 + 1) * per_die)
            .skip((self.reserved + self.config.static_blocks()) as usize)
            .filter(|&block| {
                self.flash.write_pointer(BlockIndex(block)) == 0 && !self.is_bad(BlockIndex(block))
            })
            // Of a stream that opened it, and could not write it yet because others had failed.
            .filter(|&block| !self.blocks.is_open(die, BlockIndex(block)))
            .filter(|&block| !self.blocks.waits_erased(die, BlockIndex(block)))
            .count();
        let free = self.blocks.free_blocks(die) as usize;
        if erased != free {
            return Err(format!("die {} has {erased} erased blocks, but {free} in its free pool", die.0));
        }
        self.blocks.check_superblocks(die, |block| self.is_bad(block))?;
        self.check_parity(die)?;
        self.check_cache(die)
    }

    /// Recounts the SLC blocks of a die.
    fn check_cache(&self, die: DieIndex) -> Result<(), String> {
        let Some(cache) = &self.slc else { return Ok(()) };
        let per_die = self.layout.geometry.blocks_per_die();
        let all = (die.0 * per_die + self.reserved..(die.0 + 1) * per_die).map(BlockIndex);
        let (mut closed, mut dynamic, mut free) = (Vec::new(), 0, 0);
        let is_slc = |&block: &BlockIndex| self.flash.mode(block) == CellMode::Slc && !self.is_bad(block);
        for block in all.filter(is_slc) {
            let most = self.flash.page_units(CellMode::Slc) * self.layout.geometry.pages_per_block;
            if self.blocks.valid_count(block) > most {
                return Err(format!("block {} of the SLC cache holds more than {most} units", block.0));
            }
            let (is_written, is_open) =
                (self.flash.write_pointer(block) > 0, self.blocks.is_open(die, block));
            let is_static = self.is_static(block);
            free += u32::from(is_static && !is_written && !is_open);
            dynamic += u32::from(!is_static && (is_written || is_open));
            if is_written && !is_open {
                closed.push(block);
            }
        }
        let mut known = cache.of(die).closed.clone();
        known.sort_unstable();
        if known != closed {
            return Err(format!("die {} has SLC blocks {closed:?}, its list says {known:?}", die.0));
        }
        let counts = (cache.of(die).dynamic, cache.static_free.count(die));
        if counts != (dynamic, free) {
            return Err(format!(
                "die {} has {dynamic} dynamic SLC blocks and {free} free static ones, its counts say {counts:?}",
                die.0
            ));
        }
        Ok(())
    }

    /// Recounts the SLC blocks of all dies.
    pub(crate) fn check_caches(&self) -> Result<(), String> {
        let Some(cache) = &self.slc else { return Ok(()) };
        let dynamic: u32 = cache.dies.iter().map(|die| die.dynamic).sum();
        let closed: usize = cache.dies.iter().map(|die| die.closed.len()).sum();
        if (dynamic, closed) != (cache.dynamic, cache.closed as usize) {
            return Err(format!(
                "{dynamic} dynamic SLC blocks, {closed} closed ones; the counts say {} and {}",
                cache.dynamic, cache.closed
            ));
        }
        Ok(())
    }
}

/// Whether cleaning can work with these thresholds.
///
/// # Errors
/// The first threshold that is out of range.
pub(crate) fn check_thresholds(
    layout: &UnitLayout,
    config: &FtlConfig,
    reserved: u32,
) -> Result<(), GeometryError> {
    if config.cleaning_mode == CleaningMode::RewriteInPlace {
        return Ok(());
    }
    let blocks = layout.geometry.blocks_per_die() - reserved - config.static_blocks();
    let blocks = (blocks / config.superblock_blocks).saturating_sub(config.more_blocks());
    let unit = if config.superblock_blocks > 1 { "superblocks" } else { "blocks" };
    let (start, stop) = (config.cleaning_start_blocks, config.cleaning_stop_blocks);
    if start < RESERVE_BLOCKS + 1 || start > blocks {
        let allowed = format!("must be {} to {blocks} {unit} per die", RESERVE_BLOCKS + 1);
        return Err(GeometryError::new("ftl.cleaning_start_blocks", start, allowed));
    }
    if stop < start || stop > blocks {
        let allowed = format!("must be ftl.cleaning_start_blocks = {start} to {blocks} {unit} per die");
        return Err(GeometryError::new("ftl.cleaning_stop_blocks", stop, allowed));
    }
    if config.idle_cleaning_blocks > blocks {
        let allowed = format!("must be at most {blocks} {unit} per die");
        return Err(GeometryError::new("ftl.idle_cleaning_blocks", config.idle_cleaning_blocks, allowed));
    }
    for (key, value) in [("ftl.choices", config.choices), ("ftl.window_blocks", config.window_blocks)] {
        if value == 0 {
            return Err(GeometryError::new(key, 0u32, "must be 1 or more"));
        }
    }
    Ok(())
}

/// Whether an SLC cache can work with the other parameters.
///
/// # Errors
/// The first that doesn't fit.
pub(crate) fn check_cache(layout: &UnitLayout, config: &FtlConfig) -> Result<(), GeometryError> {
    let Some(cache) = &config.slc_cache else { return Ok(()) };
    if config.cleaning_mode == CleaningMode::RewriteInPlace
        || config.policy_streams() != StreamCounts::HOST_AND_CLEANING
    {
        let allowed = "streams: must be host-and-cleaning, and ftl.cleaning_mode relocate, with an SLC cache";
        return Err(GeometryError::new("ftl.placement", config.streams().all, allowed));
    }
    if cache.bits < 2 || layout.pages_per_unit > 1 || !layout.units_per_page.is_multiple_of(cache.bits) {
        let page = layout.geometry.program_bytes() / cache.bits.max(1);
        let allowed = format!("must divide the {page} bytes that a page of the SLC cache holds");
        return Err(GeometryError::new("ftl.map_unit_bytes", layout.unit_bytes, allowed));
    }
    Ok(())
}

/// Whether superblocks and parity can work with the other parameters.
///
/// # Errors
/// The first that doesn't fit.
pub(crate) fn check_superblocks(
    layout: &UnitLayout,
    config: &FtlConfig,
    reserved: u32,
) -> Result<(), GeometryError> {
    let (size, stripe) = (config.superblock_blocks, config.parity_stripe_pages);
    let most = layout.geometry.blocks_per_die().saturating_sub(reserved).max(1);
    if size == 0 || size > most {
        let allowed = format!("must be 1 to {most}, the blocks of a die that hold no metadata");
        return Err(GeometryError::new("ftl.superblock_blocks", size, allowed));
    }
    let programs = layout.units_per_block / layout.units_per_page;
    if stripe == 1 || stripe > programs {
        let allowed = format!("must be 0, or 2 to {programs}: no more than a block of a die has");
        return Err(GeometryError::new("ftl.parity_stripe_pages", stripe, allowed));
    }
    let is_cached = config.slc_cache.is_some();
    if is_cached || config.cleaning_mode == CleaningMode::RewriteInPlace {
        let with = if is_cached { "an SLC cache" } else { "ftl.cleaning_mode = rewrite-in-place" };
        if size > 1 {
            return Err(GeometryError::new("ftl.superblock_blocks", size, format!("must be 1 with {with}")));
        }
        if stripe > 0 {
            return Err(GeometryError::new(
                "ftl.parity_stripe_pages",
                stripe,
                format!("must be 0 with {with}"),
            ));
        }
    }
    Ok(())
}

/// Whether placement can work with its parameters.
///
/// # Errors
/// The first that is out of range.
pub(crate) fn check_placement(config: &FtlConfig) -> Result<(), GeometryError> {
    let most = [
        ("ftl.hot_writes", config.hot_writes, u32::from(HOT_WRITES_MAX)),
        ("ftl.hint_streams", config.hint_streams, STREAMS_MAX as u32),
    ];
    for (key, value, most) in most {
        if value == 0 || value > most {
            return Err(GeometryError::new(key, value, format!("must be 1 to {most}")));
        }
    }
    Ok(())
}
