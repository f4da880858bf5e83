//! Write amplification and the share of parity against arithmetic.

use drivelab_ftl::theory::fifo_write_amplification;
use drivelab_ftl::{Books, CompressedMap, Content, VictimSelection};
use drivelab_sim::Stream;

use super::{Packed, compression, ftl, geometry};

/// Uniform random writes over the whole drive until the state is steady: flash bytes programmed per host byte.
fn steady_write_amplification(
    permille: u16,
    user_ratio: f64,
    parity: bool,
    policy: VictimSelection,
) -> (f64, f64) {
    let geometry = geometry(4, 512, 64, 4096);
    let raw = 4 * 512 * 64;
    let user = (f64::from(raw) * user_ratio) as u32;
    let mut drive =
        Packed::new(CompressedMap::new(geometry, ftl(user, policy), compression(parity)).unwrap());
    let content = Content { compressed_permille: permille, duplicate_permille: 0, pool: 1, seed: 0 };
    let mut random = Stream::new(1, 1);
    for lpn in 0..user {
        drive.write(lpn, &content);
    }
    let mut write = |drive: &mut Packed, count: u32| {
        for _ in 0..count {
            drive.write(random.below(u64::from(user)) as u32, &content);
        }
    };
    write(&mut drive, 4 * user);
    let before = *drive.drive.ftl.counters();
    write(&mut drive, 2 * user);
    let after = *drive.drive.ftl.counters();
    drive.drive.ftl.check().unwrap();
    let host = f64::from(2 * user);
    ((after.programs() - before.programs()) as f64 / host, f64::from(user) / f64::from(raw))
}

#[test]
fn incompressible_data_follows_the_formula() {
    let (write_amplification, ratio) = steady_write_amplification(1000, 0.8, false, VictimSelection::Fifo);
    let formula = fifo_write_amplification(ratio);
    assert!((write_amplification / formula - 1.0).abs() < 0.03, "{write_amplification} against {formula}");
    let (greedy, _) = steady_write_amplification(1000, 0.8, false, VictimSelection::Greedy);
    assert!(greedy < write_amplification && greedy > 0.85 * formula, "{greedy} against {formula}");
}

#[test]
fn compressible_data_has_less_to_write_and_more_spare() {
    // A quarter of the size: a quarter of the space is valid, and every page takes four units.
    let (write_amplification, ratio) = steady_write_amplification(250, 0.8, false, VictimSelection::Fifo);
    let formula = 0.25 * fifo_write_amplification(0.25 * ratio);
    assert!(formula < 0.3);
    assert!((write_amplification / formula - 1.0).abs() < 0.03, "{write_amplification} against {formula}");
}

#[test]
fn parity_takes_its_share() {
    // A quarter of four dies: spare shrinks by it, and each data page brings a third of a parity page.
    let (write_amplification, ratio) = steady_write_amplification(1000, 0.6, true, VictimSelection::Fifo);
    let formula = fifo_write_amplification(ratio / 0.75) * 4.0 / 3.0;
    assert!((write_amplification / formula - 1.0).abs() < 0.04, "{write_amplification} against {formula}");
}

#[test]
fn one_page_in_as_many_as_there_are_dies_is_parity() {
    let map = CompressedMap::new(
        geometry(8, 64, 64, 16384),
        ftl(50_000, VictimSelection::Greedy),
        compression(true),
    );
    let mut drive = Packed::new(map.unwrap());
    for lpn in 0..50_000 {
        drive.write(lpn, &Content::RANDOM);
    }
    drive.flush();
    let counters = *drive.drive.ftl.counters();
    let share = counters.programs_parity as f64 / counters.programs() as f64;
    assert!((share - 1.0 / 8.0).abs() < 0.003, "{share}");
}
