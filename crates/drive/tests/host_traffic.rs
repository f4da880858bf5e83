//! What a drive says of its traffic. What the host has written and read counts when it is done: in any window of time it
//! is what was done there, as flash's work is, however much was outstanding when the window began.

use crate::shipped;
use drivelab_controller::{Command, Device, Op};

const MIB: u64 = 1 << 20;
const SECTORS: u32 = 2048;

#[test]
fn traffic_counts_with_completions_not_with_what_is_outstanding() {
    let models = [
        ("intel-x25-m-g1-80gb", "16"),
        ("corsair-force-f100-100gb", "16"),
        ("ocz-summit-128gb", "16"),
        ("samsung-980-pro-1tb", "64"),
        ("wd-velociraptor-300gb", "1"),
        ("intel-x25-v-40gb-raid0-x2", "16"),
    ];
    for (name, scale_divisor) in models {
        let scaled = [("scale_divisor", scale_divisor)];
        let mut drive = shipped::drive(name, if scale_divisor == "1" { &[] } else { &scaled });
        for (op, key) in [(Op::Write, "host_write_bytes"), (Op::Read, "host_read_bytes")] {
            let depth = drive.queue_depth().min(32);
            let (mut done, mut done_bytes) = (Vec::new(), 0);
            for number in 0..200 {
                while drive.engine().outstanding() >= depth {
                    drive.advance_to_completion(u64::MAX, &mut done);
                }
                done_bytes += done.drain(..).count() as u64 * MIB;
                let counted = drive.counters()[key].as_u64().unwrap();
                assert_eq!(counted, done_bytes, "{name}, {key} after {number} commands");
                let lba = u64::from(number) * u64::from(SECTORS);
                drive.submit(drive.now_ns(), Command::new(number, op, lba, SECTORS)).unwrap();
            }
            while drive.engine().outstanding() > 0 {
                drive.advance_to_completion(u64::MAX, &mut done);
            }
            assert_eq!(drive.counters()[key], 200 * MIB, "{name}");
        }
    }
}

#[test]
fn an_array_tells_by_smart_what_its_members_do() {
    let scaled = [("scale_divisor", "32")];
    let single = shipped::drive("intel-x25-v-40gb", &scaled).smart();
    let mut pair = shipped::drive("intel-x25-v-40gb-raid0-x2", &scaled);
    for number in 0..100 {
        pair.submit(pair.now_ns(), Command::new(number, Op::Write, u64::from(number) * 256, 256)).unwrap();
        pair.advance_to_completion(u64::MAX, &mut Vec::new());
    }
    let facts = pair.smart();
    let number = |key: &str| facts[key].as_u64().unwrap_or_else(|| panic!("{key} of {facts}"));
    assert_eq!(number("host_write_bytes"), 100 * 256 * 512);
    let purposes = ["host", "cleaning", "map", "wear"].map(|word| number(&format!("program_bytes_{word}")));
    assert_eq!(number("flash_write_bytes"), purposes.iter().sum::<u64>());
    let amplification = number("flash_write_bytes") as f64 / number("host_write_bytes") as f64;
    assert!((facts["write_amplification"].as_f64().unwrap() - amplification).abs() < 1e-12);
    assert_eq!(Some(number("block_count")), single["block_count"].as_u64().map(|count| 2 * count));
    // Of the drive that has the least left: the array ends with it.
    for key in ["spare_blocks", "spare_blocks_new"] {
        assert_eq!(facts[key], single[key], "{key}");
    }
    let blocks = facts["erase_count_histogram"]["blocks"].as_array().unwrap();
    assert_eq!(blocks.iter().filter_map(serde_json::Value::as_u64).sum::<u64>(), number("block_count"));
    assert_eq!((number("read_errors"), facts["read_only"].as_bool()), (0, Some(false)));
    // Disks have no health of flash.
    assert!(shipped::drive("wd-velociraptor-300gb", &[]).smart()["read_only"].is_null());
}
