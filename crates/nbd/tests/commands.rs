//! Every command of the transmission phase, at its limits and beyond them.

use std::collections::HashMap;

use crate::client::*;
use drivelab_nbd::protocol::{chunk, command};
use drivelab_nbd::{Conversation, Errno, ExportInfo, Limits, MemoryExport};

const SIZE: u64 = 1 << 20;

/// A session with an export, replies by cookie.
struct Session {
    server: Conversation<MemoryExport>,
    lengths: HashMap<u64, usize>,
}

impl Session {
    fn new(info: ExportInfo, structured: bool) -> Self {
        let mut server = Conversation::new(MemoryExport::new(info), &Limits::default());
        server.receive(0, &handshake(structured));
        let mut replies = server.replies();
        take_handshake(&mut replies);
        assert!(replies.is_empty());
        let bytes = server.replies().len();
        server.sent(bytes);
        Self { server, lengths: HashMap::new() }
    }

    fn simple() -> Self {
        Self::new(ExportInfo::new("", SIZE), false)
    }

    fn structured() -> Self {
        Self::new(ExportInfo::new("", SIZE), true)
    }

    fn read_only() -> Self {
        Self::new(ExportInfo { read_only: true, ..ExportInfo::new("", SIZE) }, false)
    }

    fn replies(&mut self, bytes: &[u8]) -> Vec<Reply> {
        self.server.receive(0, bytes);
        self.server.settle(0);
        let mut bytes = self.server.replies();
        let lengths = &self.lengths;
        let replies = std::iter::from_fn(|| {
            take_reply(&mut bytes, |cookie| lengths.get(&cookie).copied().unwrap_or(0))
        });
        let replies = replies.collect();
        assert!(bytes.is_empty(), "half a reply");
        let sent = self.server.replies().len();
        self.server.sent(sent);
        self.lengths.clear();
        replies
    }

    /// The only reply to a command with cookie 7.
    fn reply(&mut self, bytes: &[u8]) -> Reply {
        let mut replies = self.replies(bytes);
        assert_eq!(replies.len(), 1, "{replies:?}");
        let reply = replies.remove(0);
        assert_eq!(reply.cookie(), 7);
        reply
    }

    fn errno(&mut self, kind: u16, flags: u16, offset: u64, length: u32) -> u32 {
        self.lengths.insert(7, if kind == command::READ { length as usize } else { 0 });
        self.reply(&command(kind, flags, 7, offset, length)).errno()
    }

    fn read(&mut self, offset: u64, length: u32) -> Vec<u8> {
        self.lengths.insert(7, length as usize);
        match self.reply(&command(command::READ, 0, 7, offset, length)) {
            Reply::Simple { errno: 0, data, .. } => data,
            Reply::Chunk { flags: chunk::DONE, kind: chunk::OFFSET_DATA, data, .. } => {
                assert_eq!(data[..8], offset.to_be_bytes());
                data[8..].to_vec()
            }
            other => panic!("{other:?}"),
        }
    }
}

const OK: u32 = 0;
const NOT_PERMITTED: u32 = Errno::NotPermitted as u32;
const INVALID: u32 = Errno::Invalid as u32;
const NO_SPACE: u32 = Errno::NoSpace as u32;
const OVERFLOW: u32 = Errno::Overflow as u32;
const NOT_SUPPORTED: u32 = Errno::NotSupported as u32;

#[test]
fn what_is_written_is_read() {
    for mut session in [Session::simple(), Session::structured()] {
        let data: Vec<u8> = (0..8192u32).map(|byte| byte as u8).collect();
        assert_eq!(session.reply(&write(0, 7, 512, &data)).errno(), OK);
        assert_eq!(session.read(512, 8192), data);
        assert_eq!(session.read(0, 512), [0; 512]);
        assert_eq!(session.read(0, SIZE as u32).len(), SIZE as usize);
    }
}

