//! A drive at work between two power cuts: its effects are carried out one by one, the host hears of completions after
//! those of their moment, and the power may fail at every flash operation.

use drivelab_controller::{Command, Completion, Content, Device, Effect, Effects, Op, Outcome};
use drivelab_drive::{Engine, Partition};
use drivelab_nand::BlockIndex;
use drivelab_nand::op::{FlashOp, NO_CELL, PageKind};

use crate::after::After;
use crate::medium::Medium;
use crate::oracle::{Class, Failure, Oracle, stamp};
use crate::sabotage::Sabotage;
use crate::subject::Subject;
use crate::values::Random;
use crate::workload::{Host, Step};

/// Steps without a completion after which a drive counts as stuck.
const STUCK_STEPS: u32 = 20_000;

/// What is the same for all sessions of a seed.
pub struct Trial<'a> {
    pub subject: &'a Subject,
    pub sabotage: Option<Sabotage>,
    pub cuts: u64,
    /// Whether what happens is printed.
    pub is_traced: bool,
    /// Media to make copies into.
    pub spare: Vec<Vec<Medium>>,
}

/// A write's version and first sector, or the data of a read as far as it is there; by tag.
#[derive(Clone, Debug)]
enum Issued {
    Write { version: u64, lba: u64 },
    Read(Vec<u64>),
    Other,
}

/// An operation that has begun: on which medium, its number.
type UnderWay = (usize, u64, FlashOp);

/// A session.
pub struct Session<'t, 'a> {
    pub trial: &'t mut Trial<'a>,
    pub drive: Partition<Engine>,
    pub media: Vec<Medium>,
    pub oracle: Oracle,
    pub random: Random,
    /// How likely it is that the power fails at a point where it can.
    pub cut_chance: f64,
    /// Sessions after this one.
    pub depth: u32,
    under_way: Vec<UnderWay>,
    issued: Vec<Issued>,
    effects: Effects,
    /// Cells that were read.
    sent: Vec<u32>,
    done: Vec<Completion>,
    /// The host has heard something since the last cut.
    has_news: bool,
    /// The last program, if the host has heard nothing since: a sabotage looks at it.
    unnoticed: Option<(usize, BlockIndex, u32)>,
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
    fn trace(&self, what: impl FnOnce() -> String) {
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
        let mut command = Command { fua, content, ..Command::new(tag, op, lba, sectors) };
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
        self.oracle.rested();
        self.cut(None)
    }

    fn advance(&mut self, until_ns: u64) -> Result<(), Failure> {
        let mut done = std::mem::take(&mut self.done);
        done.clear();
        self.drive.advance(until_ns, &mut done);
        self.carry_out()?;
        self.hear(&done)?;
        self.done = done;
        Ok(())
    }

    /// The host hears of completions.
    fn hear(&mut self, done: &[Completion]) -> Result<(), Failure> {
        if !done.is_empty() {
            self.unnoticed = None;
        }
        for completion in done {
            self.trace(|| format!("done: {}, {:?}", completion.tag, completion.outcome));
            if completion.outcome != Outcome::Done {
                let text = format!("command {} ends {:?}", completion.tag, completion.outcome);
                return Err(Failure::new(Class::Refused, text));
            }
            if let Issued::Read(found) = &self.issued[completion.tag as usize] {
                self.oracle.check_read(completion.tag, found)?;
            } else {
                self.has_news = true;
            }
            self.oracle.acknowledge(completion.tag);
        }
        Ok(())
    }

    /// Carries out what has happened since the last time.
    pub fn carry_out(&mut self) -> Result<(), Failure> {
        for medium in 0..self.media.len() {
            let mut effects = std::mem::take(&mut self.effects);
            self.drive.device_mut().take_effects(medium, &mut effects);
            self.carry_out_all(medium, &effects)?;
            self.effects = effects;
        }
        Ok(())
    }

    pub fn carry_out_all(&mut self, medium: usize, effects: &Effects) -> Result<(), Failure> {
        effects.list.iter().try_for_each(|&effect| self.carry_out_one(medium, effect, effects))
    }

    fn carry_out_one(&mut self, at: usize, effect: Effect, effects: &Effects) -> Result<(), Failure> {
        let broken = |text: String| Failure::new(Class::Broken, text);
        self.trace(|| match effect {
            Effect::End { words, .. } => format!("{effect:?} {:x?}", effects.words_of(words)),
            _ => format!("{effect:?}"),
        });
        match effect {
            Effect::Fill { cell, base, first, count, tag, offset } => {
                let Issued::Write { version, lba } = self.issued[tag as usize] else {
                    return Err(broken(format!("command {tag} is no write, but fills cell {cell}")));
                };
                let begin = lba + u64::from(offset);
                let stamps = (begin..begin + u64::from(count)).map(|lba| stamp(version, lba));
                self.media[at].cells.fill(cell, base, first, stamps).map_err(broken)?;
                if self.trial.sabotage == Some(Sabotage::CellFreedEarly) {
                    let lpn = (begin / self.media[at].cells.sectors as u64) as u32;
                    if let Some(&(_, old)) = self.media[at].versions(lpn).first() {
                        self.media[at].cells.free(old);
                    }
                }
            }
            Effect::Send { cell, first, count, tag, offset } => {
                if cell != NO_CELL {
                    self.sent.push(cell);
                }
                if let Issued::Read(found) = &mut self.issued[tag as usize] {
                    for sector in 0..count {
                        found[(offset + sector) as usize] = self.media[at].cells.stamp(cell, first + sector);
                    }
                }
            }
            Effect::Hold { lpn, cell } => self.media[at].hold(lpn, cell).map_err(broken)?,
            Effect::Unhold { lpn, cell } => self.media[at].unhold(lpn, cell),
            Effect::Copy { .. } => unreachable!("a disk's"),
            Effect::Free { first, count } => {
                (first..first + count).for_each(|cell| self.media[at].cells.free(cell));
            }
            Effect::Begin { number, op } => self.begin(at, number, op)?,
            Effect::End { number, op, words } => self.end(at, (number, op), effects.words_of(words))?,
            Effect::SecureErase => {
                self.media[at].secure_erase();
                self.under_way.retain(|&(medium, ..)| medium != at);
            }
        }
        Ok(())
    }

