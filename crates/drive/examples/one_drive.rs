//! A drive from a TOML text, requests submitted with times, completions and where their time went.
//!
//! `cargo run --release -p drivelab-drive --example one_drive`: the same output every time, on every machine.

use std::error::Error;
use std::sync::Arc;

use drivelab_controller::{Command, Device, Op};
use drivelab_drive::{Drive, Layer, Model};

/// 16 dies of 64 MiB; what isn't said has the default of its table (`drivelab_drive::parameters`).
const MODEL: &str = r#"
name = "small"
title = "1 GB behind a link of 300 MB/s"
spare_ratio = 0.15

[flash]
channel_count = 4
dies_per_channel = 4
planes_per_die = 1
blocks_per_plane = 128
pages_per_block = 128
page_bytes = 4096
read_ns = 50000
program_ns = 600000
erase_ns = 2000000
bus_bytes_per_s = 200000000

[ftl]
map_unit_bytes = 4096

[link]
bytes_per_s = 300000000

[write_buffer]
size_bytes = 1048576
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let model = Model::parse_layers(&[Layer { text: MODEL, origin: "small" }], &[])?;
    let mut drive = Drive::new(Arc::new(model), 1)?;
    let mut done = Vec::new();
    for tag in 0..16 {
        // A write of 64 KiB every 100 us, then a read of what the write before last brought.
        let time_ns = u64::from(tag) * 100_000;
        drive.advance(time_ns, &mut done);
        drive.submit(time_ns, Command::new(2 * tag, Op::Write, u64::from(tag) * 128, 128))?;
        drive.submit(
            time_ns,
            Command::new(2 * tag + 1, Op::Read, u64::from(tag.saturating_sub(2)) * 128, 8),
        )?;
    }
    while drive.engine().outstanding() > 0 {
        drive.advance_to_completion(u64::MAX, &mut done);
    }
    for completion in &done {
        println!(
            "{:>3} {:?} at {} ns, {} ns: {:?}",
            completion.tag,
            completion.op,
            completion.submitted_ns,
            completion.completed_ns - completion.submitted_ns,
            completion.split
        );
    }
    Ok(())
}
