//! A drive at work between two power cuts: its effects are carried out one by one, the host hears of completions after
//! those of their moment, and the power may fail at every flash operation.

use drivelab_controller::{Command, Completion, Content, Device, Effects, FaultPlan, Op, Outcome};
use drivelab_drive::{Engine, Partition};
use drivelab_nand::BlockIndex;
use drivelab_nand::op::FlashOp;

use super::faults;
use super::medium::Medium;
use super::oracle::{Class, Failure, Oracle};
use super::sabotage::Sabotage;
use super::subject::Subject;
use super::workload::{Host, Step};
use crate::random_models::values::Random;

/// Steps without a completion after which a drive counts as stuck.
const STUCK_STEPS: u32 = 20_000;

/// What is the same for all sessions of a seed.
pub struct Trial<'a> {
    pub subject: &'a Subject,
    pub sabotage: Option<Sabotage>,
    /// Faults of the drive itself.
    pub faults: Option<FaultPlan>,
    pub cuts: u64,
    /// Whether the power fails so often that a drive may run out of pages that are not torn: it only reads then.
    pub may_give_up: bool,
    pub gave_up: bool,
    /// Whether what happens is printed.
    pub is_traced: bool,
    /// Media to make copies into.
    pub spare: Vec<Vec<Medium>>,
}

/// A write's version and first sector, or the data of a read as far as it is there; by tag.
#[derive(Clone, Debug)]
pub enum Issued {
    Write { version: u64, lba: u64 },
    Read(Vec<u64>),
    Other,
}

/// An operation that has begun: on which medium, its number.
pub type UnderWay = (usize, u64, FlashOp);

/// A session.
pub struct Session<'t, 'a> {
    pub trial: &'t mut Trial<'a>,
    pub drive: Partition<Engine>,
    pub media: Vec<Medium>,
    pub oracle: Oracle,
    pub random: Random,
    /// How likely it is that the power fails at a point where it can.
    pub cut_chance: f64,
    /// How likely it is that the session ends there, with what is on the media then.
    pub end_chance: f64,
    /// Sessions after this one.
    pub depth: u32,
    pub under_way: Vec<UnderWay>,
    pub issued: Vec<Issued>,
    pub effects: Effects,
    /// Cells that were read: of which medium, which, from which sector on.
    pub sent: Vec<(usize, u32, u32)>,
    done: Vec<Completion>,
    /// The host has heard something since the last cut.
    pub has_news: bool,
    /// The last program, if the host has heard nothing since: a sabotage looks at it.
    pub unnoticed: Option<(usize, BlockIndex, u32)>,
}

impl<'t, 'a> Session<'t, 'a> {
    pub fn new(
        trial: &'t mut Trial<'a>,
        drive: Partition<Engine>,
        media: Vec<Medium>,
        oracle: Oracle,
        random: Random,
    ) -> Self {
        Self {
            trial,
            drive,
            media,
            oracle,
            random,
            cut_chance: 0.0,
            end_chance: 0.0,
            depth: 0,
            under_way: Vec::new(),
            issued: Vec::new(),
            effects: Effects::default(),
            sent: Vec::new(),
            done: Vec::new(),
            has_news: true,
            unnoticed: None,
        }
    }

    /// Commands that the drive takes at once.
    pub fn queue_depth(&self) -> u32 {
        self.drive.queue_depth()
    }

    /// Does a step of a workload, with at most so many commands inside.
    pub fn perform(&mut self, step: Step, depth: u32) -> Result<(), Failure> {
        match step {
            Step::Command { op, lba, sectors, fua, content } => {
                self.drain(depth - 1)?;
                if self.drive.device().wants_checkpoint() {
                    self.standby()?;
                }
                self.submit(op, (lba, sectors), fua, content)
            }
            Step::Drain(left) => self.drain(left),
            Step::Idle(duration_ns) => self.idle(duration_ns),
            Step::Standby => self.standby(),
            Step::SecureErase => {
                self.oracle.begin_erase();
                self.drive.device_mut().secure_erase();
                self.carry_out()?;
                self.under_way.clear();
                self.oracle.erased();
                self.cut(None)
            }
        }
    }

    /// Says what happens, where a failing seed is looked at.
    pub fn trace(&self, what: impl FnOnce() -> String) {
        if self.trial.is_traced {
            println!("{:3$}{} ns: {}", "", self.drive.now_ns(), what(), 4 * (3 - self.depth.min(3)) as usize);
        }
    }

    fn submit(
        &mut self,
        op: Op,
        (lba, sectors): (u64, u32),
        fua: bool,
        content: Content,
    ) -> Result<(), Failure> {
        let tag = self.issued.len() as u32;
        let end = lba + u64::from(sectors);
        let hint = (tag % 7) as u8;
        let mut command = Command { fua, content, hint, ..Command::new(tag, op, lba, sectors) };
        self.issued.push(match op {
            Op::Write => Issued::Write { version: self.oracle.write(tag, lba, end, fua), lba },
            Op::Read => {
                self.oracle.read(tag, lba, end);
                Issued::Read(vec![u64::MAX - 2; sectors as usize])
            }
            Op::Trim => {
                let unit = self.trial.subject.trim_unit;
                if unit > 0 {
                    self.oracle.trim(tag, lba.div_ceil(unit) * unit, end / unit * unit);
                }
                Issued::Other
            }
            Op::Flush => {
                self.oracle.flush(tag);
                Issued::Other
            }
        });
        match self.trial.sabotage {
            Some(Sabotage::FlushIgnored) if op == Op::Flush => self.oracle.acknowledge(tag),
            Some(Sabotage::FuaIgnored) => command.fua = false,
            _ => {}
        }
        self.trace(|| format!("{command:?}"));
        let now = self.drive.now_ns();
        self.drive.submit(now, command).map_err(|error| Failure::new(Class::Broken, error.to_string()))
    }

