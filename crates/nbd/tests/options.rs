//! Every option of the handshake, well-formed and not.

use crate::client;
use crate::client::*;
use drivelab_nbd::protocol::{info, magic, offer, option, option_reply};
use drivelab_nbd::{Conversation, ExportInfo, Limits, MemoryExport};

fn disk() -> ExportInfo {
    ExportInfo { description: "a test".to_owned(), ..ExportInfo::new("disk", 1 << 20) }
}

/// Replies after the greeting, and whether the server ends the session.
fn answers_of(info: ExportInfo, bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut server = Conversation::new(MemoryExport::new(info), &Limits::default());
    server.receive(0, bytes);
    let mut replies = server.replies();
    take_greeting(&mut replies);
    (replies.to_vec(), !server.wants_input())
}

/// Replies to options after a hello, as (kind, data).
fn answers(options: &[Vec<u8>]) -> Vec<(u32, Vec<u8>)> {
    let (bytes, _) = answers_of(disk(), &[hello(), options.concat()].concat());
    let mut bytes = &bytes[..];
    std::iter::from_fn(|| take_option_reply(&mut bytes)).map(|reply| (reply.kind, reply.data)).collect()
}

fn kinds(options: &[Vec<u8>]) -> Vec<u32> {
    answers(options).into_iter().map(|(kind, _)| kind).collect()
}

fn block_sizes() -> Vec<u8> {
    [&info::BLOCK_SIZE.to_be_bytes()[..], &[0, 0, 2, 0], &[0, 0, 16, 0], &[2, 0, 0, 0]].concat()
}

fn export_information(flags: u16) -> Vec<u8> {
    [&info::EXPORT.to_be_bytes()[..], &(1u64 << 20).to_be_bytes(), &flags.to_be_bytes()].concat()
}

const OFFERS: u16 = offer::HAS_FLAGS
    | offer::FLUSH
    | offer::FUA
    | offer::TRIM
    | offer::WRITE_ZEROES
    | offer::MULTI_CONN
    | offer::CACHE
    | offer::FAST_ZERO;

#[test]
fn go_and_info_tell_of_the_export() {
    for (option, name) in [(option::GO, ""), (option::GO, "disk"), (option::INFO, "")] {
        let found = answers(&[client::option(option, &name_and_wishes(name, &[]))]);
        let wanted = [
            (option_reply::INFO, export_information(OFFERS)),
            (option_reply::INFO, block_sizes()),
            (option_reply::ACK, vec![]),
        ];
        assert_eq!(found, wanted);
    }
}

#[test]
fn name_and_description_are_told_to_those_who_ask() {
    let wishes = [info::DESCRIPTION, info::NAME, info::BLOCK_SIZE, 77];
    let found = answers(&[option(option::INFO, &name_and_wishes("", &wishes))]);
    let text =
        |kind: u16, text: &str| (option_reply::INFO, [&kind.to_be_bytes()[..], text.as_bytes()].concat());
    assert_eq!(found[1], text(info::NAME, "disk"));
    assert_eq!(found[2], text(info::DESCRIPTION, "a test"));
    assert_eq!(found[3], (option_reply::INFO, block_sizes()));
}

#[test]
fn flags_follow_the_export_and_the_agreement() {
    let flags = |info: ExportInfo, before: &[Vec<u8>]| {
        let bytes = [hello(), before.concat(), option(option::GO, &name_and_wishes("", &[]))].concat();
        let (bytes, _) = answers_of(info, &bytes);
        let mut bytes = &bytes[..];
        let replies: Vec<_> = std::iter::from_fn(|| take_option_reply(&mut bytes)).collect();
        let export = replies.iter().find(|reply| reply.kind == option_reply::INFO).unwrap();
        u16::from_be_bytes([export.data[10], export.data[11]])
    };
    let structured = option(option::STRUCTURED_REPLY, &[]);
    assert_eq!(flags(disk(), &[structured]), OFFERS | offer::DONT_FRAGMENT);
    let read_only = ExportInfo { read_only: true, rotational: true, ..disk() };
    let changes = offer::TRIM | offer::WRITE_ZEROES | offer::FAST_ZERO;
    assert_eq!(flags(read_only, &[]), OFFERS & !changes | offer::READ_ONLY | offer::ROTATIONAL);
    let single = ExportInfo { can_multi_conn: false, can_trim: false, ..disk() };
    assert_eq!(flags(single, &[]), OFFERS & !offer::MULTI_CONN & !offer::TRIM);
}

#[test]
fn other_names_are_unknown() {
    for option in [option::GO, option::INFO] {
        assert_eq!(kinds(&[client::option(option, &name_and_wishes("other", &[]))]), [option_reply::UNKNOWN]);
    }
    let structured = option(option::STRUCTURED_REPLY, &[]);
    let context = option(option::SET_META_CONTEXT, &name_and_queries("other", &["base:allocation"]));
    assert_eq!(kinds(&[structured, context]), [option_reply::ACK, option_reply::UNKNOWN]);
}

#[test]
fn export_name_begins_without_a_reply_magic() {
    let whole = [&(1u64 << 20).to_be_bytes()[..], &OFFERS.to_be_bytes()].concat();
    for (flags, zeros) in [(3u32, 0), (1, 124), (0, 124)] {
        let bytes = [&flags.to_be_bytes()[..], &option(option::EXPORT_NAME, b"disk")].concat();
        let wanted = [whole.clone(), vec![0; zeros]].concat();
        assert_eq!(answers_of(disk(), &bytes), (wanted, false), "{flags}");
    }
    let bytes = [hello(), option(option::EXPORT_NAME, b"other")].concat();
    assert_eq!(answers_of(disk(), &bytes), (vec![], true));
}

