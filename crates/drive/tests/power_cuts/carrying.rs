//! What a drive has done is carried out on its media, effect by effect. At every flash operation, and wherever a disk
//! writes a sector, the power may fail.

use std::ops::Range;

use drivelab_controller::{Effect, Effects};
use drivelab_nand::op::{FlashOp, NO_CELL, PageKind};

use super::after::After;
use super::oracle::{Class, Failure, stamp};
use super::sabotage::Sabotage;
use super::session::{Issued, Session, UnderWay};

impl Session<'_, '_> {
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
                    self.sent.push((at, cell, first));
                }
                if let Issued::Read(found) = &mut self.issued[tag as usize] {
                    for sector in 0..count {
                        found[(offset + sector) as usize] = self.media[at].cells.stamp(cell, first + sector);
                    }
                }
            }
            Effect::Hold { lpn, cell } => self.media[at].hold(lpn, cell).map_err(broken)?,
            Effect::Unhold { .. } if self.trial.sabotage == Some(Sabotage::CapacitorClings) => {}
            Effect::Unhold { lpn, cell } => self.media[at].unhold(lpn, cell),
            Effect::Copy { from, to, count } => self.copy(at, from..from + count, to)?,
            Effect::Free { first, count } => {
                (first..first + count).for_each(|cell| self.media[at].cells.free(cell));
            }
            Effect::Begin { number, op } => self.begin(at, number, op)?,
            Effect::End { number, op, words } => self.end(at, (number, op), effects.words_of(words))?,
            Effect::SecureErase => {
                self.cut(None)?;
                if self.trial.sabotage != Some(Sabotage::SecureEraseIgnored) {
                    self.media[at].secure_erase();
                }
                self.under_way.retain(|&(medium, ..)| medium != at);
                self.cut(None)?;
            }
        }
        Ok(())
    }

    /// A disk writes sectors to the platter: each whole, or not at all.
    fn copy(&mut self, at: usize, from: Range<u32>, to: u32) -> Result<(), Failure> {
        for (from, to) in from.zip(to..) {
            if self.has_news {
                self.cut(None)?;
            }
            let to = match self.trial.sabotage {
                Some(Sabotage::SectorLost) if to % 8 == 0 => continue,
                Some(Sabotage::SectorMisdirected) if to % 8 == 0 => to - 1,
                _ => to,
            };
            let copied = self.media[at].cells.copy(from, to);
            copied.map_err(|text| Failure::new(Class::Broken, text))?;
            self.cut(None)?;
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
    pub fn cut(&mut self, torn: Option<(UnderWay, &[u64])>) -> Result<(), Failure> {
        let ends = self.random.chance(self.end_chance);
        if !ends && self.cut_chance < 1.0 && !self.random.chance(self.cut_chance) {
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
        if ends {
            self.media = media;
            return Err(Failure::new(Class::Over, "the power has failed"));
        }
        let seed = self.random.0.next_u64();
        let oracle = &self.oracle;
        let after = After::new(self.depth, seed);
        after.come_up(self.trial, media, oracle)
    }
}

fn block_of(op: FlashOp) -> Option<u32> {
    match op {
        FlashOp::Program { block, .. }
        | FlashOp::Coarse { block, .. }
        | FlashOp::Fine { block, .. }
        | FlashOp::Erase { block } => Some(block.0),
        _ => None,
    }
}
