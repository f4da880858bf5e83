//! How long a full drive takes to come back: the X25-M of 80 GB, or the model of another file, filled in order and then
//! written at random, after a power cut and after a clean shutdown; in the host's time and in the drive's own.
//!
//! `cargo run --release -p drivelab-drive --example mount [models/NAME.toml [models/flash/PART.toml [RANDOM WRITES]]]`
#![allow(clippy::disallowed_methods, reason = "measures speed")]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use drivelab_controller::{Command, Device, Effect, Effects, Op};
use drivelab_drive::{Drive, Layer, Model};
use drivelab_nand::medium::Medium;
use drivelab_sim::Stream;

type Memory = Medium<Vec<u8>>;

fn carry_out(drive: &mut Drive, effects: &mut Effects, medium: &mut Memory) -> Result<u64, Box<dyn Error>> {
    drive.take_effects(0, effects);
    for effect in &effects.list {
        if let Effect::End { op, words, .. } = *effect {
            medium.apply(op, effects.words_of(words))?;
        }
    }
    Ok(effects.list.len() as u64)
}

fn write(
    drive: &mut Drive,
    medium: &mut Memory,
    requests: impl Iterator<Item = (u64, u32)>,
) -> Result<(u64, u64), Box<dyn Error>> {
    let (mut effects, mut done) = (Effects::default(), Vec::new());
    let (mut inside, mut count, mut carried) = (0, 0, 0);
    for (lba, sectors) in requests {
        while inside == 32 {
            done.clear();
            drive.advance_to_completion(u64::MAX, &mut done);
            inside -= done.len();
            carried += carry_out(drive, &mut effects, medium)?;
        }
        drive.submit(drive.now_ns(), Command::new(0, Op::Write, lba, sectors))?;
        inside += 1;
        count += 1;
    }
    while drive.engine().outstanding() > 0 {
        drive.advance_to_completion(u64::MAX, &mut done);
        carried += carry_out(drive, &mut effects, medium)?;
    }
    Ok((count, carried))
}

fn mount(model: &Arc<Model>, medium: &Memory, what: &str) -> Result<Drive, Box<dyn Error>> {
    let started = Instant::now();
    let (drive, report) = Drive::mount(Arc::clone(model), 1, &[medium])?;
    println!("{what}: {:.2} s here, {report:?}", started.elapsed().as_secs_f64());
    Ok(drive)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next();
    let path = path.as_deref().unwrap_or("models/intel-x25-m-g1-80gb.toml");
    let part = arguments.next();
    let part = part.as_deref().unwrap_or("models/flash/imft-50nm-mlc.toml");
    let random_writes: u64 = arguments.next().map_or(Ok(4_000_000), |count| count.parse())?;
    let texts = [std::fs::read_to_string(part)?, std::fs::read_to_string(path)?];
    let layers = [Layer { text: &texts[0], origin: part }, Layer { text: &texts[1], origin: path }];
    let model = Arc::new(Model::parse_layers(&layers, &[])?);
    let mut drive = Drive::new(Arc::clone(&model), 1)?;
    drive.record_effects()?;
    let shape = drive.engine().flash_shapes()[0];
    let mut medium = Memory::in_memory(shape.medium())?;
    println!("medium: {} MiB", medium.bytes().len() >> 20);
    let sectors = drive.capacity_sectors();
    let started = Instant::now();
    let fill = (0..sectors).step_by(256).map(|lba| (lba, 256.min(sectors - lba) as u32));
    let (count, carried) = write(&mut drive, &mut medium, fill)?;
    let seconds = started.elapsed().as_secs_f64();
    println!("fill: {count} writes, {carried} effects, {seconds:.1} s");
    let mut random = Stream::new(1, 1);
    let writes = (0..random_writes).map(|_| (random.below(sectors / 8) * 8, 8));
    let started = Instant::now();
    let (count, carried) = write(&mut drive, &mut medium, writes)?;
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "random: {count} writes, {carried} effects, {seconds:.1} s, {:.2} M/s",
        count as f64 / seconds / 1e6
    );
    let mut drive = mount(&model, &medium, "after a power cut")?;
    let started = Instant::now();
    drive.standby();
    carry_out(&mut drive, &mut Effects::default(), &mut medium)?;
    println!("standby: {:.2} s", started.elapsed().as_secs_f64());
    let drive = mount(&model, &medium, "after a clean shutdown")?;
    drive.engine().check()?;
    Ok(())
}
