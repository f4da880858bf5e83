//! Parameters of the compressed map, and the sizes that follow from them.

use drivelab_nand::{Geometry, GeometryError, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

use super::fragments::KEY_LIMIT;
use crate::log::{CleaningMode, FtlConfig};
use crate::mapping::MAP_ENTRY_BYTES;
use crate::placement::Placement;

/// Parameters of the compressed map beside those of every log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompressionConfig {
    /// Bytes of a map unit before compression.
    pub unit_bytes: u32,
    /// Space on a page is given out in this many bytes.
    pub granule_bytes: u32,
    /// One page of every stripe over the dies is parity.
    pub parity: bool,
    /// Trims are noted at once, and take effect on a line of the map when cleaning of the map comes across it. Until
    /// then the units read as zeros and hold their space.
    pub trims_deferred: bool,
    /// Of ranges trimmed without a rest, those that find the firmware's queue full, evenly: of these only that they
    /// read as zeros is remembered. Below 100.
    pub trim_loss_percent: u32,
    /// Memory of the controller for the map; 0: all of it fits.
    pub map_cache_bytes: u32,
    /// Bytes of the map that one read from flash brings.
    pub map_fetch_bytes: u32,
}

/// Sizes that follow from geometry and parameters.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Shape {
    pub unit_granules: u32,
    pub page_granules: u32,
    pub units_per_page: u32,
    pub pages_per_block: u32,
}

/// Sizes, if the parameters make a working drive.
pub(super) fn shape(
    geometry: &Geometry,
    ftl: &FtlConfig,
    config: &CompressionConfig,
) -> Result<Shape, GeometryError> {
    let page = geometry.program_bytes();
    let (unit, granule) = (config.unit_bytes, config.granule_bytes);
    if unit == 0 || !unit.is_multiple_of(SECTOR_BYTES) || unit > page {
        let allowed = format!("must be a whole number of sectors and at most a page of {page} bytes");
        return Err(GeometryError::new("ftl.map_unit_bytes", unit, allowed));
    }
    let least = unit.div_ceil(127).max(page / 0x8000 + 1);
    if !(least..=unit).contains(&granule) {
        let allowed = format!("must be {least} to ftl.map_unit_bytes = {unit}");
        return Err(GeometryError::new("ftl.granule_bytes", granule, allowed));
    }
    if config.trims_deferred && config.map_cache_bytes == 0 {
        let allowed = "must be false without ftl.map_cache_bytes: trims take effect where the map is cleaned";
        return Err(GeometryError::new("ftl.trims_deferred", 1u32, allowed));
    }
    if config.map_cache_bytes > 0 {
        let (cache, fetch) = (config.map_cache_bytes, config.map_fetch_bytes);
        if fetch < MAP_ENTRY_BYTES || fetch > page {
            let allowed = format!("must be {MAP_ENTRY_BYTES} to a page of {page} bytes");
            return Err(GeometryError::new("ftl.map_fetch_bytes", fetch, allowed));
        }
        if ftl.journal_updates_per_page > 0 {
            let allowed = "must be 0 beside ftl.map_cache_bytes: lines written back are the journal";
            let updates = ftl.journal_updates_per_page;
            return Err(GeometryError::new("ftl.journal_updates_per_page", updates, allowed));
        }
        if cache < fetch {
            let allowed = format!("must be 0 or at least ftl.map_fetch_bytes = {fetch}");
            return Err(GeometryError::new("ftl.map_cache_bytes", cache, allowed));
        }
    }
    if config.parity && geometry.die_count() < 2 {
        return Err(GeometryError::new(
            "flash.dies_per_channel",
            geometry.dies_per_channel,
            "parity needs 2 dies",
        ));
    }
    if ftl.cleaning_mode != CleaningMode::Relocate {
        let allowed = "of a drive that compresses must be 0: it relocates";
        return Err(GeometryError::new("ftl.cleaning_mode", 1u32, allowed));
    }
    if ftl.placement != Placement::HostAndCleaning {
        let allowed = "streams: a drive that compresses must have 2, host-and-cleaning";
        return Err(GeometryError::new("ftl.placement", u32::from(ftl.streams().all), allowed));
    }
    if ftl.user_units >= KEY_LIMIT {
        return Err(GeometryError::new("user_capacity_bytes", ftl.user_units, "fewer than 2^30 map units"));
    }
    let page_granules = page / granule;
    let pages_per_block = geometry.pages_per_block;
    let unit_granules = unit.div_ceil(granule);
    Ok(Shape { unit_granules, page_granules, units_per_page: page_granules / unit_granules, pages_per_block })
}
