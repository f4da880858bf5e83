//! Seeded mutations of valid conversations against the protocol, for as long as `DRIVELAB_FUZZ_SECONDS` says.
#![allow(clippy::disallowed_methods, reason = "a fuzzer runs for a time")]

mod client;

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use client::*;
use drivelab_nbd::fuzz::fuzz_session;
use drivelab_nbd::protocol::{command, option};
use drivelab_sim::Stream;

/// Conversations from which mutations start; the two bytes before each decide cuts and reading.
fn corpus() -> Vec<Vec<u8>> {
    let info = option(option::INFO, &name_and_wishes("disk", &[1, 2, 3]));
    let listed = option(option::LIST_META_CONTEXT, &name_and_queries("", &["base:"]));
    let haggling =
        [hello(), info, listed, option(option::LIST, &[]), option(5, &[]), option(option::ABORT, &[])];
    let old = [hello(), option(option::EXPORT_NAME, b"disk"), write(1, 1, 4096, &[7; 4096])];
    let mut use_all = vec![handshake(true), write(0, 1, 0, &[3; 1024])];
    for kind in 0..9 {
        if kind != command::WRITE && kind != command::DISCONNECT {
            use_all.push(command(kind, 0, u64::from(kind), 0, if kind == command::FLUSH { 0 } else { 4096 }));
        }
    }
    let pipeline = (0..200).map(|cookie| command(command::READ, 0, cookie, 512 * cookie, 65_536));
    let pipeline = [handshake(false), pipeline.flatten().collect()];
    let conversations = [haggling.concat(), old.concat(), use_all.concat(), pipeline.concat()];
    conversations.iter().map(|said| [&[40, 3][..], said].concat()).collect()
}

/// Numbers that break programs.
const NUMBERS: [u64; 12] = [
    0,
    1,
    511,
    512,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    (32 << 20) + 1,
    (1 << 20) - 512,
    u64::MAX,
    u64::MAX - 511,
    i64::MAX as u64,
];

fn mutate(data: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Stream) {
    let at = random.below(data.len() as u64 + 1) as usize;
    let end = (at + random.below(64) as usize).min(data.len());
    match random.below(8) {
        0 if at < data.len() => data[at] ^= 1 << random.below(8),
        1 => {
            let width = [1, 2, 4, 8][random.below(4) as usize];
            let number = NUMBERS[random.below(NUMBERS.len() as u64) as usize].to_be_bytes();
            let width = width.min(data.len() - at);
            data[at..at + width].copy_from_slice(&number[8 - width..]);
        }
        2 => drop(data.drain(at..end)),
        3 => {
            let copy = data[at..end].to_vec();
            data.splice(at..at, copy);
        }
        4 => {
            let other = &others[random.below(others.len() as u64) as usize];
            let from = random.below(other.len() as u64) as usize;
            data.splice(at.., other[from..].iter().copied());
        }
        5 => data.truncate(at),
        6 => data[at..end].iter_mut().for_each(|byte| *byte = random.below(256) as u8),
        _ => data[..2.min(end)].iter_mut().for_each(|byte| *byte = random.below(256) as u8),
    }
    data.truncate(1 << 16);
}

fn run(seed: u64) {
    let corpus = corpus();
    let mut random = Stream::new(seed, 0);
    let mut data = corpus[random.below(corpus.len() as u64) as usize].clone();
    for _ in 0..=random.below(12) {
        mutate(&mut data, &corpus, &mut random);
    }
    let _ = fuzz_session(&data);
}

#[test]
fn the_corpus_itself_is_answered() {
    for data in corpus() {
        assert!(fuzz_session(&data).len() > 18);
    }
    let read_bytes = fuzz_session(&corpus()[3]).len();
    assert!(read_bytes > 200 * 65_536 / 2, "{read_bytes}");
}

#[test]
fn mutations_are_survived() {
    let seconds = std::env::var("DRIVELAB_FUZZ_SECONDS").ok();
    let seconds =
        seconds.map_or(2.0, |text| text.parse().expect("DRIVELAB_FUZZ_SECONDS: a number of seconds"));
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    // Beyond the seeds of the last run's time there are always new ones when more time is given.
    let mut seed = 0;
    while Instant::now() < until {
        assert!(catch_unwind(|| run(seed)).is_ok(), "seed {seed} fails");
        seed += 1;
    }
    println!("{seed} mutations");
}
