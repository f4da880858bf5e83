//! Static wear levelling beside data that lies still, of every scheme that has it: what it costs, and what it gains.

use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{
    Books, CompressedMap, Content, Contents, FtlConfig, LogMapping, Mapping, PageMap, SlcCacheConfig,
    WhenFull,
};
use drivelab_nand::{Lpn, UnitLayout};
use drivelab_sim::Stream;

use crate::compressed_map::compression;
use crate::one_plane::geometry;
use crate::plain;
use crate::slc_cache::{BITS, cache};

const BLOCKS: u32 = 256;
const PAGES: u32 = 32;
const UNIT: u32 = 4096;

/// With data on this share of all places.
fn config(share: f64, wear_spread_limit: u32) -> FtlConfig {
    let user_units = (f64::from(BLOCKS * PAGES) * share) as u32;
    FtlConfig { wear_spread_limit, ..plain::config(user_units) }
}

/// What a drive programs for each page that the host writes, and the most erases of a block.
struct Worn {
    programs: f64,
    most: u32,
}

/// Three fifths of a full drive are written once, the rest at random.
fn worn_beside_data_that_lies_still<M>(
    ftl: M,
    mut write: impl FnMut(&mut Untimed<M>, &mut dyn FnMut() -> Lpn),
) -> Worn
where
    M: LogMapping + Mapping + Books,
{
    let mut drive = Untimed::new(ftl);
    let units = drive.ftl.user_units();
    let mut next = 0..units;
    while next.start < units {
        write(&mut drive, &mut || Lpn(next.next().unwrap_or(0)));
    }
    let mut random = Stream::new(3, 0);
    let mut some = || Lpn(random.below(u64::from(units) * 2 / 5) as u32);
    let before = *drive.ftl.counters();
    while drive.ftl.counters().units_host - before.units_host < u64::from(150 * units) {
        write(&mut drive, &mut some);
    }
    let after = *drive.ftl.counters();
    drive.ftl.check().unwrap();
    let programs = (after.programs() - before.programs()) as f64;
    let host = (after.programs_host - before.programs_host) as f64;
    let most = drive.ftl.flash().erase_counts().iter().copied().max().unwrap();
    Worn { programs: programs / host, most }
}

/// Levelling programs at most a quarter more, and its most worn block lasts at least 1.4 times as long.
fn pays(worn_with: impl Fn(u32) -> Worn) {
    let (without, with) = (worn_with(0), worn_with(16));
    let said = format!(
        "{:.2} and {:.2} programs, {} and {} erases",
        without.programs, with.programs, without.most, with.most
    );
    assert!(with.programs < 1.25 * without.programs, "{said}");
    assert!(10 * with.most < 7 * without.most, "{said}");
}

#[test]
fn it_pays_on_a_page_map() {
    let worn = |limit| {
        let layout = UnitLayout::new(geometry(1, BLOCKS, PAGES, UNIT), UNIT).unwrap();
        let map = PageMap::new(layout, config(0.88, limit)).unwrap();
        worn_beside_data_that_lies_still(map, |drive, next| drive.write(&[next()]).unwrap())
    };
    pays(worn);
}

#[test]
fn it_pays_on_a_page_map_with_an_slc_cache() {
    let worn = |limit| {
        let layout = UnitLayout::new(geometry(1, BLOCKS / BITS, PAGES, UNIT * BITS), UNIT).unwrap();
        let cache = SlcCacheConfig { dynamic_blocks: 6, ..cache(WhenFull::Native) };
        let map = PageMap::new(layout, FtlConfig { slc_cache: Some(cache), ..config(0.8, limit) }).unwrap();
        worn_beside_data_that_lies_still(map, |drive, next| {
            let page: Vec<_> = (0..drive.page_units().unwrap()).map(|_| next()).collect();
            drive.write(&page).unwrap();
        })
    };
    pays(worn);
}

#[test]
fn it_pays_on_a_compressed_map_with_parity() {
    let worn = |limit| {
        let geometry = geometry(4, BLOCKS / 4, PAGES, UNIT);
        let map = CompressedMap::new(geometry, config(0.5, limit), compression(true)).unwrap();
        worn_beside_data_that_lies_still(map, |drive, next| {
            let stored = drive.ftl.stored(&Content::RANDOM, 0);
            drive.write_stored(&[next()], &[stored]).unwrap();
        })
    };
    pays(worn);
}
