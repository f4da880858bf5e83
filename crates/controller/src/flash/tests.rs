//! What pages cost the bus, and the way to it.

use super::*;
use drivelab_nand::Geometry;

const TIMING: FlashTiming = FlashTiming {
    read_ns: 50_000,
    program_fast_ns: 200_000,
    program_slow_ns: 200_000,
    erase_ns: 1_000_000,
    command_ns: 0,
    decode_ns: 0,
    bus_bytes_per_s: 40_960_000,
    lockstep_channels: 1,
    hold_bus_while_reading: false,
};

fn layout() -> UnitLayout {
    let geometry = Geometry {
        channel_count: 1,
        dies_per_channel: 1,
        planes_per_die: 1,
        blocks_per_plane: 4,
        pages_per_block: 8,
        page_bytes: 4096,
        oob_bytes: 0,
        two_plane: false,
    };
    UnitLayout::new(geometry, 4096).unwrap()
}

#[test]
fn what_carries_no_data_does_not_wait_for_the_write_path() {
    let mut flash = Flash::new(layout(), TIMING, None, (0, 4_096_000));
    // A page of 4096 bytes takes 1 ms on it, longer than over its bus.
    assert_eq!(flash.pass_write_path((4096, 100_000), 0, 0), 900_000);
    assert_eq!(flash.pass_write_path((0, 1_000), 500, 0), 500);
    assert_eq!(flash.pass_write_path((4096, 100_000), 0, 0), 1_900_000);
}

#[test]
fn bytes_of_several_pages_cost_the_bus_no_more_than_one_page_of_them() {
    let taken = |pages, bytes| {
        let mut flash = Flash::new(layout(), TIMING, None, (0, 0));
        flash.sense(Sensing { die: DieIndex(0), pages, bytes, mask: 0, is_cleaning: true }, 0);
        flash.work().bus_ns
    };
    assert_eq!(taken(1, 4096), 100_000);
    for bytes in (512..=8192).step_by(512) {
        assert_eq!(taken(2, bytes), bytes * 100_000 / 4096, "{bytes} bytes of two pages");
    }
}
