//! A drive from a TOML text, requests submitted with times, completions and where their time went.
//!
//! `cargo run --release -p drivelab-drive --example one_drive`: the same output every time, on every machine.

use std::error::Error;
use std::sync::Arc;

use drivelab_controller::{Command, Device, Op};
use drivelab_drive::{Drive, Layer, Model};

const MODEL: &str = include_str!("small.toml");

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
