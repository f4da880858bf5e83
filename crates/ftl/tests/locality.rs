//! Victim selection where writes have locality - a tenth of the units takes nine tenths of them - and where they have none.

use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{Books, FtlConfig, Mapping, PageMap, Placement, VictimSelection};
use drivelab_nand::{BlockIndex, Geometry, Lpn, Ppn, UnitLayout};
use drivelab_sim::Stream;

use crate::plain;

/// Share of the units that is hot, in percent, and the share of the writes that goes there.
const HOT: (u64, u64) = (10, 90);

/// A drive with one unit a page.
fn drive(policy: VictimSelection, blocks_per_plane: u32, spare_ratio: f64) -> Untimed<PageMap> {
    varied_drive(policy, blocks_per_plane, spare_ratio, |_| {})
}

/// The same, with other parameters besides.
fn varied_drive(
    policy: VictimSelection,
    blocks_per_plane: u32,
    spare_ratio: f64,
    vary: impl Fn(&mut FtlConfig),
) -> Untimed<PageMap> {
    let geometry = Geometry {
        channel_count: 1,
        dies_per_channel: 2,
        planes_per_die: 1,
        blocks_per_plane,
        pages_per_block: 64,
        page_bytes: 4096,
        oob_bytes: 0,
        two_plane: false,
    };
    let layout = UnitLayout::new(geometry, 4096).unwrap();
    let user_units = (f64::from(layout.unit_count()) / (1.0 + spare_ratio)) as u32;
    let mut config = FtlConfig {
        victim_selection: policy,
        choices: 10,
        hint_streams: 2,
        seed: 1,
        ..plain::config(user_units)
    };
    vary(&mut config);
    Untimed::new(PageMap::new(layout, config).unwrap())
}

/// The next unit that is written. Every tenth is a hot one, so that a new drive's blocks hold both kinds.
fn next_unit(random: &mut Stream, units: u64) -> Lpn {
    let stride = 100 / HOT.0;
    let unit = loop {
        let unit = random.below(units);
        let is_hot = unit.is_multiple_of(stride);
        // Of hot units all draws count, of cold ones so many that the shares come out.
        if is_hot || random.below(HOT.1 * (stride - 1)) < 100 - HOT.1 {
            break unit;
        }
    };
    Lpn(unit as u32)
}

/// Write amplification of a drive that has become steady.
fn write_amplification(policy: VictimSelection, spare_ratio: f64) -> f64 {
    steady(&mut drive(policy, 512, spare_ratio), next_unit)
}

/// Writes a drive until it is steady; its write amplification then.
fn steady(drive: &mut Untimed<PageMap>, next: impl Fn(&mut Stream, u64) -> Lpn) -> f64 {
    let random = &mut Stream::new(1, 1);
    let units = u64::from(drive.ftl.user_units());
    (0..units).for_each(|unit| drive.write(&[Lpn(unit as u32)]).unwrap());
    let mut write = |drive: &mut Untimed<PageMap>, count: u64| {
        (0..count).for_each(|_| drive.write(&[next(random, units)]).unwrap());
    };
    write(drive, 4 * units);
    let before = *drive.ftl.counters();
    write(drive, 2 * units);
    let after = *drive.ftl.counters();
    drive.ftl.check().unwrap();
    (after.programs() - before.programs()) as f64 / (2 * units) as f64
}

#[test]
fn cost_benefit_beats_greedy_where_writes_have_locality() {
    for spare in [0.15, 0.33] {
        let of = |policy| write_amplification(policy, spare);
        let (greedy, cost_benefit) = (of(VictimSelection::Greedy), of(VictimSelection::CostBenefit));
        // [5] has half the write cost at such utilisations; there cold data are sorted by age besides.
        assert!(cost_benefit < 0.75 * greedy, "spare {spare}: {cost_benefit} after greedy's {greedy}");
    }
}

