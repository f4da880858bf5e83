//! Mutated inputs for what reads bytes of strangers: the NBD protocol, images of drives.
//!
//! Fuzzers that watch which branches a program takes (libFuzzer, AFL) need an unstable compiler or their own. Here a
//! target describes each run by a [`Trait`] instead: which replies, which errors. An input that does something new is
//! mutated further. That finds less than branches would, but it runs wherever the tests run.
//!
//! A run is decided by its seed, which is printed. An input that fails is made shorter, kept in `target/fuzz/` and
//! printed in hex; [`INPUT`] runs it alone.

mod hex;
mod mutate;
mod shorten;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use drivelab_sim::Stream;

pub use mutate::mutate;

/// Seconds for each target; without it a target runs as long as it says itself.
pub const SECONDS: &str = "DRIVELAB_FUZZ_SECONDS";
/// The seed; 1 without it.
pub const SEED: &str = "DRIVELAB_FUZZ_SEED";
/// A file with one input in hex: only that is run, and what it says is shown.
pub const INPUT: &str = "DRIVELAB_FUZZ_INPUT";

/// What a run did, as far as it is worth telling runs apart.
pub type Trait = u64;

/// Inputs that are mutated further: beyond the given ones, those that did something new.
const INPUTS_MAX: usize = 4096;

/// Longest input.
const BYTES_MAX: usize = 64 << 10;

/// What is fuzzed.
pub struct Target<'a> {
    /// Its name, also that of files.
    pub name: &'static str,
    /// Inputs to begin with.
    pub corpus: Vec<Vec<u8>>,
    /// Seconds if [`SECONDS`] doesn't say.
    pub seconds: f64,
    /// Runs an input, and panics if it finds a fault.
    pub run: &'a dyn Fn(&[u8]) -> Trait,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Inputs that were run.
    pub inputs: u64,
    /// Different traits of their runs.
    pub traits: usize,
}

/// Runs a target for its time.
///
/// # Panics
/// At the first input that fails, in words that say how to run it again. A variable of the environment that can't be
/// read fails too.
#[allow(clippy::disallowed_methods, reason = "a fuzzer runs for a time")]
pub fn fuzz(target: &Target) -> Report {
    if let Some(path) = std::env::var_os(INPUT) {
        return repeat(target, Path::new(&path));
    }
    let seed = variable(SEED, 1_u64);
    let seconds = variable(SECONDS, target.seconds);
    println!("{}: seed {seed}, {seconds} s", target.name);
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    let mut random = Stream::new(seed, 0);
    let mut inputs = target.corpus.clone();
    let mut seen = HashSet::new();
    let mut report = Report { inputs: 0, traits: 0 };
    while Instant::now() < until {
        // The corpus itself comes first.
        let given = target.corpus.get(report.inputs as usize);
        let input = given.cloned().unwrap_or_else(|| {
            let mut input = inputs[random.below(inputs.len() as u64) as usize].clone();
            mutate(&mut input, &inputs, &mut random);
            input.truncate(BYTES_MAX);
            input
        });
        match attempt(target, &input) {
            Some(done) if seen.insert(done) && given.is_none() && inputs.len() < INPUTS_MAX => {
                inputs.push(input);
            }
            Some(_) => {}
            None => fail(target, seed, report.inputs, &input),
        }
        report.inputs += 1;
    }
    report.traits = seen.len();
    println!("{}: {} inputs, {} traits", target.name, report.inputs, report.traits);
    report
}

/// `None`: it fails.
fn attempt(target: &Target, input: &[u8]) -> Option<Trait> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).ok()
}

fn repeat(target: &Target, path: &Path) -> Report {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{INPUT}: {}: {error}", path.display()));
    let input = hex::decode(&text).unwrap_or_else(|what| panic!("{INPUT}: {}: {what}", path.display()));
    (target.run)(&input);
    println!("{}: {} bytes are survived", target.name, input.len());
    Report { inputs: 1, traits: 1 }
}

fn variable<T: std::str::FromStr>(name: &str, otherwise: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}: {text:?}; a number is wanted")),
        Err(_) => otherwise,
    }
}

/// Shortens the input, keeps it, and says so.
fn fail(target: &Target, seed: u64, count: u64, input: &[u8]) -> ! {
    // What it says was said once; hundreds of shorter inputs needn't repeat it.
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let short = shorten::shorten(input, |shorter| attempt(target, shorter).is_none());
    set_hook(hook);
    let text = hex::encode(&short);
    let mut said = format!("{} fails at seed {seed}, input {count}, {} bytes", target.name, short.len());
    let folder = folder();
    let path = folder.join(format!("{}-{seed}-{count}.hex", target.name));
    match std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, &text)) {
        Ok(()) => {
            let _ = write!(said, "; again: {INPUT}={}", path.display());
        }
        Err(error) => {
            let _ = write!(said, "; {}: {error}", path.display());
        }
    }
    panic!("{said}\n{}", text.get(..4096).unwrap_or(&text));
}

/// `target/fuzz` of the workspace.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz")
}
