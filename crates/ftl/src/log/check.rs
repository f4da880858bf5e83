//! What must be true of thresholds before, and of the books after every step; recomputed the slow way.

use drivelab_nand::{BlockIndex, DieIndex, GeometryError, UnitLayout};

use super::config::{CleaningMode, FtlConfig, RESERVE_BLOCKS};
use super::die_logs::DieLogs;
use crate::placement::{HOT_WRITES_MAX, STREAMS_MAX};

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
            .skip(self.reserved as usize)
            .filter(|&block| {
                self.flash.write_pointer(BlockIndex(block)) == 0 && !self.is_bad(BlockIndex(block))
            })
            // Of a stream that opened it, and could not write it yet because others had failed.
            .filter(|&block| !self.blocks.is_open(die, BlockIndex(block)))
            .count();
        let free = self.blocks.free_count(die) as usize;
        if erased != free {
            return Err(format!("die {} has {erased} erased blocks, but {free} in its free pool", die.0));
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
    let blocks = layout.geometry.blocks_per_die() - reserved;
    let (start, stop) = (config.cleaning_start_blocks, config.cleaning_stop_blocks);
    if start < RESERVE_BLOCKS + 1 || start > blocks {
        let allowed = format!("must be {} to {blocks} blocks per die", RESERVE_BLOCKS + 1);
        return Err(GeometryError::new("ftl.cleaning_start_blocks", start, allowed));
    }
    if stop < start || stop > blocks {
        let allowed = format!("must be ftl.cleaning_start_blocks = {start} to {blocks} blocks per die");
        return Err(GeometryError::new("ftl.cleaning_stop_blocks", stop, allowed));
    }
    if config.idle_cleaning_blocks > blocks {
        let allowed = format!("must be at most {blocks} blocks per die");
        return Err(GeometryError::new("ftl.idle_cleaning_blocks", config.idle_cleaning_blocks, allowed));
    }
    for (key, value) in [("ftl.choices", config.choices), ("ftl.window_blocks", config.window_blocks)] {
        if value == 0 {
            return Err(GeometryError::new(key, 0u32, "must be 1 or more"));
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
