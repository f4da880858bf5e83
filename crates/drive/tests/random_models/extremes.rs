//! Values over the whole of their ranges: a model with them is refused with a message that names a key, or it makes a
//! drive that works on commands. Nothing overflows on the way (tests are built with checks of that).

use std::sync::Arc;

use drivelab_controller::{Command, Device, Op};
use drivelab_drive::parameters::Kind;
use drivelab_drive::{Family, Layer, Model, ModelError, Partition, build};
use drivelab_sim::Stream;

use super::values::{self, Random, Values};

/// Steps after which a drive need not be done: an hour for every page of a large block takes many.
const PATIENCE: u32 = 20_000;

/// A value of a parameter, often at the end of its range. Small and large ones are as likely.
fn value(random: &mut Random, kind: Kind) -> Option<String> {
    Some(match kind {
        Kind::Integer(least, most) => match random.between(0, 7) {
            0 => least,
            1 => most,
            2 => least + 1.min(most - least),
            3 => most - 1.min(most - least),
            4 => 1u64.checked_shl(random.between(0, 63) as u32)?.clamp(least, most),
            _ => {
                let bits = random.between(0, 63);
                random.between(0, 1 << bits).clamp(least, most)
            }
        }
        .to_string(),
        Kind::Real(least, most) => random.one(&[least, most, 1e-9, 0.07, 1.0, 99.0]).to_string(),
        Kind::Boolean => random.one(&["true", "false"]).to_owned(),
        Kind::Choice(words) => random.one(words).to_owned(),
        Kind::Name | Kind::Text | Kind::Month | Kind::Names => return None,
    })
}

/// Values of a random model, some of them replaced.
fn extreme_values(seed: u64, family: Family) -> Values {
    let random = &mut Random(Stream::new(seed, 5));
    let mut values = match family {
        Family::Raid0 => [("family", "raid-0"), ("array.strip_bytes", "4096")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        _ => values::of_seed(seed, family),
    };
    let parameters: Vec<_> = family.parameters().filter(|parameter| parameter.key != "family").collect();
    for _ in 0..random.between(1, 4) {
        let parameter = random.one(&parameters);
        let Some(value) = value(random, parameter.kind) else { continue };
        match values.iter_mut().find(|(key, _)| key == parameter.key) {
            Some(known) => known.1 = value,
            None => values.push((parameter.key.to_owned(), value)),
        }
    }
    values
}

fn use_it(random: &mut Random, model: &Model) {
    let mut drive = build::partitioned(model, 1).unwrap();
    let capacity = drive.capacity_sectors();
    let mut done = Vec::new();
    for tag in 0..40 {
        let anywhere = random.between(0, capacity - 1);
        let lba = random.one(&[0, anywhere, capacity - 1]);
        let sectors = random.between(1, 64.min(capacity - lba)) as u32;
        let command = match random.between(0, 9) {
            0..=5 => Command { fua: random.chance(0.1), ..Command::new(tag, Op::Write, lba, sectors) },
            6 | 7 => Command::new(tag, Op::Read, lba, sectors),
            8 => Command::new(tag, Op::Trim, lba, sectors),
            _ => Command::new(tag, Op::Flush, 0, 0),
        };
        if !settle(&mut drive, random.between(0, 3) as u32, &mut done) {
            return;
        }
        // A queue of one holds what the draw leaves inside.
        let _ = drive.submit(drive.now_ns(), command);
        if tag == 20 && settle(&mut drive, 0, &mut done) {
            drive.device_mut().secure_erase();
        }
    }
    settle(&mut drive, 0, &mut done);
    drop((drive.device().counters(), drive.device().derived()));
}

/// Whether so few commands are left inside in time.
fn settle(
    drive: &mut Partition<drivelab_drive::Engine>,
    outstanding: u32,
    done: &mut Vec<drivelab_controller::Completion>,
) -> bool {
    for _ in 0..PATIENCE {
        if drive.device().outstanding() <= outstanding {
            return true;
        }
        let Some(next) = drive.next_event() else { panic!("commands inside and no event") };
        drive.advance(next, done);
    }
    false
}

/// An array of two small drives.
fn array(values: &Values) -> Result<Model, ModelError> {
    let member = |seed| {
        let values = values::of_seed(seed, Family::HardDisk);
        Model::parse("name = 'member'\ntitle = 'Member'", "member", &values).map(Arc::new)
    };
    let members: Vec<_> = (0..).filter_map(|seed| member(seed).ok()).take(2).collect();
    let text = "name = 'random'\ntitle = 'Random'\nmembers = ['member', 'member']";
    Model::parse_array(&[Layer { text, origin: "random" }], values, &members)
}

/// Tries a seed; whether it made a drive.
pub fn exercise(seed: u64, family: Family) -> bool {
    let values = extreme_values(seed, family);
    let parse = || match family {
        Family::Raid0 => array(&values),
        _ => Model::parse("name = 'random'\ntitle = 'Random'", "random", &values),
    };
    let outcome = std::panic::catch_unwind(|| match parse() {
        Ok(model) => {
            use_it(&mut Random(Stream::new(seed, 6)), &model);
            true
        }
        Err(error) => {
            let message = error.to_string();
            let named = family.parameters().any(|parameter| message.contains(parameter.key));
            assert!(named, "no key is named: {message}");
            false
        }
    });
    outcome.unwrap_or_else(|_| panic!("seed {seed} fails: {values:?}"))
}
