//! Write amplification of victim and placement policies against closed formulas and the mean field: uniform writes, and
//! hot data beside cold. `make validate` runs it; exit status 1 if a deviation is beyond its limit.

use std::process::ExitCode;

use drivelab_ftl::theory::{
    Class, d_choices_write_amplification, fifo_write_amplification, mixed_write_amplification,
    separated_write_amplification,
};
use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{Books, Contents, FtlConfig, PageMap, Placement, VictimSelection};
use drivelab_nand::{Geometry, Lpn, UnitLayout};
use drivelab_sim::Stream;

#[path = "../tests/plain.rs"]
mod plain;

/// Uniform writes must be this close to theory.
const UNIFORM_LIMIT: f64 = 0.005;

/// Hot data mixed with cold, and kept apart, must be this close to theory.
const CLASSES_LIMIT: f64 = 0.01;

/// Dies, blocks of each, pages of each.
#[derive(Clone, Copy)]
struct Shape {
    dies: u32,
    blocks: u32,
    pages: u32,
}

/// Of most rows.
const SHAPE: Shape = Shape { dies: 4, blocks: 4096, pages: 64 };

/// Of rows whose theory knows blocks of many pages only: which of two blocks has fewer valid pages by chance, victim
/// selection uses all the more, the smaller blocks are.
const LARGE_BLOCKS: Shape = Shape { dies: 1, blocks: 2048, pages: 512 };

/// How often as much as the drive holds is written before anything is measured, at least.
const WARM_UP_ROUNDS: u32 = 4;

/// Free blocks of a die, at most, ...
const FREE_MAX: u32 = 3;
/// ... beside what is kept for further streams.
const FURTHER_FREE_MAX: u32 = 2;

/// Blocks of which d-choices takes the best, and in its other row at one spare area.
const CHOICES: u32 = 10;
const MANY_CHOICES: u32 = 1000;

/// Greedy looks at all blocks of a die.
const GREEDY_CHOICES: u32 = SHAPE.blocks;

/// Spare over user capacity of the rows with two classes: user / raw is .875.
const CLASSES_SPARE: f64 = 1.0 / 0.875 - 1.0;

/// A prime above every number of units: multiplying by it scatters hot data over the drive.
const SCATTER: u64 = 2_654_435_761;

/// Random one-page writes over all of the drive until the state is steady, then measured; `draw` gives the next unit that
/// is written, `hint_of` what an oracle knows of each: hot data is 1.
fn steady(
    shape: Shape,
    config: FtlConfig,
    warm_up_rounds: u32,
    hint_of: impl Fn(u32) -> u8,
    draw: impl Fn(&mut Stream) -> u32,
) -> Result<f64, Box<dyn std::error::Error>> {
    let user_units = config.user_units;
    let is_plain = matches!(config.placement, Placement::OneStream | Placement::HostAndCleaning);
    let free_max = FREE_MAX + if is_plain { 0 } else { FURTHER_FREE_MAX };
    let mut drive = Untimed::new(PageMap::new(layout(shape)?, config)?);
    let mut random = Stream::new(1, 1);
    for unit in 0..user_units {
        drive.ftl.note_hint(unit..unit + 1, hint_of(unit));
        drive.write(&[Lpn(unit)])?;
    }
    let mut round = |drive: &mut Untimed<PageMap>, rounds: u32| -> Result<(), drivelab_ftl::FtlError> {
        (0..rounds * user_units).try_for_each(|_| drive.write(&[Lpn(draw(&mut random))]))
    };
    round(&mut drive, warm_up_rounds)?;
    let before = *drive.ftl.counters();
    round(&mut drive, 3)?;
    let after = *drive.ftl.counters();
    drive.ftl.check()?;
    assert_eq!(drive.ftl.valid_units(), u64::from(user_units), "valid pages are conserved");
    let free = drive.ftl.free_blocks();
    let allowed = u64::from(shape.dies)..=u64::from(free_max * shape.dies);
    assert!(allowed.contains(&free), "free blocks are conserved: {free}");
    Ok((after.programs() - before.programs()) as f64 / f64::from(3 * user_units))
}

