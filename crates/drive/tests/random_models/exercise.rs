//! Random commands to a drive, and a plain map of sectors beside it.

use drivelab_controller::{Command, Completion, Content, Device, Op};
use drivelab_drive::{Engine, Model, Partition, build};
use drivelab_sim::Stream;

use super::bytes::Bytes;
use super::values::Random;

/// Steps without a completion after which a drive counts as stuck.
const STUCK_STEPS: u32 = 200_000;

struct Bench {
    drive: Partition<Engine>,
    done: Vec<Completion>,
    submitted: u32,
    depth: u32,
    /// Asks for completions instead of events.
    hurries: bool,
    /// Keeps the bytes of a drive in durable mode; otherwise the drive keeps stamps itself.
    bytes: Option<Bytes>,
}

impl Bench {
    fn step(&mut self) -> bool {
        let (before, known) = (self.drive.now_ns(), self.done.len());
        let Some(next) = self.drive.next_event() else { return false };
        assert!(next >= before, "an event at {next} before now, {before}");
        if self.hurries {
            self.drive.advance_to_completion(next + 1_000_000, &mut self.done);
        } else {
            self.drive.advance(next, &mut self.done);
        }
        self.carry_out();
        let now = self.drive.now_ns();
        assert!(now >= before, "time goes backwards");
        self.drive.device().check_step().unwrap();
        let left = self.done[known.saturating_sub(1)..].iter().map(|completion| completion.completed_ns);
        assert!(left.chain([now]).is_sorted(), "completions leave in order, and not before their time");
        true
    }

    fn carry_out(&mut self) {
        if let Some(bytes) = &mut self.bytes {
            bytes.carry_out(&mut self.drive);
        }
    }

    fn drain(&mut self, outstanding: u32) {
        let mut steps = 0;
        while self.drive.device().outstanding() > outstanding {
            let inside = self.drive.device().outstanding();
            assert!(self.step(), "{inside} commands inside and no event");
            steps += 1;
            assert!(steps < STUCK_STEPS, "{inside} commands inside for ever");
        }
    }

    /// Hands over a command when the queue has room, and `later_ns` after that.
    fn submit_later(&mut self, command: Command, later_ns: u64) {
        self.drain(self.depth - 1);
        let now = self.drive.now_ns() + later_ns;
        let command = Command { tag: self.submitted, ..command };
        if let Some(bytes) = &mut self.bytes {
            bytes.submitted(&command);
        }
        self.drive.submit(now, command).unwrap();
        self.carry_out();
        self.submitted += 1;
    }

    fn submit(&mut self, command: Command) {
        self.submit_later(command, 0);
    }

    /// A read while nothing else is inside.
    fn read_alone(&mut self, lba: u64, sectors: u32) -> Vec<u64> {
        self.drain(0);
        drop(self.drive.device_mut().take_read_stamps());
        self.submit(Command::new(0, Op::Read, lba, sectors));
        self.drain(0);
        match &mut self.bytes {
            Some(bytes) => bytes.take_read(self.submitted - 1),
            None => self.drive.device_mut().take_read_stamps().pop().unwrap().1,
        }
    }

    fn finish(&mut self) {
        self.drain(0);
        assert_eq!(self.done.len() as u32, self.submitted, "every command completes");
        let mut tags: Vec<u32> = self.done.iter().map(|completion| completion.tag).collect();
        tags.sort_unstable();
        assert!((0..self.submitted).eq(tags), "exactly once");
        assert!(self.done.is_sorted_by_key(|completion| completion.completed_ns));
        for completion in &self.done {
            assert_eq!(completion.split.total_ns(), completion.completed_ns - completion.submitted_ns);
        }
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < STUCK_STEPS, "a drive without commands never comes to rest");
        }
        let engine = self.drive.device();
        engine.check().unwrap();
        drop((engine.counters(), engine.page_states(), engine.derived()));
    }
}