#[test]
fn list_names_the_export() {
    let listed = (option_reply::SERVER, text("disk"));
    assert_eq!(answers(&[option(option::LIST, &[])]), [listed, (option_reply::ACK, vec![])]);
    assert_eq!(kinds(&[option(option::LIST, b"x")]), [option_reply::INVALID]);
}

#[test]
fn abort_is_acknowledged_and_ends_the_session() {
    let bytes = [hello(), option(option::ABORT, &[]), option(option::LIST, &[])].concat();
    let (replies, is_over) = answers_of(disk(), &bytes);
    let reply = take_option_reply(&mut &replies[..]).unwrap();
    assert_eq!((reply.kind, replies.len(), is_over), (option_reply::ACK, 20, true));
}

#[test]
fn unknown_options_and_tls_are_unsupported_and_the_handshake_goes_on() {
    let start_tls = 5;
    let options =
        [option(start_tls, &[]), option(4, b"peek"), option(u32::MAX, &[1; 1000]), option(option::LIST, &[])];
    let unsupported = option_reply::UNSUPPORTED;
    assert_eq!(
        kinds(&options),
        [unsupported, unsupported, unsupported, option_reply::SERVER, option_reply::ACK]
    );
}

#[test]
fn meta_contexts_need_structured_replies() {
    let contexts = name_and_queries("", &["base:allocation"]);
    for option in [option::SET_META_CONTEXT, option::LIST_META_CONTEXT] {
        assert_eq!(kinds(&[client::option(option, &contexts)]), [option_reply::INVALID]);
    }
    assert_eq!(kinds(&[option(option::STRUCTURED_REPLY, b"x")]), [option_reply::INVALID]);
}

#[test]
fn meta_contexts_are_listed_by_name_namespace_or_all_and_set_by_name() {
    let context = [&1u32.to_be_bytes()[..], b"base:allocation"].concat();
    let found = |option: u32, queries: &[&str]| {
        let structured = client::option(option::STRUCTURED_REPLY, &[]);
        let mut found = answers(&[structured, client::option(option, &name_and_queries("", queries))]);
        assert_eq!(found.pop(), Some((option_reply::ACK, vec![])));
        found.split_off(1)
    };
    let one = vec![(option_reply::META_CONTEXT, context)];
    for queries in [&["base:allocation"][..], &["base:"], &[], &["x:y", "base:allocation"]] {
        assert_eq!(found(option::LIST_META_CONTEXT, queries), one, "{queries:?}");
    }
    assert_eq!(found(option::SET_META_CONTEXT, &["x:y", "base:allocation", "base:allocation"]), one);
    for queries in [&["base:"][..], &[], &["x:y"], &["base:alloc"], &["base:allocation2"]] {
        assert_eq!(found(option::SET_META_CONTEXT, queries), [], "{queries:?}");
    }
}

#[test]
fn malformed_data_is_invalid_and_the_handshake_goes_on() {
    let structured = option(option::STRUCTURED_REPLY, &[]);
    let name = text("disk");
    let damaged = [
        vec![],
        vec![0, 0, 0],
        u32::MAX.to_be_bytes().to_vec(),
        name[..6].to_vec(),
        name.clone(),
        [&name[..], &[0]].concat(),
        [&name[..], &[0, 1]].concat(),
        [&name[..], &[0, 0, 9]].concat(),
        [&name[..], &[255, 255, 255, 255]].concat(),
        [&name[..], &[0, 0, 0, 1, 0, 0, 0, 9, 1]].concat(),
    ];
    for data in &damaged {
        for option in [option::GO, option::INFO, option::SET_META_CONTEXT, option::LIST_META_CONTEXT] {
            let options = [structured.clone(), client::option(option, data), client::option(99, &[])];
            let wanted = [option_reply::ACK, option_reply::INVALID, option_reply::UNSUPPORTED];
            assert_eq!(kinds(&options), wanted, "{option} {data:?}");
        }
    }
}

#[test]
fn long_options_are_skipped_and_absurd_ones_end_the_session() {
    let long = option(option::GO, &vec![0; (64 << 10) + 1]);
    assert_eq!(kinds(&[long, option(99, &[])]), [option_reply::TOO_BIG, option_reply::UNSUPPORTED]);
    for length in [(1 << 20) + 1, u32::MAX] {
        let absurd = [&magic::OPTION.to_be_bytes()[..], &[0, 0, 0, 7], &length.to_be_bytes()].concat();
        assert_eq!(answers_of(disk(), &[hello(), absurd].concat()), (vec![], true));
    }
}

#[test]
fn strangers_are_turned_away_at_their_first_wrong_word() {
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0, 0, 0, 4], &[255; 4]] {
        assert_eq!(answers_of(disk(), bytes), (vec![], true));
    }
    assert_eq!(answers_of(disk(), &[hello(), b"IHAVEOPX".to_vec()].concat()), (vec![], true));
    assert_eq!(answers_of(disk(), &[hello(), b"IHAVEOP".to_vec()].concat()), (vec![], false));
}