    /// Waits until so many commands are left inside.
    pub fn drain(&mut self, left: u32) -> Result<(), Failure> {
        let mut steps = 0;
        while self.drive.device().outstanding() > left {
            let inside = self.drive.device().outstanding();
            let Some(next) = self.drive.next_event() else {
                return Err(Failure::new(Class::Stuck, format!("{inside} commands inside and no event")));
            };
            self.advance(next)?;
            steps += 1;
            if steps > STUCK_STEPS {
                return Err(Failure::new(Class::Stuck, format!("{inside} commands inside for ever")));
            }
        }
        Ok(())
    }

    /// Waits until nothing is going on inside.
    pub fn rest(&mut self) -> Result<(), Failure> {
        self.drain(0)?;
        let mut steps = 0;
        while let Some(next) = self.drive.next_event().filter(|_| steps < STUCK_STEPS) {
            self.advance(next)?;
            steps += 1;
        }
        Ok(())
    }

    fn idle(&mut self, duration_ns: u64) -> Result<(), Failure> {
        let until = self.drive.now_ns() + duration_ns;
        while let Some(next) = self.drive.next_event().filter(|&next| next <= until) {
            self.advance(next)?;
        }
        self.advance(until)
    }

    fn standby(&mut self) -> Result<(), Failure> {
        let done = self.drive.device_mut().standby();
        self.carry_out()?;
        self.hear(&done)?;
        if !faults::is_read_only(self.drive.device()) {
            self.oracle.rested();
        }
        self.cut(None)
    }

    fn advance(&mut self, until_ns: u64) -> Result<(), Failure> {
        let mut done = std::mem::take(&mut self.done);
        done.clear();
        self.drive.advance(until_ns, &mut done);
        if self.trial.sabotage == Some(Sabotage::HeardTooEarly) {
            self.hear(&done)?;
            self.carry_out()?;
        } else {
            self.carry_out()?;
            self.hear(&done)?;
        }
        self.done = done;
        if self.drive.next_event().is_some() {
            return Ok(());
        }
        // Nothing happens by itself any more: who was still to be called was forgotten.
        self.drive.device().check_step().map_err(|text| Failure::new(Class::Books, text))
    }

    /// The host hears of completions.
    fn hear(&mut self, done: &[Completion]) -> Result<(), Failure> {
        if !done.is_empty() {
            self.unnoticed = None;
        }
        for completion in done {
            self.trace(|| format!("done: {}, {:?}", completion.tag, completion.outcome));
            let is_read_only = faults::is_read_only(self.drive.device());
            let may_fail = self.trial.faults.is_some() || (self.trial.may_give_up && is_read_only);
            if completion.outcome != Outcome::Done && (!may_fail || completion.op == Op::Read) {
                let text = format!("command {} ends {:?}", completion.tag, completion.outcome);
                return Err(Failure::new(Class::Refused, text));
            }
            if let Issued::Read(found) = &self.issued[completion.tag as usize] {
                self.oracle.check_read(completion.tag, found)?;
            } else {
                self.has_news = true;
            }
            match completion.outcome {
                Outcome::Done => self.oracle.acknowledge(completion.tag),
                _ => {
                    self.trial.gave_up = true;
                    self.oracle.fail(completion.tag);
                }
            }
        }
        Ok(())
    }

    /// Reads the whole drive; nothing else is inside.
    pub fn read_all(&mut self) -> Result<Vec<u64>, Failure> {
        let sectors = self.trial.subject.sectors;
        let tag = self.issued.len();
        self.sent.clear();
        self.submit(Op::Read, (0, sectors as u32), false, Content::RANDOM)?;
        let chances = (self.cut_chance, self.end_chance);
        (self.cut_chance, self.end_chance) = (0.0, 0.0);
        self.drain(0)?;
        (self.cut_chance, self.end_chance) = chances;
        match &mut self.issued[tag] {
            Issued::Read(found) => Ok(std::mem::take(found)),
            _ => Ok(Vec::new()),
        }
    }

    /// No two units are in one cell.
    pub fn check_cells(&mut self) -> Result<(), Failure> {
        let cells = &mut self.sent;
        let count = cells.len();
        cells.sort_unstable();
        cells.dedup();
        if cells.len() < count {
            return Err(Failure::new(Class::Books, format!("{count} units lie in {} cells", cells.len())));
        }
        Ok(())
    }

    /// A random workload.
    pub fn work(&mut self, host: &Host, steps: u64) -> Result<(), Failure> {
        for _ in 0..steps {
            let step = host.step(&mut self.random);
            self.perform(step, host.depth)?;
        }
        Ok(())
    }

    /// The drive still takes writes, keeps them and gives them back.
    pub fn finish(&mut self) -> Result<(), Failure> {
        self.drain(0)?;
        let lba = self.random.between(0, self.trial.subject.sectors - 1);
        let fua = self.random.chance(0.5);
        self.submit(Op::Write, (lba, 1), fua, Content::RANDOM)?;
        self.drain(0)?;
        self.submit(Op::Flush, (0, 0), false, Content::RANDOM)?;
        self.drain(0)?;
        self.read_all()?;
        self.drive.device().check().map_err(|text| Failure::new(Class::Books, text))?;
        let chance = std::mem::replace(&mut self.cut_chance, 1.0);
        self.cut(None)?;
        self.cut_chance = chance;
        Ok(())
    }
}
