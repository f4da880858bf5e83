//! A program begins when its data is there. Until then the die and the bus that it will use are free for reads.

use crate::shipped;
use drivelab_controller::{Command, Completion, ControllerConfig, Device, Op};
use drivelab_drive::{Drive, Engine};
use drivelab_sim::Stream;

/// Sectors that are written before; reads hit flash there.
const AREA: u64 = 64 * 2048;

fn config(drive: &Drive) -> ControllerConfig {
    match drive.engine() {
        Engine::PageMap(drive) => *drive.config(),
        Engine::DemandMap(drive) => *drive.config(),
        Engine::CompressedMap(drive) => *drive.config(),
        Engine::SuperblockMap(drive) => *drive.config(),
        Engine::LogBlockMap(drive) => *drive.config(),
        Engine::HardDisk(_) | Engine::Raid0(_) => unreachable!("a flash drive"),
    }
}

fn finish(drive: &mut Drive) -> Vec<Completion> {
    let mut done = Vec::new();
    while let Some(next) = drive.next_event()
        && drive.engine().outstanding() > 0
    {
        drive.advance(next, &mut done);
    }
    done
}

#[test]
fn a_read_does_not_wait_for_a_program_whose_data_is_on_its_way() {
    for name in ["intel-x25-m-g2-80gb", "ocz-vertex-2-100gb", "jmicron-jmf602b-64gb", "samsung-slc-64gb"] {
        // Data of a write takes 8 ms over this link, much longer than any one operation of flash.
        let slow = [("link.bytes_per_s", "500000"), ("controller.queue_depth", "2")];
        let mut drive = shipped::drive(name, &slow);
        for index in 0..AREA / 512 {
            let now = drive.now_ns();
            drive.submit(now, Command::new(0, Op::Write, index * 512, 512)).unwrap();
            finish(&mut drive);
        }
        let now = drive.now_ns();
        drive.submit(now, Command::new(0, Op::Flush, 0, 0)).unwrap();
        finish(&mut drive);
        let ControllerConfig { link, firmware, .. } = config(&drive);
        let mut random = Stream::new(1, 1);
        let mut from_flash = 0;
        for _ in 0..300 {
            drive.idle(60_000_000_000);
            let mut place = || random.below(AREA / 8) * 8;
            let (written, read) = (place(), place());
            let start = drive.now_ns();
            // It must be in flash before it is done, so it is given to a die at once.
            let write = Command { fua: true, ..Command::new(0, Op::Write, written, 8) };
            drive.submit(start, write).unwrap();
            drive.submit(start, Command::new(1, Op::Read, read, 8)).unwrap();
            let done = finish(&mut drive);
            let [read, write] = [1, 0].map(|tag| *done.iter().find(|done| done.tag == tag).unwrap());
            assert!(write.split.flash_ns > 0, "{name}: {write:?}");
            from_flash += u32::from(read.split.flash_ns > 0);
            // The link is what it waits for, and nothing else: its data follows the write's.
            let firmware_ns = firmware.command_ns(Op::Write) + firmware.pipeline_ns;
            let latency_ns = firmware_ns + 2 * link.command_ns(4096);
            assert_eq!(read.completed_ns - start, latency_ns, "{name}: {read:?}");
        }
        assert!(from_flash > 250, "{name}: {from_flash} reads of 300 came from flash");
    }
}
