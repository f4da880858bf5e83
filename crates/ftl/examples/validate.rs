//! Write amplification of the victim policies against closed formulas and the mean field: uniform writes, and hot data
//! beside cold. `make validate` runs it; exit status 1 if a deviation is beyond its limit.

use std::process::ExitCode;

use drivelab_ftl::theory::{
    Class, d_choices_write_amplification, fifo_write_amplification, mixed_write_amplification,
    separated_write_amplification,
};
use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{Books, CleaningMode, FtlConfig, PageMap, VictimSelection};
use drivelab_nand::{Geometry, Lpn, UnitLayout};
use drivelab_sim::Stream;

/// Uniform writes must be this close to theory.
const UNIFORM_LIMIT: f64 = 0.005;

/// With hot data beside cold, no further than this beyond what theory has for data kept apart and for data mixed.
const CLASSES_LIMIT: f64 = 0.01;

const PAGES_PER_BLOCK: u32 = 64;
const BLOCKS_PER_DIE: u32 = 4096;
const DIES: u32 = 4;

/// Blocks of which d-choices takes the best, and in its other row at one spare area.
const CHOICES: u32 = 10;
const MANY_CHOICES: u32 = 1000;

/// Greedy looks at all blocks of a die.
const GREEDY_CHOICES: u32 = BLOCKS_PER_DIE;

/// Spare over user capacity of the rows with two classes: user / raw is .875.
const CLASSES_SPARE: f64 = 1.0 / 0.875 - 1.0;

/// A prime above every number of units: multiplying by it scatters hot data over the drive.
const SCATTER: u64 = 2_654_435_761;

/// Random one-page writes over all of the drive until the state is steady, then measured; `draw` gives the next unit of
/// so many.
fn steady(
    policy: VictimSelection,
    choices: u32,
    user_units: u32,
    draw: impl Fn(&mut Stream, u32) -> u32,
) -> Result<f64, Box<dyn std::error::Error>> {
    let mut drive = Untimed::new(PageMap::new(layout()?, config(policy, choices, user_units))?);
    let mut random = Stream::new(1, 1);
    for lpn in 0..user_units {
        drive.write(&[Lpn(lpn)])?;
    }
    let mut write = |drive: &mut Untimed<PageMap>, rounds: u32| -> Result<(), drivelab_ftl::FtlError> {
        for _ in 0..rounds * user_units {
            drive.write(&[Lpn(draw(&mut random, user_units))])?;
        }
        Ok(())
    };
    write(&mut drive, 4)?;
    let before = *drive.ftl.counters();
    write(&mut drive, 3)?;
    let after = *drive.ftl.counters();
    drive.ftl.check()?;
    assert_eq!(drive.ftl.valid_units(), u64::from(user_units), "valid pages are conserved");
    let free = drive.ftl.free_blocks();
    let allowed = u64::from(DIES)..=u64::from(3 * DIES);
    assert!(allowed.contains(&free), "free blocks are conserved: {free}");
    Ok((after.programs() - before.programs()) as f64 / f64::from(3 * user_units))
}

fn config(victim_selection: VictimSelection, choices: u32, user_units: u32) -> FtlConfig {
    FtlConfig {
        user_units,
        victim_selection,
        choices,
        window_blocks: 4,
        cleaning_mode: CleaningMode::Relocate,
        cleaning_start_blocks: 2,
        cleaning_stop_blocks: 2,
        trim_supported: true,
        idle_cleaning_blocks: 0,
        wear_spread_limit: 0,
        journal_updates_per_page: 0,
        checkpoint_updates: 0,
        checkpoint_pages: 0,
        seed: 1,
    }
}

fn layout() -> Result<UnitLayout, drivelab_nand::GeometryError> {
    let geometry = Geometry {
        channel_count: 2,
        dies_per_channel: DIES / 2,
        planes_per_die: 1,
        blocks_per_plane: BLOCKS_PER_DIE,
        pages_per_block: PAGES_PER_BLOCK,
        page_bytes: 4096,
        oob_bytes: 0,
        two_plane: false,
    };
    UnitLayout::new(geometry, 4096)
}

