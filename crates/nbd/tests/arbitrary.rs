//! Arbitrary bytes in arbitrary cuts: the protocol never panics, never holds more than it may, and says the same
//! however the bytes are cut.

use crate::client::*;
use drivelab_nbd::protocol::{command, magic, option};
use drivelab_nbd::{Conversation, ExportInfo, Limits, MemoryExport};
use proptest::collection::vec;
use proptest::prelude::*;

const SIZE: u64 = 1 << 20;

/// Numbers near the limits of a field as often as any others.
fn number(bits: u32) -> impl Strategy<Value = u64> {
    let most = u64::MAX >> (64 - bits);
    prop_oneof![
        Just(0),
        Just(most),
        (0..=20u32).prop_map(|power| 1 << power),
        (0..4096u64).prop_map(|block| block * 512),
        0..=most
    ]
}

/// Something that a client might say, or nearly.
fn words() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0..12u32, vec(any::<u8>(), 0..80)).prop_map(|(number, data)| option(number, &data)),
        2 => (6..8u32, "[a-z]{0,3}", vec(0..5u16, 0..4)).prop_map(|(number, name, wishes)| option(number, &name_and_wishes(&name, &wishes))),
        2 => (9..11u32, "(base:allocation|base:|x)").prop_map(|(number, query)| option(number, &name_and_queries("", &[&query]))),
        16 => (0..9u16, 0..32u16, any::<u64>(), number(64), number(32)).prop_map(|(kind, flags, cookie, offset, length)| {
            command(kind, if flags > 16 { 0 } else { flags }, cookie, offset, length as u32)
        }),
        8 => (0..3u16, number(20), vec(any::<u8>(), 0..3)).prop_map(|(flags, offset, blocks)| write(flags, 1, offset, &vec![5; blocks.len() * 512])),
        1 => vec(any::<u8>(), 0..100),
        1 => Just(magic::COMMAND.to_be_bytes().to_vec()),
    ]
}

fn conversation() -> impl Strategy<Value = Vec<u8>> {
    (any::<u8>(), vec(words(), 0..40)).prop_map(|(start, said)| {
        let begin = match start {
            0..=99 => handshake(true),
            100..=199 => handshake(false),
            200..=229 => [hello(), option(option::EXPORT_NAME, b"")].concat(),
            _ => hello(),
        };
        [begin, said.concat()].concat()
    })
}

/// All replies to bytes that come in these pieces.
fn replies(bytes: &[u8], cuts: &[usize]) -> Vec<u8> {
    let mut server = Conversation::new(MemoryExport::new(ExportInfo::new("", SIZE)), &Limits::default());
    let (mut rest, mut replies, mut cuts) = (bytes, Vec::new(), cuts.iter().cycle());
    while !rest.is_empty() && server.wants_input() {
        let (piece, later) = rest.split_at(cuts.next().copied().unwrap_or(usize::MAX).clamp(1, rest.len()));
        server.receive(0, piece);
        rest = later;
        loop {
            server.settle(0);
            replies.extend_from_slice(server.replies());
            let sent = server.replies().len();
            server.sent(sent);
            assert!(server.held_bytes() <= (4 << 20) + 4 * bytes.len() as u64);
            if !server.can_proceed() {
                break;
            }
            server.proceed(0);
        }
    }
    replies
}

/// Cookies with their errors and lengths, sorted.
fn outcomes(mut replies: &[u8]) -> Vec<(u64, u32, usize)> {
    take_handshake(&mut replies);
    let mut outcomes = Vec::new();
    while let before @ 1.. = replies.len() {
        let reply = take_reply(&mut replies, |_| 0).expect("a whole reply");
        outcomes.push((reply.cookie(), reply.errno(), before - replies.len()));
    }
    outcomes.sort_unstable();
    outcomes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn cuts_make_no_difference(said in vec(words(), 0..40), cuts in vec(1..300usize, 1..20)) {
        // Requests that arrive together may be answered in any order, and race for the same bytes.
        let bytes = [handshake(true), said.concat()].concat();
        prop_assert_eq!(outcomes(&replies(&bytes, &cuts)), outcomes(&replies(&bytes, &[])));
    }

    #[test]
    fn conversations_of_any_kind_are_survived(bytes in conversation(), cuts in vec(1..300usize, 1..20)) {
        prop_assert_eq!(replies(&bytes, &cuts).len(), replies(&bytes, &[]).len());
    }

    #[test]
    fn noise_is_survived(bytes in vec(any::<u8>(), 0..2000), cuts in vec(1..50usize, 1..20)) {
        replies(&bytes, &cuts);
        replies(&[hello(), bytes.clone()].concat(), &cuts);
        replies(&[handshake(true), bytes].concat(), &cuts);
    }

    #[test]
    fn what_is_answered_is_well_formed(said in vec(words(), 0..40)) {
        let bytes = [handshake(true), said.concat()].concat();
        let replies = replies(&bytes, &[]);
        let mut rest = &replies[..];
        take_handshake(&mut rest);
        while let Some(reply) = take_reply(&mut rest, |_| 0) {
            prop_assert!([0, 1, 22, 28, 75, 95].contains(&reply.errno()), "{:?}", reply);
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn a_command_of_any_fields_has_its_reply_and_the_next_one_too(
        kind in 0..9u16, flags in 0..32u16, offset in number(64), length in number(32), structured: bool,
    ) {
        prop_assume!(kind != command::WRITE && kind != command::DISCONNECT);
        let second = command(command::FLUSH, 0, 2, 0, 0);
        let bytes = [handshake(structured), command(kind, flags, 1, offset, length as u32), second].concat();
        let replies = replies(&bytes, &[]);
        let mut rest = &replies[..];
        take_handshake(&mut rest);
        let data_bytes = |cookie| if kind == command::READ && cookie == 1 { length as usize } else { 0 };
        let found: Vec<_> = std::iter::from_fn(|| take_reply(&mut rest, data_bytes)).map(|reply| reply.cookie()).collect();
        prop_assert!(found == [1, 2] || found == [2, 1], "{:?}", found);
    }
}
