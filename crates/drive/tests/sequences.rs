//! What the host writes in order is written in order by drives that merge, also with a small buffer: rows that are still
//! coming aren't torn apart while banks of the next superblock are idle and those of this one are at work.

use crate::shipped;
use drivelab_controller::{Command, Device, Op};

const SECTORS: u32 = 256;
const DEPTH: u32 = 4;

/// Merges that copied, of two passes over the whole drive.
fn copying_merges(name: &str, scale_divisor: &str) -> (u64, u64) {
    let mut drive = shipped::drive(name, &[("scale_divisor", scale_divisor)]);
    let mut done = Vec::new();
    let depth = drive.queue_depth().min(DEPTH);
    let count = drive.capacity_sectors() / u64::from(SECTORS);
    for index in 0..2 * count {
        while drive.engine().outstanding() >= depth {
            drive.advance_to_completion(u64::MAX, &mut done);
        }
        done.clear();
        let lba = index % count * u64::from(SECTORS);
        drive.submit(drive.now_ns(), Command::new(index as u32, Op::Write, lba, SECTORS)).unwrap();
    }
    let counters = drive.counters();
    let of = |key: &str| counters[key].as_u64().unwrap();
    (of("merges_full") + of("merges_partial"), of("merges_switch"))
}

#[test]
fn a_sequence_is_switched_in_not_merged() {
    for name in ["ocz-vertex-120gb@pre-release", "ocz-summit-128gb", "samsung-slc-64gb"] {
        for scale_divisor in ["4", "8", "32", "64"] {
            let (copied, switched) = copying_merges(name, scale_divisor);
            // The last stripe of the drive isn't whole, and one superblock of each bank is open when the pass ends.
            assert!(
                20 * copied < switched,
                "{name}, 1/{scale_divisor}: {copied} copied, {switched} switched"
            );
        }
    }
}