#[test]
fn a_wider_window_takes_windowed_greedy_from_fifo_to_greedy() {
    let of = |policy, window| {
        let drive = &mut varied_drive(policy, 256, 0.15, |config| config.window_blocks = window);
        steady(drive, |random, units| Lpn(random.below(units) as u32))
    };
    let (fifo, greedy) = (of(VictimSelection::Fifo, 1), of(VictimSelection::Greedy, 1));
    let windowed = [1, 16, 64, 256].map(|window| of(VictimSelection::WindowedGreedy, window));
    assert!((windowed[0] / fifo - 1.0).abs() < 0.01, "{windowed:?}, fifo {fifo}");
    assert!((windowed[3] / greedy - 1.0).abs() < 0.01, "{windowed:?}, greedy {greedy}");
    assert!(windowed.is_sorted_by(|narrow, wide| narrow > wide), "{windowed:?}");
}

#[test]
fn the_better_hot_and_cold_data_lie_apart_the_less_is_copied() {
    for spare in [0.15, 0.33] {
        let of = |placement| {
            let vary = |config: &mut FtlConfig| config.placement = placement;
            steady(&mut varied_drive(VictimSelection::Greedy, 512, spare, vary), next_unit)
        };
        let one = of(Placement::OneStream);
        let separate = of(Placement::HostAndCleaning);
        let hot_cold = of(Placement::HotCold);
        let sepbit = of(Placement::Sepbit);
        assert!(separate < one, "spare {spare}: {separate} after {one} of one stream");
        assert!(hot_cold < 0.95 * separate, "spare {spare}: {hot_cold} after {separate}");
        assert!(sepbit < 0.95 * separate, "spare {spare}: {sepbit} after {separate}");
    }
}

#[test]
fn cost_age_times_copies_less_than_greedy_and_wears_blocks_more_evenly() {
    let of = |policy| {
        let mut drive = drive(policy, 256, 0.15);
        let write_amplification = steady(&mut drive, next_unit);
        let erases = drive.ftl.flash().erase_counts();
        let mean = f64::from(erases.iter().sum::<u32>()) / erases.len() as f64;
        let spread = erases.iter().map(|&count| (f64::from(count) - mean).powi(2)).sum::<f64>();
        (write_amplification, (spread / erases.len() as f64).sqrt() / mean)
    };
    let (greedy, greedy_spread) = of(VictimSelection::Greedy);
    let (cat, spread) = of(VictimSelection::CostAgeTimes);
    assert!(cat < 0.75 * greedy, "{cat} after greedy's {greedy}");
    assert!(spread < 0.9 * greedy_spread, "spread {spread} after greedy's {greedy_spread}");
}

#[test]
fn the_age_of_a_block_is_that_of_its_newest_data_however_often_they_were_copied() {
    let mut drive = drive(VictimSelection::CostBenefit, 64, 0.3);
    let random = &mut Stream::new(2, 1);
    let units = u64::from(drive.ftl.user_units());
    // When the host wrote each unit last, and the newest that each block may hold, by what its pages say.
    let mut written = vec![0; units as usize];
    let (mut host_blocks, mut copied_blocks) = (0, 0);
    for round in 0..6 {
        for index in 0..units {
            let lpn = if round == 0 { Lpn(index as u32) } else { next_unit(random, units) };
            drive.write(&[lpn]).unwrap();
            // Cleaning comes before the host's page.
            written[lpn.0 as usize] = drive.ftl.flash().next_sequence() - 1;
        }
        let (flash, layout) = (drive.ftl.flash(), drive.ftl.layout());
        for block in (0..layout.block_count()).map(BlockIndex) {
            if !drive.ftl.blocks().is_closed(block) || drive.ftl.blocks().valid_count(block) == 0 {
                continue;
            }
            let first = layout.first_ppn(block).0;
            let places =
                (first..first + layout.units_per_block).map(Ppn).filter(|&place| drive.ftl.is_valid(place));
            let newest_valid =
                places.map(|place| written[flash.peek(place).unwrap().0 as usize]).max().unwrap();
            let newest = drive.ftl.blocks().newest_sequence(block);
            assert!(
                newest >= newest_valid,
                "block {}: {newest}, but it holds data of {newest_valid}",
                block.0
            );
            let opened = flash.first_sequences(block.0, 1)[0];
            if newest_valid < opened {
                copied_blocks += 1;
                assert!(
                    newest < opened,
                    "block {}: copies look as new as {newest}, copied from {opened} on",
                    block.0
                );
            } else {
                host_blocks += 1;
            }
        }
    }
    assert!(copied_blocks > 100 && host_blocks > 100, "{copied_blocks} and {host_blocks}");
}