/// User units at which raw capacity less what is held back (free and open blocks, of which half is written, and half of
/// the block that is being emptied) is (1 + spare) of them: theory knows only blocks that wait.
fn user_units(spare_ratio: f64) -> Result<u32, Box<dyn std::error::Error>> {
    let held_back =
        PageMap::new(layout()?, config(VictimSelection::Fifo, CHOICES, 1))?.held_back_bytes() / 4096;
    let waiting = u64::from(layout()?.unit_count()) - held_back;
    Ok((waiting as f64 / (1.0 + spare_ratio)) as u32)
}

/// Prints a row; whether it is within its limit.
fn print_row(what: &str, policy: &str, found: f64, theory: Option<(f64, f64)>) -> bool {
    let Some((expected, limit)) = theory else {
        println!("{what:<24}  {policy:<12} {found:>9.3}");
        return true;
    };
    let deviation = found / expected - 1.0;
    let good = deviation.abs() <= limit;
    let verdict = if good { "ok: within" } else { "FAILED: beyond" };
    println!(
        "{what:<24}  {policy:<12} {found:>9.3} {expected:>9.3} {:>+9.2} %  {verdict} {:.1} %",
        deviation * 100.0,
        limit * 100.0
    );
    good
}

/// Whether all rows of uniform writes are within their limits.
fn uniform_rows() -> Result<bool, Box<dyn std::error::Error>> {
    let mut good = true;
    for (spare, many) in [(0.07, false), (0.15, false), (0.28, true), (0.50, false)] {
        let user = user_units(spare)?;
        let ratio = 1.0 / (1.0 + spare);
        let best_of = |choices| Some(d_choices_write_amplification(ratio, choices, PAGES_PER_BLOCK));
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
            let found = steady(policy, choices, user, |random, units| random.below(u64::from(units)) as u32)?;
            let what = format!("uniform, spare {:.0} %", spare * 100.0);
            good &= print_row(&what, name, found, theory.map(|theory| (theory, UNIFORM_LIMIT)));
        }
    }
    Ok(good)
}

/// Whether drives with hot data beside cold come out between theory of data that an oracle keeps apart and of data that
/// lie mixed: what the host writes and what cleaning copies go to blocks of their own, and copies are colder.
fn class_rows() -> Result<bool, Box<dyn std::error::Error>> {
    let user = user_units(CLASSES_SPARE)?;
    let mut good = true;
    for hot in [0.60, 0.80, 0.90, 0.95] {
        let classes = [
            Class { data_share: 1.0 - hot, write_share: hot },
            Class { data_share: hot, write_share: 1.0 - hot },
        ];
        let mixed = mixed_write_amplification(&classes, 1.0 + CLASSES_SPARE);
        let separated = separated_write_amplification(&classes, 1.0 + CLASSES_SPARE);
        let found = steady(VictimSelection::Fifo, CHOICES, user, |random, units| {
            let hot_units = (f64::from(units) * (1.0 - hot)) as u64;
            let index = if random.unit() < hot {
                random.below(hot_units)
            } else {
                hot_units + random.below(u64::from(units) - hot_units)
            };
            (index * SCATTER % u64::from(units)) as u32
        })?;
        let between = (separated * (1.0 - CLASSES_LIMIT)..=mixed * (1.0 + CLASSES_LIMIT)).contains(&found);
        good &= between;
        println!(
            "{:<24}  {:<12} {found:>9.3} {mixed:>9.3} {:>+9.2} %  {} kept apart ({separated:.3}) and mixed",
            format!("{:.0}/{:.0}, spare 14.3 %", hot * 100.0, (1.0 - hot) * 100.0),
            "fifo",
            (found / mixed - 1.0) * 100.0,
            if between { "ok: between" } else { "FAILED: not between" }
        );
    }
    Ok(good)
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    println!(
        "Random one-page writes, steady state; {DIES} dies x {BLOCKS_PER_DIE} blocks x {PAGES_PER_BLOCK} pages; spare \
         area without what is held back"
    );
    println!("{:<24}  {:<12} {:>9} {:>9} {:>11}  verdict", "", "policy", "WA", "theory", "deviation");
    let good = uniform_rows()? & class_rows()?;
    println!(
        "After every run, recounted from the map: valid pages = user pages, free blocks = erased blocks, 1 to 3 a die."
    );
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
