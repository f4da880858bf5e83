//! Drives of every family follow arithmetic on their own parameters, and go on following it when a parameter changes:
//! one law a row, with the shipped model it is tried on and what is changed in it.

use crate::shipped;
use drivelab_controller::{Command, Content, Device, Op};
use drivelab_drive::Drive;
use drivelab_ftl::theory::fifo_write_amplification;
use drivelab_sim::Stream;

/// A model, and changes of it.
type Variant = (&'static str, &'static [(&'static str, &'static str)]);

struct Law {
    name: &'static str,
    /// What the drive does, in some unit.
    measure: fn(&mut Drive) -> f64,
    /// What it must be, in the same unit.
    formula: fn(&Drive) -> f64,
    tolerance: f64,
    /// What all variants have.
    common: &'static [(&'static str, &'static str)],
    variants: &'static [Variant],
}

const LAWS: &[Law] = &[
    Law {
        name: "a page map writes as fast as programs in flight: tPROG, programs at once, channels, dies",
        measure: sequential_write,
        formula: |drive| {
            let limit = value(drive, "controller.programs_per_channel");
            let dies = value(drive, "flash.dies_per_channel");
            let at_once = if limit == 0.0 { dies } else { limit.min(dies) };
            value(drive, "flash.channel_count") * at_once * page_rate(drive)
        },
        tolerance: 0.06,
        common: &[("ftl.checkpoint_updates", "0"), ("ftl.checkpoint_bytes", "0")],
        variants: &[
            ("intel-x25-m-g2-160gb", &[]),
            ("intel-x25-m-g2-160gb", &[("flash.program_ns", "412500")]),
            ("intel-x25-v-40gb", &[]),
            ("intel-x25-v-40gb", &[("controller.programs_per_channel", "0")]),
            (
                "intel-x25-v-40gb",
                &[("controller.programs_per_channel", "0"), ("flash.dies_per_channel", "4")],
            ),
        ],
    },
    Law {
        name: "data that does not compress: all dies, less parity",
        measure: sequential_write,
        formula: |drive| {
            let dies = value(drive, "flash.channel_count") * value(drive, "flash.dies_per_channel");
            (dies - 1.0) * page_rate(drive)
        },
        tolerance: 0.06,
        common: &[("ftl.map_cache_bytes", "0")],
        variants: &[
            ("corsair-force-f100-100gb", &[]),
            ("corsair-force-f100-100gb", &[("flash.program_ns", "1396000")]),
            (
                "corsair-force-f100-100gb",
                &[("flash.dies_per_channel", "2"), ("user_capacity_bytes", "50000000000")],
            ),
        ],
    },
    Law {
        name: "a drive that compresses programs what is left, and a page of parity for all other dies' pages",
        measure: |drive| {
            write_at_random(drive, 60_000, content(460));
            once(drive, Op::Flush, 0, 0);
            (counter(drive, "program_bytes_host") + counter(drive, "program_bytes_parity"))
                / 60_000.0
                / 4096.0
        },
        formula: |drive| {
            let dies = value(drive, "flash.channel_count") * value(drive, "flash.dies_per_channel");
            let granule = value(drive, "ftl.granule_bytes");
            let units_per_page = 4096.0 / ((0.46 * 4096.0 / granule).ceil() * granule);
            1.0 / units_per_page.floor() * dies / (dies - value(drive, "ftl.die_parity"))
        },
        tolerance: 0.03,
        common: &[],
        variants: &[
            ("corsair-force-f100-100gb", &[]),
            ("corsair-force-f100-100gb", &[("ftl.die_parity", "false")]),
            ("corsair-force-f100-100gb", &[("ftl.granule_bytes", "4096")]),
            (
                "corsair-force-gs-240gb",
                &[("flash.dies_per_channel", "1"), ("user_capacity_bytes", "30000000000")],
            ),
        ],
    },
    Law {
        name: "small writes to a coarse map are programmed as whole units",
        measure: |drive| {
            write_at_random(drive, 4000, Content::RANDOM);
            once(drive, Op::Flush, 0, 0);
            counter(drive, "program_bytes_host") / 4000.0 / 4096.0
        },
        formula: |drive| value(drive, "ftl.map_unit_bytes") / 4096.0,
        tolerance: 0.02,
        common: &[],
        variants: &[
            ("ocz-vertex-120gb", &[]),
            ("ocz-vertex-120gb", &[("ftl.map_unit_bytes", "32768")]),
            ("ocz-vertex-120gb", &[("ftl.map_unit_bytes", "65536")]),
        ],
    },
    Law {
        name: "a small write to a superblock map takes one merge, in ms, whatever the number of banks",
        measure: |drive| {
            // Each bank's first write has no replacement to complete.
            write_at_random(drive, 150, Content::RANDOM);
            let start = drive.now_ns();
            write_at_random(drive, 60, Content::RANDOM);
            (drive.now_ns() - start) as f64 / 1e6 / 60.0
        },
        formula: |drive| {
            let (bus, rows) = (row_bus_ns(drive), value(drive, "flash.pages_per_block"));
            let row = value(drive, "flash.read_ns") + 2.0 * bus + value(drive, "flash.program_ns");
            (rows * row + value(drive, "flash.erase_ns")) / 1e6
        },
        tolerance: 0.03,
        common: &[("ftl.rotation_superblocks", "0")],
        variants: &[
            ("jmicron-jmf602b-64gb", &[]),
            ("jmicron-jmf602b-64gb", &[("flash.program_ns", "400000")]),
            ("jmicron-jmf602b-64gb", &[("flash.dies_per_channel", "16")]),
            ("jmicron-jmf602b-64gb", &[("flash.pages_per_block", "64"), ("flash.blocks_per_plane", "4096")]),
        ],
    },
    Law {
        name: "pages that don't compress are moved and corrected one after another on each channel, MB/s",
        measure: |drive| {
            (0..16).for_each(|index| once(drive, Op::Write, index * 4096, 4096));
            once(drive, Op::Flush, 0, 0);
            let start = drive.now_ns();
            (0..16).for_each(|index| once(drive, Op::Read, index * 4096, 4096));
            16.0 * 4096.0 * 512.0 / ((drive.now_ns() - start) as f64 / 1e9) / 1e6
        },
        formula: |drive| {
            let page = row_bus_ns(drive) + value(drive, "controller.decode_ns");
            value(drive, "flash.channel_count") * value(drive, "flash.page_bytes") / page * 1e3
        },
        tolerance: 0.06,
        common: &[("ftl.map_cache_bytes", "0")],
        variants: &[
            ("corsair-force-f100-100gb", &[]),
            ("corsair-force-f100-100gb", &[("controller.decode_ns", "186000")]),
            ("corsair-force-f100-100gb", &[("flash.command_ns", "94000")]),
        ],
    },
    Law {
        name: "the processor works on each unit that is written in part before the next command, in us",
        measure: |drive| {
            let random = &mut Stream::new(7, 1);
            let start = drive.now_ns();
            (0..1000).for_each(|_| once(drive, Op::Write, 8 * random.below(1 << 20) + 3, 8));
            (drive.now_ns() - start) as f64 / 1e3 / 1000.0
        },
        formula: |drive| {
            let (bytes, frame) = (4096.0, value(drive, "link.frame_overhead_ns"));
            let link = bytes / value(drive, "link.bytes_per_s") * 1e9 + frame;
            let partial = 2.0 * value(drive, "controller.partial_unit_firmware_ns");
            (value(drive, "controller.write_firmware_ns") + partial.max(link)) / 1e3
        },
        tolerance: 0.02,
        common: &[],
        variants: &[
            ("samsung-slc-64gb", &[]),
            ("samsung-slc-64gb", &[("controller.partial_unit_firmware_ns", "200000")]),
            ("samsung-slc-64gb", &[("controller.partial_unit_firmware_ns", "0")]),
            ("jmicron-jmf602b-64gb", &[("controller.partial_unit_firmware_ns", "600000000")]),
        ],
    },
    Law {
        name: "a used log-block map merges for as many writes as the buffer gathers of a superblock",
        measure: |drive| {
            fill(drive);
            let merges = |drive: &Drive| counter(drive, "merges_full") + counter(drive, "merges_partial");
            write_at_random(drive, 4000, Content::RANDOM);
            let before = merges(drive);
            write_at_random(drive, 16_000, Content::RANDOM);
            16_000.0 / (merges(drive) - before)
        },
        // The superblock that leaves has gathered units since all the others left: twice as many as the average.
        formula: |drive| {
            let superblocks = drive.capacity_sectors() as f64 / f64::from(8 << 11);
            2.0 * value(drive, "write_buffer.size_bytes") / 4096.0 / superblocks
        },
        tolerance: 0.12,
        common: &[
            ("flash.dies_per_channel", "4"),
            ("flash.blocks_per_plane", "40"),
            ("user_capacity_bytes", "536870912"),
            ("ftl.reserve_blocks", "24"),
            ("ftl.rotation_superblocks", "0"),
        ],
        variants: &[
            ("ocz-summit-128gb", &[("write_buffer.size_bytes", "2097152")]),
            ("ocz-summit-128gb", &[("write_buffer.size_bytes", "4194304")]),
            (
                "ocz-summit-128gb",
                &[
                    ("write_buffer.size_bytes", "4194304"),
                    ("user_capacity_bytes", "268435456"),
                    ("flash.blocks_per_plane", "32"),
                ],
            ),
        ],
    },
    Law {
        name: "write amplification of random writes follows the spare area",
        measure: |drive| {
            fill(drive);
            let units = drive.capacity_sectors() / 8;
            write_at_random(drive, 2 * units, Content::RANDOM);
            let cleaning = |drive: &Drive| counter(drive, "program_bytes_cleaning");
            let before = cleaning(drive);
            write_at_random(drive, units, Content::RANDOM);
            1.0 + (cleaning(drive) - before) / 4096.0 / units as f64
        },
        // Three blocks of a die never hold data for good: two open ones and one in reserve.
        formula: |drive| {
            let raw = drive.engine().derived()["raw_capacity_bytes"].as_f64().unwrap() * (1.0 - 3.0 / 256.0);
            fifo_write_amplification(drive.capacity_sectors() as f64 * 512.0 / raw)
        },
        tolerance: 0.04,
        common: &[
            ("ftl.victim_selection", "fifo"),
            ("ftl.wear_spread_limit", "0"),
            ("ftl.checkpoint_updates", "0"),
            ("ftl.checkpoint_bytes", "0"),
            ("ftl.journal_updates_per_page", "0"),
            ("ftl.cleaning_stop_blocks", "2"),
            ("flash.channel_count", "2"),
            ("flash.dies_per_channel", "2"),
            ("flash.blocks_per_plane", "128"),
            ("flash.pages_per_block", "64"),
        ],
        variants: &[
            ("intel-x25-m-g1-80gb", &[("spare_ratio", "0.15")]),
            ("intel-x25-m-g1-80gb", &[("spare_ratio", "0.3")]),
            ("intel-x25-m-g1-80gb", &[("spare_ratio", "0.6")]),
        ],
    },
    Law {
        name: "a hard disk's access is the mean seek, half a revolution and firmware, in ms",
        measure: |drive| {
            let random = &mut Stream::new(7, 1);
            let (start, sectors) = (drive.now_ns(), drive.capacity_sectors());
            (0..3000).for_each(|_| once(drive, Op::Read, random.below(sectors), 1));
            (drive.now_ns() - start) as f64 / 1e6 / 3000.0
        },
        formula: |drive| {
            let half_turn = 30_000.0 / value(drive, "disk.rpm");
            let firmware = value(drive, "controller.read_firmware_ns");
            (value(drive, "disk.average_seek_ns") + firmware) / 1e6 + half_turn
        },
        tolerance: 0.04,
        common: &[],
        variants: &[
            ("wd-velociraptor-300gb", &[]),
            ("wd-velociraptor-300gb", &[("disk.rpm", "5000")]),
            ("seagate-momentus-5400-6-500gb", &[]),
            ("wd-caviar-se16-640gb", &[("disk.rpm", "15000")]),
        ],
    },
];

