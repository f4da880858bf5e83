//! A page map that lies in flash: what makes none.
//!
//! `oracle.rs` has every use of its cache against a plain table, `rates.rs` rates against formulas.

mod oracle;
mod rates;

use drivelab_ftl::{FtlConfig, MapCacheConfig, PageMap};
use drivelab_nand::{Geometry, UnitLayout};

use crate::plain;

const PAGE: u32 = 4096;

fn layout(blocks: u32, pages: u32, unit_bytes: u32) -> UnitLayout {
    let geometry = Geometry {
        channel_count: 2,
        dies_per_channel: 2,
        planes_per_die: 1,
        blocks_per_plane: blocks,
        pages_per_block: pages,
        page_bytes: PAGE,
        oob_bytes: 0,
        two_plane: false,
    };
    UnitLayout::new(geometry, unit_bytes).unwrap()
}

fn config(user_units: u32) -> FtlConfig {
    FtlConfig { hint_streams: 6, ..plain::config(user_units) }
}

#[test]
fn what_makes_no_map_in_flash_is_refused_by_name() {
    let small = layout(24, 8, PAGE);
    let coarse = layout(24, 8, 4 * PAGE);
    let good = MapCacheConfig {
        cache_bytes: 2 * PAGE,
        fetch_bytes: PAGE,
        spare_blocks: None,
        host_bytes: 0,
        host_ns: 0,
    };
    let journal = FtlConfig { journal_updates_per_page: 9, ..config(100) };
    let tries = [
        (small, config(100), MapCacheConfig { cache_bytes: 4095, ..good }, "ftl.map_cache_bytes"),
        (small, config(100), MapCacheConfig { fetch_bytes: 3, ..good }, "ftl.map_fetch_bytes"),
        (small, config(100), MapCacheConfig { fetch_bytes: 4097, ..good }, "ftl.map_fetch_bytes"),
        (small, config(100), MapCacheConfig { spare_blocks: Some(0), ..good }, "ftl.map_spare_blocks"),
        (small, journal, good, "ftl.journal_updates_per_page"),
        (coarse, config(25), good, "ftl.map_cache_bytes"),
        (small, config(600), good, "user_capacity_bytes"),
    ];
    for (layout, config, cache, key) in tries {
        let error = PageMap::demand_loaded(layout, config, cache).unwrap_err();
        assert_eq!(error.key, key, "{error}");
    }
    PageMap::new(small, config(600)).expect("the blocks of the map were too many");
}