fn content(random: &mut Random) -> Content {
    let permille = [0u16, 1, 250, 500, 999, 1000];
    match random.between(0, 3) {
        0 => Content::RANDOM,
        1 => Content::ZEROS,
        _ => Content {
            compressed_permille: random.one(&permille),
            duplicate_permille: random.one(&permille),
            pool: random.between(0, 6) as u16,
            seed: random.between(0, 5000) as u32,
        },
    }
}

/// Random commands, and what the drive must then hold.
pub fn exercise(seed: u64, model: &Model) {
    let random = &mut Random(Stream::new(seed, 2));
    let mut drive = build::partitioned(model, seed).unwrap();
    let is_durable = random.chance(0.5) && drive.device_mut().record_effects().is_ok();
    if !is_durable {
        drive.device_mut().keep_stamps();
    }
    let bytes = is_durable.then(|| Bytes::of(&drive));
    let capacity = drive.capacity_sectors();
    let unit = drive.device().trim_unit_sectors().map_or(u64::MAX, u64::from);
    let depth = random.between(1, u64::from(drive.queue_depth())) as u32;
    let mut bench =
        Bench { drive, done: Vec::new(), submitted: 0, depth, hurries: random.chance(0.3), bytes };
    let mut oracle = vec![0u64; capacity as usize];
    let mut stamp = 1;
    let longest = random.one(&[4, 20, 100]);
    // Few places make a drive overwrite its buffer and its blocks; many make it clean and merge.
    let places = if random.chance(0.3) { random.between(1, capacity) } else { capacity };
    let runs = random.chance(0.3);
    let mut next = 0;
    for _ in 0..random.between(50, 800) {
        let lba = if runs && random.chance(0.7) { next % capacity } else { random.between(0, places - 1) };
        let sectors = random.between(1, longest.min(capacity - lba)) as u32;
        let range = lba as usize..(lba + u64::from(sectors)) as usize;
        match random.between(0, 99) {
            0..=57 => {
                oracle[range].iter_mut().zip(stamp..).for_each(|(place, stamp)| *place = stamp);
                let write =
                    Command { fua: random.chance(0.1), stamp, ..Command::new(0, Op::Write, lba, sectors) };
                let later_ns = if random.chance(0.1) { random.between(0, 2_000_000) } else { 0 };
                // Of the place and of what lies there already, so that no draw is needed.
                let hint = ((lba ^ stamp) % 7) as u8;
                bench.submit_later(Command { content: content(random), hint, ..write }, later_ns);
                stamp += u64::from(sectors);
                next = lba + u64::from(sectors);
            }
            58..=66 => bench.submit(Command::new(0, Op::Read, lba, sectors)),
            67..=74 => assert_eq!(bench.read_alone(lba, sectors), oracle[range], "sectors from {lba} on"),
            75..=82 => {
                // Writes that still wait for buffer space would come after the trim: let them in first.
                bench.drain(0);
                for whole in lba.div_ceil(unit)..(lba + u64::from(sectors)) / unit {
                    oracle[(whole * unit) as usize..((whole + 1) * unit) as usize].fill(0);
                }
                bench.submit(Command::new(0, Op::Trim, lba, sectors));
                bench.drain(0);
            }
            83..=88 => bench.submit(Command::new(0, Op::Flush, 0, 0)),
            89..=96 => {
                let until = bench.drive.now_ns() + random.between(0, 4_000_000);
                bench.drive.advance(until, &mut bench.done);
                bench.carry_out();
            }
            97 => bench.drive = bench.drive.clone(),
            98 => {
                bench.drain(0);
                bench.drive.device_mut().secure_erase();
                bench.carry_out();
                oracle.fill(0);
            }
            _ => bench.drive.device().check().unwrap(),
        }
    }
    bench.submit(Command::new(0, Op::Flush, 0, 0));
    assert_eq!(bench.read_alone(0, capacity as u32), oracle, "the whole drive read back");
    bench.finish();
}
