//! The books of the map's log, counted again.

use super::{MapLog, NOWHERE, WAITS};

impl MapLog {
    /// Recounts the books.
    pub fn check(&self) -> Result<(), String> {
        let mut current = vec![0; self.current.len()];
        let mut waiting = 0;
        for (line, &at) in (0..).zip(&self.at) {
            if at == WAITS {
                waiting += 1;
                if !self.is_queued(line) {
                    return Err(format!("line {line} of the map waits, but not in the queue"));
                }
            } else if at != NOWHERE {
                if self.places[at as usize - 1] != line + 1 {
                    return Err(format!("line {line} of the map is not where it should be"));
                }
                current[self.log_block(at - 1) as usize] += 1;
            }
        }
        if waiting != self.waiting {
            return Err(format!("{waiting} lines of the map wait, but the count says {}", self.waiting));
        }
        if current != self.current {
            return Err(format!("blocks of the map hold {current:?} lines, counted {:?}", self.current));
        }
        for (die, &count) in self.current_of_die.iter().enumerate() {
            let first = die * self.reserved as usize;
            let sum: u32 = current[first..first + self.reserved as usize].iter().sum();
            if sum != count || count > self.limit {
                return Err(format!(
                    "die {die} has {sum} lines of the map of {}, counted {count}",
                    self.limit
                ));
            }
        }
        Ok(())
    }
}