#[test]
fn every_family_follows_its_parameters() {
    let mut wrong = Vec::new();
    for law in LAWS {
        let mut formulas = Vec::new();
        for (name, changes) in law.variants {
            let overrides: Vec<_> = law.common.iter().chain(*changes).copied().collect();
            let mut drive = shipped::drive(name, &overrides);
            let formula = (law.formula)(&drive);
            let measured = (law.measure)(&mut drive);
            formulas.push(formula);
            let line = format!("{}: {name} {changes:?}: {measured:.3}, formula {formula:.3}", law.name);
            println!("{line}");
            if (measured / formula - 1.0).abs() > law.tolerance {
                wrong.push(line);
            }
        }
        let (least, most) =
            (formulas.iter().copied().fold(f64::MAX, f64::min), formulas.iter().copied().fold(0.0, f64::max));
        assert!(most > 1.02 * least, "{}: the variants do not tell laws apart", law.name);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Writes in the time of one merge, where commands go in order to two members that take one small write at a time. A
/// write completes the replacement of the one before, from its row on, and copies the rows before its own.
fn merges_side_by_side() -> f64 {
    let random = &mut Stream::new(7, 1);
    let mut share = move || random.below(1 << 20) as f64 / f64::from(1 << 20);
    let (mut free, mut reached, mut now) = ([0.0f64; 2], [0.5; 2], 0.0f64);
    let writes = 200_000;
    for _ in 0..writes {
        let (member, row) = (usize::from(share() < 0.5), share());
        now = now.max(free[member]);
        free[member] = now + 1.0 - reached[member] + row;
        reached[member] = row;
    }
    f64::from(writes) / now
}

#[test]
fn a_pair_of_superblock_maps_writes_as_two_that_take_turns_at_random() {
    let rate = |name: &str, key: &str| {
        let mut drive = shipped::drive(name, &[(key, "0")]);
        write_at_random(&mut drive, 150, Content::RANDOM);
        let start = drive.now_ns();
        write_at_random(&mut drive, 600, Content::RANDOM);
        600.0 / (drive.now_ns() - start) as f64
    };
    let one = rate("jmicron-jmf602b-64gb", "ftl.rotation_superblocks");
    let pair = rate("gskill-titan-128gb", "member.ftl.rotation_superblocks");
    let (measured, formula) = (pair / one, merges_side_by_side());
    assert!((measured / formula - 1.0).abs() < 0.04, "{measured} times one drive's writes, not {formula}");
}

/// A parameter of the drive's model, as a number.
fn value(drive: &Drive, key: &str) -> f64 {
    let found = drive.model().parameters().find(|(parameter, _)| parameter.key == key);
    let value = &found.unwrap_or_else(|| panic!("no {key}")).1.value;
    value.as_f64().unwrap_or_else(|| f64::from(u8::from(value.as_bool().unwrap())))
}

fn counter(drive: &Drive, key: &str) -> f64 {
    drive.counters()[key].as_f64().unwrap_or_else(|| panic!("no {key}"))
}

/// Bytes per second of a die that does nothing but take pages and program them, in 10^6.
fn page_rate(drive: &Drive) -> f64 {
    let bus = (value(drive, "flash.page_bytes") + value(drive, "flash.oob_bytes"))
        / value(drive, "flash.bus_bytes_per_s")
        * 1e9;
    let time = bus + value(drive, "flash.command_ns") + value(drive, "flash.program_ns");
    value(drive, "flash.page_bytes") / time * 1e3
}

/// Bus time of a row over all channels in lockstep.
fn row_bus_ns(drive: &Drive) -> f64 {
    let planes =
        if value(drive, "flash.two_plane") > 0.0 { value(drive, "flash.planes_per_die") } else { 1.0 };
    let bytes = planes * (value(drive, "flash.page_bytes") + value(drive, "flash.oob_bytes"));
    value(drive, "flash.command_ns") + bytes / value(drive, "flash.bus_bytes_per_s") * 1e9
}

fn content(compressed_permille: u16) -> Content {
    Content { compressed_permille, ..Content::RANDOM }
}

fn once(drive: &mut Drive, op: Op, lba: u64, sectors: u32) {
    let now = drive.now_ns();
    drive.submit(now, Command::new(0, op, lba, sectors)).unwrap();
    drive.advance_to_completion(u64::MAX, &mut Vec::new());
}

/// MB/s of 96 MiB in order on a new drive.
fn sequential_write(drive: &mut Drive) -> f64 {
    let start = drive.now_ns();
    (0..384).for_each(|index| once(drive, Op::Write, index * 512, 512));
    once(drive, Op::Flush, 0, 0);
    384.0 * 262_144.0 / ((drive.now_ns() - start) as f64 / 1e9) / 1e6
}

/// Every sector once, in order.
fn fill(drive: &mut Drive) {
    let capacity = drive.capacity_sectors();
    for lba in (0..capacity).step_by(2048) {
        once(drive, Op::Write, lba, 2048.min(capacity - lba) as u32);
    }
    once(drive, Op::Flush, 0, 0);
}

/// Aligned writes of 4 KiB anywhere, one after another.
fn write_at_random(drive: &mut Drive, count: u64, content: Content) {
    let random = &mut Stream::new(count, 1);
    let (units, mut done) = (drive.capacity_sectors() / 8, Vec::new());
    for _ in 0..count {
        let (now, lba) = (drive.now_ns(), random.below(units) * 8);
        drive.submit(now, Command { content, ..Command::new(0, Op::Write, lba, 8) }).unwrap();
        drive.advance_to_completion(u64::MAX, &mut done);
        done.clear();
    }
}