/// Two streams of hints: what an oracle keeps apart here.
fn config(
    placement: Placement,
    victim_selection: VictimSelection,
    choices: u32,
    user_units: u32,
) -> FtlConfig {
    FtlConfig { victim_selection, choices, placement, hint_streams: 2, seed: 1, ..plain::config(user_units) }
}

fn layout(shape: Shape) -> Result<UnitLayout, drivelab_nand::GeometryError> {
    let geometry = Geometry {
        channel_count: 1,
        dies_per_channel: shape.dies,
        planes_per_die: 1,
        blocks_per_plane: shape.blocks,
        pages_per_block: shape.pages,
        page_bytes: 4096,
        oob_bytes: 0,
        two_plane: false,
    };
    UnitLayout::new(geometry, 4096)
}

/// User units at which raw capacity less what is held back (free and open blocks, of which half is written, and half of
/// the block that is being emptied) is (1 + spare) of them: theory knows only blocks that wait.
fn user_units(
    shape: Shape,
    placement: Placement,
    spare_ratio: f64,
) -> Result<u32, Box<dyn std::error::Error>> {
    let probe = config(placement, VictimSelection::Fifo, CHOICES, 1);
    let held_back = PageMap::new(layout(shape)?, probe)?.held_back_bytes() / 4096;
    let waiting = u64::from(layout(shape)?.unit_count()) - held_back;
    Ok((waiting as f64 / (1.0 + spare_ratio)) as u32)
}

/// Prints a row; whether it is within its limit.
fn print_row(what: &str, policy: &str, found: f64, theory: Option<(f64, f64)>) -> bool {
    let Some((expected, limit)) = theory else {
        println!("{what:<24}  {policy:<17} {found:>9.3}");
        return true;
    };
    let deviation = found / expected - 1.0;
    let good = deviation.abs() <= limit;
    let verdict = if good { "ok: within" } else { "FAILED: beyond" };
    println!(
        "{what:<24}  {policy:<17} {found:>9.3} {expected:>9.3} {:>+9.2} %  {verdict} {:.1} %",
        deviation * 100.0,
        limit * 100.0
    );
    good
}

/// Whether all rows of uniform writes are within their limits.
fn uniform_rows() -> Result<bool, Box<dyn std::error::Error>> {
    let mut good = true;
    for (spare, many) in [(0.07, false), (0.15, false), (0.28, true), (0.50, false)] {
        let user = user_units(SHAPE, Placement::HostAndCleaning, spare)?;
        let ratio = 1.0 / (1.0 + spare);
        let best_of = |choices| Some(d_choices_write_amplification(ratio, choices, SHAPE.pages));
        let mut rows = vec![
            ("fifo", VictimSelection::Fifo, CHOICES, Some(fifo_write_amplification(ratio))),
            ("greedy", VictimSelection::Greedy, CHOICES, best_of(GREEDY_CHOICES)),
            ("10 choices", VictimSelection::DChoices, CHOICES, best_of(CHOICES)),
            ("random", VictimSelection::Random, CHOICES, None),
            ("cost-benefit", VictimSelection::CostBenefit, CHOICES, None),
        ];
        if many {
            rows.push(("1000 choices", VictimSelection::DChoices, MANY_CHOICES, best_of(MANY_CHOICES)));
        }
        for (name, policy, choices, theory) in rows {
            let config = config(Placement::HostAndCleaning, policy, choices, user);
            let draw = |random: &mut Stream| random.below(u64::from(user)) as u32;
            let found = steady(SHAPE, config, WARM_UP_ROUNDS, |_| 0, draw)?;
            let what = format!("uniform, spare {:.0} %", spare * 100.0);
            good &= print_row(&what, name, found, theory.map(|theory| (theory, UNIFORM_LIMIT)));
        }
    }
    Ok(good)
}