#[test]
fn structured_replies_have_chunks_for_reads_only() {
    let mut session = Session::structured();
    let simple = |errno| Reply::Simple { cookie: 7, errno, data: vec![] };
    assert_eq!(session.reply(&write(0, 7, 0, &[1; 512])), simple(OK));
    assert_eq!(session.reply(&write(0, 7, 1, &[1; 512])), simple(INVALID));
    let failed = session.reply(&command(command::READ, 0, 7, 1, 512));
    let error = [&INVALID.to_be_bytes()[..], &[0, 0]].concat();
    assert_eq!(failed, Reply::Chunk { cookie: 7, flags: chunk::DONE, kind: chunk::ERROR, data: error });
    let empty = session.reply(&command(command::READ, 0, 7, 0, 0));
    assert_eq!(empty, Reply::Chunk { cookie: 7, flags: chunk::DONE, kind: chunk::NONE, data: vec![] });
}

#[test]
fn reads_at_the_limits() {
    let mut session = Session::new(ExportInfo::new("", 1 << 40), false);
    for (offset, length, errno) in [
        (0, 0, OK),
        (0, 1, INVALID),
        (0, 511, INVALID),
        (1, 512, INVALID),
        (0, 512, OK),
        ((1 << 40) - 512, 512, OK),
        ((1 << 40) - 512, 1024, INVALID),
        (1 << 40, 0, OK),
        (1 << 40, 512, INVALID),
        (u64::MAX - 511, 512, INVALID),
        (u64::MAX - 511, 1024, INVALID),
        (u64::MAX, u32::MAX, INVALID),
        (0, 32 << 20, OK),
        (0, (32 << 20) + 512, INVALID),
        (0, 1 << 31, INVALID),
        (0, u32::MAX, INVALID),
    ] {
        assert_eq!(session.errno(command::READ, 0, offset, length), errno, "{offset} {length}");
    }
}

#[test]
fn dont_fragment_needs_structured_replies_and_a_length_that_fits() {
    let flag = command::FLAG_DONT_FRAGMENT;
    assert_eq!(Session::simple().errno(command::READ, flag, 0, 512), INVALID);
    assert_eq!(Session::structured().errno(command::READ, flag, 0, 512), OK);
    let mut large = Session::new(ExportInfo::new("", 1 << 40), true);
    assert_eq!(large.errno(command::READ, flag, 0, 32 << 20), OK);
    assert_eq!(large.errno(command::READ, flag, 0, (32 << 20) + 512), OVERFLOW);
}

#[test]
fn writes_at_the_limits_and_the_session_goes_on() {
    let mut session = Session::simple();
    for (offset, length, errno) in [
        (0, 0, OK),
        (0, 1, INVALID),
        (0, 511, INVALID),
        (1, 512, INVALID),
        (SIZE - 512, 512, OK),
        (SIZE - 512, 1024, NO_SPACE),
        (SIZE, 512, NO_SPACE),
        (SIZE, 0, OK),
        (SIZE + 512, 0, NO_SPACE),
        (u64::MAX - 511, 1024, NO_SPACE),
        (u64::MAX - 511, 512, NO_SPACE),
        (0, (32 << 20) + 512, INVALID),
        (0, (64 << 20) + 1, INVALID),
    ] {
        let bytes = write(0, 7, offset, &vec![9; length]);
        assert_eq!(session.reply(&bytes).errno(), errno, "{offset} {length}");
        assert_eq!(session.read(SIZE - 512, 512).len(), 512);
    }
}

#[test]
fn a_write_of_absurd_length_ends_the_session() {
    for length in [1 << 31, u32::MAX] {
        let mut session = Session::simple();
        assert_eq!(session.replies(&command(command::WRITE, 0, 7, 0, length)), []);
        assert!(session.server.is_over());
    }
}

#[test]
fn an_oversized_write_is_skipped_without_keeping_it() {
    let mut session = Session::simple();
    let length = 100 << 20;
    session.server.receive(0, &command(command::WRITE, 0, 7, 0, length));
    let piece = vec![1; 1 << 16];
    for _ in 0..(length >> 16) {
        session.server.receive(0, &piece);
        assert!(session.server.held_bytes() < 1 << 18);
    }
    assert_eq!(session.reply(&[]).errno(), INVALID);
    assert_eq!(session.read(0, 512), [0; 512]);
}

