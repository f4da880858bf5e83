//! Drives whose programs and erases fail: what is read is what was written, blocks are retired, and when none is left to
//! spare the drive only reads - everything.

use drivelab_controller::faults::{FaultSheet, KindWord};
use drivelab_controller::{
    CleaningPace, Command, Completion, Device, DieAllocation, FaultPlan, Op, Outcome, PlanSheet, Scheduled,
    SolidStateDrive,
};
use drivelab_ftl::{Books, Placement};
use drivelab_sim::Stream;

use super::{Shape, compressing_drive, drive};

const DEPTH: u32 = 4;

/// A host that knows what it may read.
struct Host<'a, M: Scheduled> {
    drive: &'a mut SolidStateDrive<M>,
    /// Stamps that each sector may have.
    allowed: Vec<Vec<u64>>,
    /// Writes and trims inside.
    inside: Vec<Command>,
    done: Vec<Completion>,
    tag: u32,
    stamp: u64,
    seed: u64,
}

impl<'a, M: Scheduled> Host<'a, M> {
    fn new(drive: &'a mut SolidStateDrive<M>, seed: u64) -> Self {
        let allowed = vec![vec![0]; drive.capacity_sectors() as usize];
        Self { drive, allowed, inside: Vec::new(), done: Vec::new(), tag: 0, stamp: 1, seed }
    }

    fn submit(&mut self, op: Op, lba: u64, sectors: u32, fua: bool) {
        self.wait(DEPTH - 1);
        let hint = (self.tag % 6) as u8;
        let command = Command { fua, stamp: self.stamp, hint, ..Command::new(self.tag, op, lba, sectors) };
        self.tag += 1;
        self.stamp += u64::from(sectors);
        self.drive.submit(self.drive.now_ns(), command).unwrap();
        self.inside.push(command);
    }

    fn wait(&mut self, outstanding: u32) {
        while self.drive.outstanding() > outstanding {
            let next = self.drive.next_event();
            let next = next.unwrap_or_else(|| panic!("seed {}: a command inside never ends", self.seed));
            self.drive.advance(next, &mut self.done);
            self.drive.check_step().unwrap_or_else(|error| panic!("seed {}: {error}", self.seed));
        }
    }

    /// Waits for all commands, and takes note of what they did, in order.
    fn settle(&mut self) -> bool {
        self.wait(0);
        let unit = u64::from(self.drive.mapping().sectors_per_unit());
        let takes_trims = self.drive.mapping().takes_trims();
        let mut all_done = true;
        for command in std::mem::take(&mut self.inside) {
            let completion = self.done.iter().find(|completion| completion.tag == command.tag).unwrap();
            let outcome = completion.outcome;
            assert_eq!(completion.split.total_ns(), completion.completed_ns - completion.submitted_ns);
            all_done &= outcome == Outcome::Done;
            let end = command.lba + u64::from(command.sector_count);
            match (command.op, outcome) {
                (Op::Write, _) => {
                    for (index, lba) in (command.lba..end).enumerate() {
                        let allowed = &mut self.allowed[lba as usize];
                        if outcome == Outcome::Done {
                            allowed.clear();
                        }
                        allowed.push(command.stamp + index as u64);
                    }
                }
                (Op::Trim, Outcome::Done) if takes_trims => {
                    for unit_index in command.lba.div_ceil(unit)..end / unit {
                        let sectors = (unit_index * unit) as usize..((unit_index + 1) * unit) as usize;
                        self.allowed[sectors].fill(vec![0]);
                    }
                }
                (Op::Read, outcome) => assert_eq!(outcome, Outcome::Done, "seed {}: a read fails", self.seed),
                _ => {}
            }
        }
        self.done.clear();
        all_done
    }

    fn read(&mut self, lba: u64, sectors: u32) {
        self.settle();
        self.submit(Op::Read, lba, sectors, false);
        self.settle();
        for (_, stamps) in self.drive.take_read_stamps() {
            for (index, stamp) in stamps.into_iter().enumerate() {
                let allowed = &self.allowed[lba as usize + index];
                let sector = lba + index as u64;
                assert!(
                    allowed.contains(&stamp),
                    "seed {}, sector {sector}: {stamp}, not {allowed:?}",
                    self.seed
                );
            }
        }
    }

    fn read_all(&mut self) {
        let capacity = self.drive.capacity_sectors();
        for lba in (0..capacity).step_by(64) {
            self.read(lba, 64.min((capacity - lba) as u32));
        }
    }

    /// Random commands until one is not done, at most so many; whether there was none.
    fn play(&mut self, random: &mut Stream, steps: u32) -> bool {
        let capacity = self.drive.capacity_sectors();
        for step in 0..steps {
            let lba = random.below(capacity);
            let sectors = (1 + random.below(40)).min(capacity - lba) as u32;
            match random.below(20) {
                0..=12 => self.submit(Op::Write, lba, sectors, random.below(10) == 0),
                13..=15 => self.read(lba, sectors),
                16 => {
                    self.settle();
                    self.submit(Op::Trim, lba, sectors, false);
                }
                17 => self.submit(Op::Flush, 0, 0, false),
                18 => {
                    let until = self.drive.now_ns() + random.below(5_000_000);
                    self.drive.advance(until, &mut self.done);
                }
                _ => {
                    if !self.settle() {
                        return false;
                    }
                }
            }
            if step.is_multiple_of(16) {
                self.check();
            }
        }
        self.settle()
    }

    fn check(&self) {
        self.drive.check().unwrap_or_else(|error| panic!("seed {}: {error}", self.seed));
    }