    fn begin(&mut self, at: usize, number: u64, op: FlashOp) -> Result<(), Failure> {
        if let Some(block) = block_of(op) {
            // Operations of a die follow one another: of two that have begun only one can be torn.
            let other = self
                .under_way
                .iter()
                .find(|(medium, _, other)| *medium == at && block_of(*other) == Some(block));
            if let Some((_, _, other)) = other {
                let text = format!("{op:?} begins while {other:?} is under way in the same block");
                return Err(Failure::new(Class::Broken, text));
            }
        }
        self.under_way.push((at, number, op));
        Ok(())
    }

    /// An operation ends: the power may fail before that, in the middle of it, and after it.
    fn end(&mut self, at: usize, (number, op): (u64, FlashOp), words: &[u64]) -> Result<(), Failure> {
        let Some(index) =
            self.under_way.iter().position(|&(medium, begun, _)| (medium, begun) == (at, number))
        else {
            return Err(Failure::new(Class::Broken, format!("{op:?} ends, but has not begun")));
        };
        if self.has_news {
            self.cut(None)?;
        }
        let begun = self.under_way.remove(index);
        self.cut(Some((begun, words)))?;
        let (mut op, mut words) = (op, words.to_vec());
        if let Some(sabotage) = self.trial.sabotage {
            sabotage.change(&self.media[at], &mut op, &mut words);
            if sabotage == Sabotage::EraseTooEarly {
                self.erase_early(at, op)?;
            }
        }
        self.media[at].apply(op, &words).map_err(|text| Failure::new(Class::Broken, text))?;
        self.cut(None)
    }

    /// A cut after an erase that did not wait for the last program, whose end the host has not noticed.
    fn erase_early(&mut self, at: usize, op: FlashOp) -> Result<(), Failure> {
        match op {
            FlashOp::Program { block, page, kind: PageKind::Host, .. } => {
                self.unnoticed = Some((at, block, page));
            }
            FlashOp::Program { .. } => self.unnoticed = None,
            FlashOp::Erase { block: erased } => {
                if let Some((at, block, page)) = self.unnoticed.take()
                    && block != erased
                    && self.cut_chance > 0.0
                    && self.media[at].supersedes((block, page), erased)
                    && self.under_way.iter().all(|&(_, _, op)| block_of(op) != Some(block.0))
                {
                    let mut media = self.media.clone();
                    media[at].undo_program(block, page);
                    media[at].apply(op, &[]).map_err(|text| Failure::new(Class::Broken, text))?;
                    let after = After::new(0, 0);
                    after.come_up(self.trial, media, &self.oracle)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The power fails, perhaps. `torn`: in the middle of this operation, which would have written these words.
    fn cut(&mut self, torn: Option<(UnderWay, &[u64])>) -> Result<(), Failure> {
        if self.cut_chance < 1.0 && !self.random.chance(self.cut_chance) {
            return Ok(());
        }
        self.has_news = false;
        self.trial.cuts += 1;
        self.trace(|| format!("cut {}, in the middle of {torn:?}", self.trial.cuts));
        let mut media = self.trial.spare.pop().unwrap_or_else(|| self.trial.subject.new_media());
        media.clone_from(&self.media);
        let broken = |text: String| Failure::new(Class::Broken, text);
        for &(at, _, op) in &self.under_way {
            if self.random.chance(0.5) {
                media[at].tear(op, &[]).map_err(broken)?;
            }
        }
        if let Some(((at, _, op), words)) = torn {
            media[at].tear(op, words).map_err(broken)?;
        }
        let seed = self.random.0.next_u64();
        let oracle = &self.oracle;
        let after = After::new(self.depth, seed);
        after.come_up(self.trial, media, oracle)
    }

    /// Reads the whole drive; nothing else is inside.
    pub fn read_all(&mut self) -> Result<Vec<u64>, Failure> {
        let sectors = self.trial.subject.sectors;
        let tag = self.issued.len();
        self.sent.clear();
        self.submit(Op::Read, (0, sectors as u32), false, Content::RANDOM)?;
        let chance = std::mem::replace(&mut self.cut_chance, 0.0);
        self.drain(0)?;
        self.cut_chance = chance;
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

fn block_of(op: FlashOp) -> Option<u32> {
    match op {
        FlashOp::Program { block, .. } | FlashOp::Erase { block } => Some(block.0),
        _ => None,
    }
}
