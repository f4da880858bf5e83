//! What must be true of a drive between any two events.

use crate::drive::events::Event;
use crate::drive::{Scheduled, SolidStateDrive};

impl<M: Scheduled> SolidStateDrive<M> {
    /// Recounts all books; for tests and `check`.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check(&self) -> Result<(), String> {
        self.mapping.check()?;
        self.check_step()
    }

    /// What must be true between any two events: queues, tokens, buffer, reservations. Cheap enough to be asked after
    /// each; the map's books are [`Self::check`]'s.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check_step(&self) -> Result<(), String> {
        self.queue.check()?;
        self.buffer.check()?;
        let inside = self.queue.outstanding() as usize;
        let (held, flushes) = (self.write_governor.held(), self.flushes.len());
        if held + self.admission.len() + flushes > inside {
            return Err(format!("{inside} commands are inside, more wait"));
        }
        if self.buffer.withheld() != self.write_governor.withheld() {
            return Err("space is withheld that goes back to nobody".to_owned());
        }
        if self.flushes.iter().any(|&slot| self.slots[slot as usize].pending == 0) {
            return Err("a flush waits for nothing".to_owned());
        }
        if !self.flash.is_sound() {
            return Err("two use a bus or a die at once".to_owned());
        }
        if !self.late.is_sound() || !self.events.are_sound() {
            return Err("what is to happen is not in order of time".to_owned());
        }
        M::check_jobs(self)
    }

    /// How many events wait for each of so many dies or banks: the end of its job, or its beginning.
    pub(crate) fn events_of_each(&self, count: usize) -> Vec<usize> {
        let ends = self.events.items().filter_map(|event| match event {
            Event::JobDone(die) => Some(die.0),
            _ => None,
        });
        tally(ends.chain(self.late.items().copied()), count)
    }
}

/// How often each number below `count` is among these.
pub(crate) fn tally(numbers: impl Iterator<Item = u32>, count: usize) -> Vec<usize> {
    let mut found = vec![0; count];
    for number in numbers {
        if let Some(times) = found.get_mut(number as usize) {
            *times += 1;
        }
    }
    found
}
