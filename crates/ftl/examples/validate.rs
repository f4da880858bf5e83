//! Write amplification of every victim policy against the closed formula for FIFO.
//! `make validate` runs it; exit status 1 if a deviation is beyond its limit.

use std::process::ExitCode;

use drivelab_ftl::theory::fifo_write_amplification;
use drivelab_ftl::untimed::Untimed;
use drivelab_ftl::{CleaningMode, FtlConfig, Mapping, PageMap, VictimSelection};
use drivelab_nand::{Geometry, Lpn, UnitLayout};
use drivelab_sim::Stream;

/// FIFO must be this close to the formula.
const FIFO_LIMIT: f64 = 0.02;

struct Steady {
    write_amplification: f64,
    user_ratio: f64,
}

/// Uniform random one-page writes over all of the drive until the state is steady, then measured.
fn steady(policy: VictimSelection, spare_ratio: f64, seed: u64) -> Steady {
    let geometry = Geometry {
        channel_count: 2,
        dies_per_channel: 2,
        planes_per_die: 1,
        blocks_per_plane: 4096,
        pages_per_block: 64,
        page_bytes: 4096,
        oob_bytes: 0,
        two_plane: false,
    };
    let layout = UnitLayout::new(geometry, 4096).expect("constant geometry");
    let user_units = (f64::from(layout.unit_count()) / (1.0 + spare_ratio)) as u32;
    let config = FtlConfig {
        user_units,
        victim_selection: policy,
        choices: 10,
        cleaning_mode: CleaningMode::Relocate,
        cleaning_start_blocks: 2,
        cleaning_stop_blocks: 2,
        trim_supported: true,
        idle_cleaning_blocks: 0,
        wear_spread_limit: 0,
        journal_updates_per_page: 0,
        checkpoint_updates: 0,
        checkpoint_pages: 0,
        seed,
    };
    let mut drive = Untimed::new(PageMap::new(layout, config).expect("valid configuration"));
    let mut random = Stream::new(seed, 1);
    for lpn in 0..user_units {
        drive.write(&[Lpn(lpn)]).expect("the FTL keeps room");
    }
    let write = |drive: &mut Untimed<PageMap>, random: &mut Stream, count: u32| {
        for _ in 0..count {
            let lpn = random.below(u64::from(user_units)) as u32;
            drive.write(&[Lpn(lpn)]).expect("the FTL keeps room");
        }
    };
    write(&mut drive, &mut random, 3 * user_units);
    let before = *drive.ftl.counters();
    write(&mut drive, &mut random, 2 * user_units);
    let after = *drive.ftl.counters();
    drive.ftl.check().expect("the books balance");
    assert_eq!(drive.ftl.valid_units(), u64::from(user_units), "valid pages are conserved");
    let dies = layout.geometry.die_count();
    let free = drive.ftl.free_blocks();
    assert!((u64::from(dies)..=u64::from(3 * dies)).contains(&free), "free blocks are conserved: {free}");
    let write_amplification = (after.programs() - before.programs()) as f64 / f64::from(2 * user_units);
    Steady { write_amplification, user_ratio: f64::from(user_units) / f64::from(layout.unit_count()) }
}

fn main() -> ExitCode {
    println!(
        "Uniform random one-page writes, steady state; 4 dies x 4096 blocks x 64 pages, start threshold 2 blocks"
    );
    println!("{:>10}  {:<12} {:>9} {:>9} {:>11}  verdict", "spare", "policy", "WA", "formula", "deviation");
    let mut failed = false;
    let policies = [
        ("fifo", VictimSelection::Fifo),
        ("greedy", VictimSelection::Greedy),
        ("cost-benefit", VictimSelection::CostBenefit),
        ("d-choices", VictimSelection::DChoices),
        ("random", VictimSelection::Random),
    ];
    for spare in [0.07, 0.15, 0.28, 0.50] {
        let mut fifo = f64::INFINITY;
        for (name, policy) in policies {
            let result = steady(policy, spare, 1);
            let formula = fifo_write_amplification(result.user_ratio);
            let deviation = result.write_amplification / formula - 1.0;
            let verdict = match policy {
                VictimSelection::Fifo => {
                    fifo = result.write_amplification;
                    if deviation.abs() <= FIFO_LIMIT { "ok: within 2 %" } else { "FAILED: beyond 2 %" }
                }
                VictimSelection::Greedy if result.write_amplification <= fifo => "ok: at or below fifo",
                VictimSelection::Greedy => "FAILED: above fifo",
                _ => "",
            };
            failed |= verdict.starts_with("FAILED");
            println!(
                "{:>8.0} %  {name:<12} {:>9.3} {formula:>9.3} {:>+9.2} %  {verdict}",
                spare * 100.0,
                result.write_amplification,
                deviation * 100.0
            );
        }
    }
    println!(
        "After every run, recounted from the map: valid pages = user pages, free blocks = erased blocks, 1 to 3 a die."
    );
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