/// A drive with hot data beside cold; the share of writes is that of cold data, and the other way round.
fn with_classes(
    shape: Shape,
    placement: Placement,
    victims: VictimSelection,
    hot: f64,
) -> Result<f64, Box<dyn std::error::Error>> {
    let user = user_units(shape, placement, CLASSES_SPARE)?;
    let (units, hot_units) = (u64::from(user), (f64::from(user) * (1.0 - hot)) as u64);
    // Hot data is scattered over the drive.
    let unit_of = |index: u64| (index * SCATTER % units) as u32;
    let mut hints = vec![0; user as usize];
    (0..hot_units).for_each(|index| hints[unit_of(index) as usize] = 1);
    let draw = |random: &mut Stream| {
        let is_hot = random.unit() < hot;
        let index =
            if is_hot { random.below(hot_units) } else { hot_units + random.below(units - hot_units) };
        unit_of(index)
    };
    // Cold data is rewritten as often as at 80/20, where the usual rounds are enough.
    let warm_up_rounds = WARM_UP_ROUNDS.max((0.8 / (1.0 - hot)).round() as u32);
    steady(
        shape,
        config(placement, victims, CHOICES, user),
        warm_up_rounds,
        |unit| hints[unit as usize],
        draw,
    )
}

/// Whether hot data mixed with cold, and hot data that an oracle keeps apart from cold, come out as in theory, and what
/// policies make of it between the two.
fn class_rows() -> Result<bool, Box<dyn std::error::Error>> {
    let mut good = true;
    for hot in [0.60, 0.80, 0.90, 0.95] {
        let classes = [
            Class { data_share: 1.0 - hot, write_share: hot },
            Class { data_share: hot, write_share: 1.0 - hot },
        ];
        let mixed = mixed_write_amplification(&classes, 1.0 + CLASSES_SPARE);
        let separated = separated_write_amplification(&classes, 1.0 + CLASSES_SPARE);
        let what = format!("{:.0}/{:.0}, spare 14.3 %", hot * 100.0, (1.0 - hot) * 100.0);
        let found = with_classes(SHAPE, Placement::OneStream, VictimSelection::Fifo, hot)?;
        good &= print_row(&what, "one stream, fifo", found, Some((mixed, CLASSES_LIMIT)));
        let found = with_classes(LARGE_BLOCKS, Placement::Hint, VictimSelection::CostBenefit, hot)?;
        good &= print_row(&what, "told apart", found, Some((separated, CLASSES_LIMIT)));
        if ![0.80, 0.90].contains(&hot) {
            continue;
        }
        for placement in [Placement::HostAndCleaning, Placement::HotCold, Placement::Sepbit] {
            let found = with_classes(SHAPE, placement, VictimSelection::CostBenefit, hot)?;
            let between = (separated..=mixed).contains(&found);
            good &= between;
            let verdict = if between { "ok: between" } else { "FAILED: not between" };
            println!(
                "{what:<24}  {:<17} {found:>9.3} {:>23}  {verdict} {separated:.3} and {mixed:.3}",
                placement.name(),
                ""
            );
        }
    }
    Ok(good)
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    println!(
        "Random one-page writes, steady state; {} dies x {} blocks x {} pages, where hot \
         data is told apart {} x {} x {}; spare area without what is held back",
        SHAPE.dies, SHAPE.blocks, SHAPE.pages, LARGE_BLOCKS.dies, LARGE_BLOCKS.blocks, LARGE_BLOCKS.pages
    );
    println!("{:<24}  {:<17} {:>9} {:>9} {:>11}  verdict", "", "policy", "WA", "theory", "deviation");
    let good = uniform_rows()? & class_rows()?;
    println!(
        "After every run, recounted from the map: valid pages = user pages, free blocks = erased blocks, 1 to {FREE_MAX} a die, \
         and at most {FURTHER_FREE_MAX} more with further streams."
    );
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
