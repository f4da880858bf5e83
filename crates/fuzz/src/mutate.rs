//! Changes that break programs.

use drivelab_sim::Stream;

/// Numbers at the limits of fields, of blocks, of signs.
const NUMBERS: [u64; 14] = [
    0,
    1,
    511,
    512,
    4096,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    (32 << 20) + 1,
    (1 << 20) - 512,
    u64::MAX,
    u64::MAX - 511,
    i64::MAX as u64,
    1 << 63,
];

/// Changes an input in a few places; `others`: inputs of which it may take parts.
pub fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Stream) {
    // Mostly few, so that what was interesting stays; sometimes many.
    let most = 1 << random.below(5);
    for _ in 0..=random.below(most) {
        change(input, others, random);
    }
}

fn change(input: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Stream) {
    let at = random.below(input.len() as u64 + 1) as usize;
    let end = (at + random.below(64) as usize).min(input.len());
    match random.below(9) {
        0 if at < input.len() => input[at] ^= 1 << random.below(8),
        1 => put_number(input, at, NUMBERS[random.below(NUMBERS.len() as u64) as usize], random),
        2 => drop(input.drain(at..end)),
        3 => {
            let copy = input[at..end].to_vec();
            input.splice(at..at, copy);
        }
        4 if !others.is_empty() => {
            let other = &others[random.below(others.len() as u64) as usize];
            let from = random.below(other.len() as u64 + 1) as usize;
            input.splice(at.., other[from..].iter().copied());
        }
        5 => input.truncate(at),
        6 => input[at..end].iter_mut().for_each(|byte| *byte = random.below(256) as u8),
        7 => {
            let bytes: Vec<u8> = (0..=random.below(32)).map(|_| random.below(256) as u8).collect();
            input.splice(at..at, bytes);
        }
        _ if at < input.len() => {
            input[at] = input[at].wrapping_add([1, 255, 16, 240][random.below(4) as usize]);
        }
        _ => input.push(random.below(256) as u8),
    }
}

/// Of 1, 2, 4 or 8 bytes, of either order.
fn put_number(input: &mut [u8], at: usize, number: u64, random: &mut Stream) {
    let width = [1, 2, 4, 8][random.below(4) as usize].min(input.len() - at);
    let mut bytes = number.to_le_bytes();
    if random.below(2) == 0 {
        bytes[..width].reverse();
    }
    input[at..at + width].copy_from_slice(&bytes[..width]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_input_and_every_input_is_survived() {
        let others = [vec![1, 2, 3], vec![]];
        let inputs = |seed| {
            let mut random = Stream::new(seed, 0);
            let mut input = Vec::new();
            for _ in 0..2000 {
                mutate(&mut input, &others, &mut random);
                input.truncate(100);
            }
            input
        };
        for seed in 0..20 {
            assert_eq!(inputs(seed), inputs(seed));
        }
        assert_ne!(inputs(1), inputs(2));
    }
}