    /// Nothing new can be written, and everything is there.
    fn expect_read_only(&mut self) {
        assert!(self.drive.is_read_only());
        self.submit(Op::Write, 0, 8, false);
        self.submit(Op::Trim, 0, 8, false);
        assert!(!self.settle(), "seed {}: a drive that only reads takes a write", self.seed);
        self.read_all();
        self.check();
    }
}

fn shape(random: &mut Stream, seed: u64) -> Shape {
    let allocations =
        [DieAllocation::RoundRobin, DieAllocation::ChannelRoundRobin, DieAllocation::EarliestFree];
    let idle = random.below(4) as u32;
    Shape {
        unit_bytes: [4096, 2048, 8192, 1536][random.below(4) as usize],
        two_plane: random.below(2) == 0,
        allocation: allocations[random.below(3) as usize],
        pace: if random.below(2) == 0 { CleaningPace::Block } else { CleaningPace::Paced },
        copies_at_once: 1 + random.below(4) as u32,
        tokens: random.below(3) as u32,
        partial_units: random.below(3) as u32,
        buffer_units: 16 + random.below(24) as u32,
        write_back: random.below(2) == 0,
        coalesce: random.below(2) == 0,
        hold_ns: [0, 500_000][random.below(2) as usize],
        idle_blocks: if idle > 0 { idle + 2 } else { 0 },
        journal: random.below(9) as u32,
        placement: Placement::HostAndCleaning,
        seed,
    }
}

fn failures(seed: u64, program: f64, erase: f64) -> FaultPlan {
    let rule = |kind, probability| FaultSheet { probability: Some(probability), ..FaultSheet::new(kind) };
    let faults = vec![rule(KindWord::ProgramFailure, program), rule(KindWord::EraseFailure, erase)];
    FaultPlan::try_from(PlanSheet { seed, faults, ..PlanSheet::default() }).unwrap()
}

/// Rates from 1e-3 to 1e-1.
fn rate(random: &mut Stream) -> f64 {
    10f64.powf(-3.0 + 2.0 * random.unit())
}

fn wear_out<M: Scheduled>(make: impl Fn(Shape) -> SolidStateDrive<M>, seeds: u64) {
    let mut worn_out = 0;
    for seed in 0..seeds {
        let mut random = Stream::new(seed, 0);
        let mut drive = make(shape(&mut random, seed));
        let plan = failures(seed, rate(&mut random), rate(&mut random));
        drive.set_faults(&plan).unwrap();
        let new = drive.mapping().bad_blocks().unwrap().spare_blocks_new();
        let mut host = Host::new(&mut drive, seed);
        let mut is_good = true;
        for _ in 0..8 {
            is_good = is_good && host.play(&mut random, 60);
        }
        host.check();
        host.read_all();
        if !is_good || host.drive.is_read_only() {
            host.expect_read_only();
            worn_out += 1;
        }
        let counters = drive.fault_counters();
        let bad = drive.mapping().bad_blocks().unwrap();
        assert_eq!(
            u64::from(bad.retired()),
            counters.program_failures + counters.erase_failures,
            "seed {seed}: each failure retires a block"
        );
        assert_eq!(bad.spare_blocks(), new.saturating_sub(bad.retired()));
    }
    println!("{worn_out} of {seeds} drives were worn out");
    assert!(worn_out > seeds / 10 && worn_out < seeds, "{worn_out} of {seeds} drives were worn out");
}

#[test]
fn failing_blocks_lose_nothing_and_end_in_a_drive_that_reads() {
    wear_out(drive, 2000);
}

#[test]
fn failing_blocks_lose_nothing_while_several_streams_are_open() {
    for &placement in Placement::ALL {
        wear_out(|shape| drive(Shape { placement, ..shape }), 300);
    }
}

#[test]
fn one_seed_and_plan_one_result_to_the_bit() {
    for seed in 0..50 {
        let run = || {
            let mut random = Stream::new(seed, 1);
            let mut drive = drive(shape(&mut random, seed));
            drive.set_faults(&failures(seed, 0.01, 0.02)).unwrap();
            let mut host = Host::new(&mut drive, seed);
            host.play(&mut random, 200);
            (
                drive.now_ns(),
                drive.meters(),
                *drive.mapping().counters(),
                drive.fault_counters(),
                drive.energy_nj(),
            )
        };
        assert_eq!(run(), run(), "seed {seed}");
    }
}

#[test]
fn a_plan_that_never_happens_changes_no_bit() {
    for seed in 0..50 {
        let run = |faults: bool| {
            let mut random = Stream::new(seed, 2);
            let mut drive = drive(shape(&mut random, seed));
            if faults {
                let never = FaultSheet { at_command: Some(u64::MAX), ..FaultSheet::new(KindWord::LostWrite) };
                let sheet = PlanSheet { seed, faults: vec![never], ..PlanSheet::default() };
                drive.set_faults(&FaultPlan::try_from(sheet).unwrap()).unwrap();
            }
            let mut host = Host::new(&mut drive, seed);
            host.play(&mut random, 200);
            (drive.now_ns(), drive.meters(), *drive.mapping().counters(), drive.energy_nj())
        };
        assert_eq!(run(false), run(true), "seed {seed}");
    }
}

#[test]
fn a_scheme_that_cannot_replace_blocks_refuses_by_name() {
    let mut random = Stream::new(1, 0);
    let mut drive = compressing_drive(shape(&mut random, 1));
    let error = drive.set_faults(&failures(1, 0.1, 0.1)).unwrap_err();
    assert!(error.starts_with("faults[0].kind = program-failure: not possible on this drive"), "{error}");
}