#[test]
fn trims_and_zeroes_at_the_limits() {
    let mut session = Session::new(ExportInfo::new("", 1 << 40), false);
    for (kind, beyond) in
        [(command::TRIM, INVALID), (command::WRITE_ZEROES, NO_SPACE), (command::CACHE, INVALID)]
    {
        for (offset, length, errno) in [
            (0, 0, OK),
            (0, 1, INVALID),
            (0, 511, INVALID),
            (511, 512, INVALID),
            (0, 1 << 31, OK),
            (0, u32::MAX, INVALID),
            (0, u32::MAX - 511, OK),
            ((1 << 40) - 512, 512, OK),
            ((1 << 40) - 512, 1024, beyond),
            (u64::MAX - 511, 512, beyond),
            (u64::MAX - 511, 1 << 31, beyond),
        ] {
            assert_eq!(session.errno(kind, 0, offset, length), errno, "{kind} {offset} {length}");
        }
    }
}

#[test]
fn trimmed_and_zeroed_bytes_read_as_zeros() {
    let mut session = Session::simple();
    for (kind, flags) in [
        (command::TRIM, 0),
        (command::WRITE_ZEROES, 0),
        (command::WRITE_ZEROES, command::FLAG_NO_HOLE | command::FLAG_FUA),
    ] {
        session.reply(&write(command::FLAG_FUA, 7, 0, &[9; 2048]));
        assert_eq!(session.errno(kind, flags, 512, 1024), OK);
        let wanted = [[9; 512], [0; 512], [0; 512], [9; 512]].concat();
        assert_eq!(session.read(0, 2048), wanted);
    }
}

#[test]
fn a_fast_zero_is_refused_at_once_unless_it_is_fast() {
    let flag = command::FLAG_FAST_ZERO;
    let mut slow = Session::simple();
    slow.reply(&write(0, 7, 0, &[9; 512]));
    assert_eq!(slow.errno(command::WRITE_ZEROES, flag, 0, 512), NOT_SUPPORTED);
    assert_eq!(slow.errno(command::WRITE_ZEROES, flag, SIZE, 512), NO_SPACE);
    assert_eq!(slow.read(0, 512), [9; 512]);
    let mut fast = Session::new(ExportInfo { fast_zero: true, ..ExportInfo::new("", SIZE) }, false);
    assert_eq!(fast.errno(command::WRITE_ZEROES, flag, 0, 512), OK);
}

#[test]
fn flushes_have_neither_offset_nor_length() {
    let mut session = Session::simple();
    assert_eq!(session.errno(command::FLUSH, 0, 0, 0), OK);
    assert_eq!(session.errno(command::FLUSH, command::FLAG_FUA, 0, 0), OK);
    assert_eq!(session.errno(command::FLUSH, 0, 512, 0), INVALID);
    assert_eq!(session.errno(command::FLUSH, 0, 0, 512), INVALID);
}

#[test]
fn a_read_only_export_permits_no_change() {
    let mut session = Session::read_only();
    assert_eq!(session.reply(&write(0, 7, 0, &[9; 512])).errno(), NOT_PERMITTED);
    assert_eq!(session.reply(&write(0, 7, SIZE, &[9; 511])).errno(), NOT_PERMITTED);
    for kind in [command::TRIM, command::WRITE_ZEROES] {
        assert_eq!(session.errno(kind, 0, 0, 512), NOT_PERMITTED);
    }
    for kind in [command::READ, command::CACHE] {
        assert_eq!(session.errno(kind, 0, 0, 512), OK);
    }
    assert_eq!(session.errno(command::FLUSH, 0, 0, 0), OK);
}

#[test]
fn an_export_without_trims_refuses_them() {
    let mut session = Session::new(ExportInfo { can_trim: false, ..ExportInfo::new("", SIZE) }, false);
    assert_eq!(session.errno(command::TRIM, 0, 0, 512), INVALID);
}

