//! Commands per second of a drive in an image, in its own time: 4 KiB at random, 32 at once.
//!
//! `cargo run --release -p drivelab-image --example throughput -- MODEL.toml IMAGE COMMANDS`
#![allow(clippy::disallowed_methods, reason = "speed is measured on the wall")]

use std::path::Path;
use std::time::Instant;

use drivelab_controller::{Command, Device, Op};
use drivelab_image::{HostData, Image, ImageDrive, ModelTexts};
use drivelab_sim::Stream;

/// The same bytes for every write, one buffer for every read.
struct Buffers {
    written: Vec<u8>,
    read: Vec<u8>,
}

impl HostData for Buffers {
    fn written(&self, _: u32, offset: u32, count: u32) -> Option<&[u8]> {
        self.written.get(offset as usize * 512..(offset + count) as usize * 512)
    }

    fn to_read(&mut self, _: u32, offset: u32, count: u32) -> Option<&mut [u8]> {
        self.read.get_mut(offset as usize * 512..(offset + count) as usize * 512)
    }
}

fn run(drive: &mut ImageDrive, op: Op, commands: u32, span_blocks: u64) -> f64 {
    let mut host = Buffers { written: vec![7; 4096], read: vec![0; 4096] };
    let mut random = Stream::new(1, u64::from(op == Op::Read));
    let depth = drive.drive().queue_depth().min(32);
    let mut done = Vec::new();
    let mut free: Vec<u32> = (0..depth).collect();
    let mut left = commands;
    let start = Instant::now();
    while left > 0 || free.len() < depth as usize {
        while left > 0
            && let Some(tag) = free.pop()
        {
            let command = Command::new(tag, op, random.below(span_blocks) * 8, 8);
            let now_ns = drive.drive_now_ns();
            drive.submit(now_ns, command, &host.written).expect("a place in the queue");
            left -= 1;
        }
        let Some(event_ns) = drive.next_event() else { break };
        drive.advance(event_ns, &mut host, &mut done).expect("the disk is not full");
        free.extend(done.drain(..).map(|completion| completion.tag));
    }
    f64::from(commands) / start.elapsed().as_secs_f64()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, model, image, rest @ ..] = arguments.as_slice() else {
        return Err("MODEL.toml IMAGE COMMANDS".into());
    };
    let commands = rest.first().map_or(Ok(1_000_000), |count| count.parse())?;
    let mut texts = ModelTexts::default();
    texts.layers.push((std::fs::read_to_string(model)?, model.clone()));
    let path = Path::new(image);
    Image::create(path, &texts, 1)?;
    let start = Instant::now();
    let mut drive = ImageDrive::power_on(path)?;
    println!("mount of a new drive: {:.3} s", start.elapsed().as_secs_f64());
    let span_blocks = (512 << 20) / 4096;
    for round in 0..3 {
        for op in [Op::Write, Op::Read] {
            let per_s = run(&mut drive, op, commands, span_blocks);
            println!("round {round}: {op:?} {:.0} thousand a second", per_s / 1000.0);
        }
    }
    println!("{}", drive.facts());
    let start = Instant::now();
    drive.power_off(&mut Buffers { written: Vec::new(), read: Vec::new() })?;
    println!("power off: {:.3} s", start.elapsed().as_secs_f64());
    Ok(())
}
