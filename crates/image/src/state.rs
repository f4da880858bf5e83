//! What changes about an image beside its flash: kept twice, written in turn, so that one copy is always whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a copy.
pub(crate) const SLOT_BYTES: u64 = 64 << 10;
/// Words before the text of a copy: generation, length, checksum.
pub(crate) const HEAD_BYTES: usize = 24;

/// State of an image.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// It was put to rest; otherwise it is served, or its power was cut.
    pub is_clean: bool,
    /// How often it was powered on.
    pub power_cycles: u64,
    /// How often its power went without standby.
    pub unsafe_shutdowns: u64,
    /// The drive's time under power, in ns.
    pub power_on_ns: u64,
    /// Counters of the drive over its life, by name.
    pub counters: Map<String, Value>,
}

/// The two copies in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateSlots {
    begin: u64,
    generation: u64,
}

fn encode(generation: u64, state: &State) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(state)?;
    let mut copy = vec![0; HEAD_BYTES];
    copy[..8].copy_from_slice(&generation.to_le_bytes());
    copy[8..16].copy_from_slice(&(text.len() as u64).to_le_bytes());
    copy.extend_from_slice(&text);
    let check = check(&copy);
    copy[16..24].copy_from_slice(&check.to_le_bytes());
    if copy.len() as u64 > SLOT_BYTES {
        return Err(io::Error::other(format!("{} bytes of counters", text.len())));
    }
    Ok(copy)
}

/// Checksum of generation, length and text.
pub(crate) fn check(copy: &[u8]) -> u64 {
    xxh3_64(&copy[..16]) ^ xxh3_64(&copy[HEAD_BYTES..]).rotate_left(1)
}

/// Generation and state of a copy; `None` if it is not whole.
fn decode(slot: &[u8]) -> Option<(u64, State)> {
    let word = |at: usize| Some(u64::from_le_bytes(slot.get(at..at + 8)?.try_into().ok()?));
    let (generation, length, expected) = (word(0)?, word(8)?, word(16)?);
    let end = usize::try_from(length).ok()?.checked_add(HEAD_BYTES)?;
    let copy = slot.get(..end)?;
    if check(copy) != expected {
        return None;
    }
    Some((generation, serde_json::from_slice(&copy[HEAD_BYTES..]).ok()?))
}

impl StateSlots {
    /// The copies of a new image.
    pub(crate) fn new(begin: u64) -> Self {
        Self { begin, generation: 0 }
    }

    /// Reads the newer whole copy; `None`: there is none.
    pub(crate) fn read(file: &File, begin: u64) -> io::Result<Option<(Self, State)>> {
        let mut newest: Option<(u64, State)> = None;
        let mut slot = vec![0; SLOT_BYTES as usize];
        for index in 0..2 {
            file.read_exact_at(&mut slot, begin + index * SLOT_BYTES)?;
            if let Some(copy) = decode(&slot)
                && newest.as_ref().is_none_or(|(generation, _)| copy.0 > *generation)
            {
                newest = Some(copy);
            }
        }
        Ok(newest.map(|(generation, state)| (Self { begin, generation }, state)))
    }

    /// Writes over the older copy.
    pub(crate) fn write(&mut self, file: &File, state: &State) -> io::Result<()> {
        let generation = self.generation + 1;
        let copy = encode(generation, state)?;
        file.write_all_at(&copy, self.begin + generation % 2 * SLOT_BYTES)?;
        self.generation = generation;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_copy_is_whole_wherever_a_write_is_cut() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(2 * SLOT_BYTES).unwrap();
        assert!(StateSlots::read(&file, 0).unwrap().is_none());
        let mut slots = StateSlots::new(0);
        let state = |power_cycles| State { power_cycles, ..State::default() };
        for cycle in 1..5 {
            slots.write(&file, &state(cycle)).unwrap();
            assert_eq!(StateSlots::read(&file, 0).unwrap().unwrap().1, state(cycle));
        }
        let older = state(4);
        let copy = encode(5, &state(77)).unwrap();
        let mut before = vec![0; copy.len()];
        file.read_exact_at(&mut before, SLOT_BYTES).unwrap();
        for cut in 0..copy.len() {
            file.write_all_at(&before, SLOT_BYTES).unwrap();
            file.write_all_at(&copy[..cut], SLOT_BYTES).unwrap();
            assert_eq!(StateSlots::read(&file, 0).unwrap().unwrap().1, older, "cut after {cut} bytes");
        }
    }

    #[test]
    fn any_bytes_are_a_copy_or_none() {
        let whole = encode(9, &State::default()).unwrap();
        assert_eq!(decode(&whole), Some((9, State::default())));
        for bit in 0..whole.len() * 8 {
            let mut copy = whole.clone();
            copy[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&copy), None, "bit {bit}");
        }
        assert_eq!(decode(&[0xFF; 100]), None);
        assert_eq!(decode(&[]), None);
    }
}
