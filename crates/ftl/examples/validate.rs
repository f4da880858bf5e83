//! Write amplification of the victim policies against closed formulas and the mean field, for uniform writes.
//! `make validate` runs it; exit status 1 if a deviation is beyond its limit.

use std::process::ExitCode;

use drivelab_ftl::theory::{d_choices_write_amplification, fifo_write_amplification};
use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{CleaningMode, FtlConfig, Mapping, PageMap, VictimSelection};
use drivelab_nand::{Geometry, Lpn, UnitLayout};
use drivelab_sim::Stream;

/// Uniform writes must be this close to theory.
const UNIFORM_LIMIT: f64 = 0.005;

const PAGES_PER_BLOCK: u32 = 64;
const BLOCKS_PER_DIE: u32 = 4096;
const DIES: u32 = 4;
const CHOICES: u32 = 10;

/// Greedy looks at all blocks of a die.
const GREEDY_CHOICES: u32 = BLOCKS_PER_DIE;

/// Random one-page writes over all of the drive until the state is steady, then measured; `draw` gives the next unit of
/// so many.
fn steady(
    policy: VictimSelection,
    user_units: u32,
    draw: impl Fn(&mut Stream, u32) -> u32,
) -> Result<f64, Box<dyn std::error::Error>> {
    let config = FtlConfig {
        user_units,
        victim_selection: policy,
        choices: CHOICES,
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
    };
    let mut drive = Untimed::new(PageMap::new(layout()?, config)?);
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
    let probe = FtlConfig {
        user_units: 1,
        victim_selection: VictimSelection::Fifo,
        choices: CHOICES,
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
    };
    let held_back = PageMap::new(layout()?, probe)?.held_back_bytes() / 4096;
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

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    println!(
        "Random one-page writes, steady state; {DIES} dies x {BLOCKS_PER_DIE} blocks x {PAGES_PER_BLOCK} pages; spare \
         area without what is held back"
    );
    println!("{:<24}  {:<12} {:>9} {:>9} {:>11}  verdict", "", "policy", "WA", "theory", "deviation");
    let mut good = true;
    for spare in [0.07, 0.15, 0.28, 0.50] {
        let user = user_units(spare)?;
        let ratio = 1.0 / (1.0 + spare);
        let best_of = |choices| d_choices_write_amplification(ratio, choices, PAGES_PER_BLOCK);
        for (name, policy, theory) in [
            ("fifo", VictimSelection::Fifo, Some(fifo_write_amplification(ratio))),
            ("greedy", VictimSelection::Greedy, Some(best_of(GREEDY_CHOICES))),
            ("d-choices", VictimSelection::DChoices, Some(best_of(CHOICES))),
            ("random", VictimSelection::Random, None),
            ("cost-benefit", VictimSelection::CostBenefit, None),
        ] {
            let found = steady(policy, user, |random, units| random.below(u64::from(units)) as u32)?;
            let what = format!("uniform, spare {:.0} %", spare * 100.0);
            good &= print_row(&what, name, found, theory.map(|theory| (theory, UNIFORM_LIMIT)));
        }
    }
    println!(
        "After every run, recounted from the map: valid pages = user pages, free blocks = erased blocks, 1 to 3 a die."
    );
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