#[test]
fn flags_that_do_not_belong_to_the_command_are_invalid() {
    let flags_of = |kind| match kind {
        command::READ => command::FLAG_FUA | command::FLAG_DONT_FRAGMENT,
        command::WRITE_ZEROES => command::FLAG_FUA | command::FLAG_NO_HOLE | command::FLAG_FAST_ZERO,
        command::BLOCK_STATUS => command::FLAG_FUA | command::FLAG_ONE_EXTENT,
        _ => command::FLAG_FUA,
    };
    let info = ExportInfo { fast_zero: true, ..ExportInfo::new("", SIZE) };
    let mut session = Session::new(info, true);
    let kinds = [
        command::READ,
        command::WRITE,
        command::FLUSH,
        command::TRIM,
        command::CACHE,
        command::WRITE_ZEROES,
        command::BLOCK_STATUS,
    ];
    for kind in kinds {
        for bit in 0..16 {
            let flag = 1 << bit;
            let length = if kind == command::FLUSH { 0 } else { 512 };
            let wanted = if flags_of(kind) & flag != 0 { OK } else { INVALID };
            let mut bytes = command(kind, flag, 7, 0, length);
            if kind == command::WRITE {
                bytes.extend([0; 512]);
            }
            assert_eq!(session.reply(&bytes).errno(), wanted, "{kind} {bit}");
        }
    }
}

#[test]
fn unknown_commands_are_invalid_and_wrong_magic_ends_the_session() {
    let mut session = Session::simple();
    for kind in [8, 9, 1000, u16::MAX] {
        assert_eq!(session.errno(kind, 0, 0, 512), INVALID);
    }
    let mut wrong = command(command::READ, 0, 7, 0, 512);
    wrong[3] ^= 1;
    assert_eq!(session.replies(&wrong), []);
    assert!(session.server.is_over());
}

#[test]
fn a_disconnect_is_not_answered() {
    let mut session = Session::simple();
    let bytes = [command(command::FLUSH, 0, 1, 0, 0), command(command::DISCONNECT, 0, 2, 0, 0)].concat();
    let replies = session.replies(&bytes);
    assert_eq!(replies.iter().map(Reply::cookie).collect::<Vec<_>>(), [1]);
    assert!(session.server.is_over());
}

fn extents(reply: &Reply) -> Vec<(u32, u32)> {
    let Reply::Chunk { flags: chunk::DONE, kind: chunk::BLOCK_STATUS, data, .. } = reply else {
        panic!("{reply:?}")
    };
    assert_eq!(data[..4], 1u32.to_be_bytes());
    let word = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    data[4..].chunks_exact(8).map(|pair| (word(&pair[..4]), word(&pair[4..]))).collect()
}

#[test]
fn block_status_tells_what_is_stored() {
    let mut session = Session::structured();
    let chunk_bytes = 64 << 10;
    session.reply(&write(0, 7, u64::from(chunk_bytes), &[1; 512]));
    let whole = session.reply(&command(command::BLOCK_STATUS, 0, 7, 0, SIZE as u32));
    let wanted = [(chunk_bytes, 3), (chunk_bytes, 0), (SIZE as u32 - 2 * chunk_bytes, 3)];
    assert_eq!(extents(&whole), wanted);
    let one =
        session.reply(&command(command::BLOCK_STATUS, command::FLAG_ONE_EXTENT, 7, 512, SIZE as u32 - 512));
    assert_eq!(extents(&one), [(chunk_bytes - 512, 3)]);
    assert_eq!(session.errno(command::BLOCK_STATUS, 0, 0, 0), INVALID);
    assert_eq!(session.errno(command::BLOCK_STATUS, 0, SIZE, 512), INVALID);
    assert_eq!(session.errno(command::BLOCK_STATUS, 0, 0, u32::MAX), INVALID);
    assert_eq!(Session::simple().errno(command::BLOCK_STATUS, 0, 0, 512), INVALID);
}

#[test]
fn cookies_name_replies_whatever_they_are() {
    let mut session = Session::simple();
    let cookies = [0, u64::MAX, 7, 7, 1 << 63];
    let bytes: Vec<_> = cookies.iter().flat_map(|&cookie| command(command::FLUSH, 0, cookie, 0, 0)).collect();
    let replies = session.replies(&bytes);
    assert_eq!(replies.iter().map(Reply::cookie).collect::<Vec<_>>(), cookies);
}
