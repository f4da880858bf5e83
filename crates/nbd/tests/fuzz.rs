//! Mutations of valid conversations against the protocol; `make fuzz` runs them for longer.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::client::*;
use drivelab_fuzz::{Target, Trait, fuzz};
use drivelab_nbd::fuzz::fuzz_session;
use drivelab_nbd::protocol::{Fields, command, magic, option};
use serde_json::Value;

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

/// Which options were answered how, and of what sort about how many requests there were.
fn trait_of(replies: &[u8], statistics: &Value) -> Trait {
    let mut hasher = DefaultHasher::new();
    let mut rest = replies.get(18..).unwrap_or_default();
    while let Some(reply) = rest.strip_prefix(&magic::OPTION_REPLY.to_be_bytes()) {
        let mut fields = Fields(reply);
        (fields.u32(), fields.u32()).hash(&mut hasher);
        if fields.text().is_none() {
            break;
        }
        rest = fields.0;
    }
    rest.len().checked_ilog2().hash(&mut hasher);
    hash_sizes(statistics, &mut hasher);
    hasher.finish()
}

/// Numbers count as their powers of two.
fn hash_sizes(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Object(fields) => fields.values().for_each(|value| hash_sizes(value, hasher)),
        _ => value.as_u64().and_then(u64::checked_ilog2).hash(hasher),
    }
}

#[test]
fn the_corpus_itself_is_answered() {
    for data in corpus() {
        assert!(fuzz_session(&data).0.len() > 18);
    }
    let read_bytes = fuzz_session(&corpus()[3]).0.len();
    assert!(read_bytes > 200 * 65_536 / 2, "{read_bytes}");
}

#[test]
fn the_protocol_survives_mutations() {
    let report = fuzz(&Target {
        name: "protocol",
        corpus: corpus(),
        seconds: 2.0,
        run: &|data| {
            let (replies, statistics) = fuzz_session(data);
            trait_of(&replies, &statistics)
        },
    });
    assert!(report.inputs > 0 && report.traits > 0);
}
