//! One client's side of the protocol, without I/O: bytes in, commands and replies out.

use crate::export::{Errno, ExportInfo, RequestKind};
use crate::handshake::{self, Agreement, Next};
use crate::protocol::{COMMAND_BYTES, Fields, command, hello, magic, option_reply};
use crate::reply;

/// Longest option that is read; longer ones are skipped and answered by an error.
const OPTION_BYTES_MAX: u32 = 64 << 10;

/// Longest option that is skipped: whoever sends more speaks something else.
const OPTION_SKIP_BYTES_MAX: u32 = 1 << 20;

/// Longest payload of a refused write that is skipped; beyond it the session ends.
const PAYLOAD_SKIP_BYTES_MAX: u32 = 128 << 20;

/// Bytes of an option's head.
const OPTION_HEAD_BYTES: usize = 16;

/// A well-formed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// What to do.
    pub action: Action,
    /// The client's name for it.
    pub cookie: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes; not 0 but for a flush.
    pub length: u32,
    /// Acknowledge only what will survive a power cut.
    pub fua: bool,
    /// Zeros shall occupy space.
    pub no_hole: bool,
}

/// What a command wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Something of the export.
    Request(RequestKind),
    /// The extents of a range, or only the first.
    BlockStatus {
        /// Only the first.
        one: bool,
    },
}

/// What became of the input; bytes are counted from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing can be done before this many bytes are there.
    Need(usize),
    /// This many bytes are done with.
    Took(usize),
    /// A command that the session has answered itself took this many bytes.
    Answered(usize),
    /// A command for the export. It takes the given number of bytes; the data of a write are those after its head.
    /// Who can't carry it out yet passes the same input again later.
    Command(Command, usize),
    /// The session is over, once what is in `out` has been sent.
    Close,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Hello,
    Options,
    Commands,
    /// Bytes to pass over, and then the reply.
    Skip {
        left: u32,
        answer: Answer,
    },
    Closed,
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    Option(u32),
    Write { cookie: u64, errno: Errno },
}

/// One client's session.
#[derive(Debug)]
pub struct Session {
    phase: Phase,
    agreement: Agreement,
}

impl Session {
    /// A session that begins with the server's greeting in `out`.
    #[must_use]
    pub fn new(out: &mut Vec<u8>) -> Self {
        handshake::greet(out);
        Self { phase: Phase::Hello, agreement: Agreement::default() }
    }

    /// The handshake is over.
    #[must_use]
    pub fn is_negotiated(&self) -> bool {
        matches!(self.phase, Phase::Commands | Phase::Skip { answer: Answer::Write { .. }, .. })
    }

    /// Reads are answered in chunks.
    #[must_use]
    pub fn is_structured(&self) -> bool {
        self.agreement.structured
    }

    /// Looks at the input and does what can be done; replies of the session itself go to `out`.
    pub fn step(&mut self, input: &[u8], info: &ExportInfo, out: &mut Vec<u8>) -> Step {
        match self.phase {
            Phase::Commands => self.command(input, info, out),
            Phase::Skip { left, answer } => self.skip(input, left, answer, out),
            Phase::Options => self.option(input, info, out),
            Phase::Hello => self.hello(input),
            Phase::Closed => Step::Close,
        }
    }

    fn close(&mut self) -> Step {
        self.phase = Phase::Closed;
        Step::Close
    }

    fn hello(&mut self, input: &[u8]) -> Step {
        let Some(flags) = Fields(input).u32() else { return Step::Need(4) };
        let known = u32::from(hello::FIXED_NEWSTYLE | hello::NO_ZEROES);
        if flags & !known != 0 {
            return self.close();
        }
        self.agreement.no_zeroes = flags & u32::from(hello::NO_ZEROES) != 0;
        self.phase = Phase::Options;
        Step::Took(4)
    }

    fn option(&mut self, input: &[u8], info: &ExportInfo, out: &mut Vec<u8>) -> Step {
        let mut fields = Fields(input);
        let (Some(word), Some(option), Some(length)) = (fields.u64(), fields.u32(), fields.u32()) else {
            // Strangers are recognised by their first word; they may never send a second one.
            let begun = input.len().min(8);
            if input[..begun] != magic::OPTION.to_be_bytes()[..begun] {
                return self.close();
            }
            return Step::Need(OPTION_HEAD_BYTES);
        };
        if word != magic::OPTION || length > OPTION_SKIP_BYTES_MAX {
            return self.close();
        }
        if length > OPTION_BYTES_MAX {
            self.phase = Phase::Skip { left: length, answer: Answer::Option(option) };
            return Step::Took(OPTION_HEAD_BYTES);
        }
        let Some(data) = fields.0.get(..length as usize) else {
            return Step::Need(OPTION_HEAD_BYTES + length as usize);
        };
        match self.agreement.answer(option, data, info, out) {
            Next::Options => {}
            Next::Commands => self.phase = Phase::Commands,
            Next::Close => return self.close(),
        }
        Step::Took(OPTION_HEAD_BYTES + length as usize)
    }

    fn skip(&mut self, input: &[u8], left: u32, answer: Answer, out: &mut Vec<u8>) -> Step {
        let taken = input.len().min(left as usize);
        if taken < left as usize {
            self.phase = Phase::Skip { left: left - taken as u32, answer };
            return if taken == 0 { Step::Need(1) } else { Step::Took(taken) };
        }
        match answer {
            Answer::Option(option) => {
                handshake::reply(out, option, option_reply::TOO_BIG, &[]);
                self.phase = Phase::Options;
                Step::Took(taken)
            }
            Answer::Write { cookie, errno } => {
                reply::status(out, cookie, Err(errno));
                self.phase = Phase::Commands;
                Step::Answered(taken)
            }
        }
    }

    fn command(&mut self, input: &[u8], info: &ExportInfo, out: &mut Vec<u8>) -> Step {
        let mut fields = Fields(input);
        let Some(head) = Head::read(&mut fields) else { return Step::Need(COMMAND_BYTES) };
        if head.magic != magic::COMMAND || head.kind == command::DISCONNECT {
            return self.close();
        }
        let payload = if head.kind == command::WRITE { head.length } else { 0 };
        match self.check(&head, info) {
            Err(_) if payload > PAYLOAD_SKIP_BYTES_MAX => self.close(),
            Err(errno) if payload > 0 => {
                let answer = Answer::Write { cookie: head.cookie, errno };
                self.phase = Phase::Skip { left: payload, answer };
                Step::Took(COMMAND_BYTES)
            }
            Err(errno) => {
                reply::failure(out, head.kind, head.cookie, self.agreement.structured, errno);
                Step::Answered(COMMAND_BYTES)
            }
            Ok(Action::Request(kind)) if head.length == 0 && kind != RequestKind::Flush => {
                match kind {
                    RequestKind::Read => {
                        reply::read(out, self.agreement.structured, head.cookie, head.offset, &[]);
                    }
                    _ => reply::status(out, head.cookie, Ok(())),
                }
                Step::Answered(COMMAND_BYTES)
            }
            Ok(_) if input.len() - COMMAND_BYTES < payload as usize => {
                Step::Need(COMMAND_BYTES + payload as usize)
            }
            Ok(action) => Step::Command(head.command(action), COMMAND_BYTES + payload as usize),
        }
    }

    /// Whether a command may be carried out; the order of the checks decides which error wins.
    fn check(&self, head: &Head, info: &ExportInfo) -> Result<Action, Errno> {
        let (action, flags) = match head.kind {
            command::READ => (Action::Request(RequestKind::Read), command::FLAG_DONT_FRAGMENT),
            command::WRITE => (Action::Request(RequestKind::Write), 0),
            command::FLUSH => (Action::Request(RequestKind::Flush), 0),
            command::TRIM => (Action::Request(RequestKind::Trim), 0),
            command::CACHE => (Action::Request(RequestKind::Cache), 0),
            command::WRITE_ZEROES => {
                (Action::Request(RequestKind::WriteZeroes), command::FLAG_NO_HOLE | command::FLAG_FAST_ZERO)
            }
            command::BLOCK_STATUS => {
                let one = head.flags & command::FLAG_ONE_EXTENT != 0;
                (Action::BlockStatus { one }, command::FLAG_ONE_EXTENT)
            }
            _ => return Err(Errno::Invalid),
        };
        if head.flags & !(flags | command::FLAG_FUA) != 0 {
            return Err(Errno::Invalid);
        }
        match action {
            Action::Request(RequestKind::Flush) if head.offset != 0 || head.length != 0 => {
                Err(Errno::Invalid)
            }
            Action::Request(RequestKind::Flush) => Ok(action),
            Action::Request(kind) => self.check_request(kind, head, info).map(|()| action),
            Action::BlockStatus { .. } if !self.agreement.allocation || head.length == 0 => {
                Err(Errno::Invalid)
            }
            Action::BlockStatus { .. } => check_range(head, info, Errno::Invalid).map(|()| action),
        }
    }

    fn check_request(&self, kind: RequestKind, head: &Head, info: &ExportInfo) -> Result<(), Errno> {
        let changes = matches!(kind, RequestKind::Write | RequestKind::Trim | RequestKind::WriteZeroes);
        let stores = matches!(kind, RequestKind::Write | RequestKind::WriteZeroes);
        if changes && info.read_only {
            return Err(Errno::NotPermitted);
        }
        let whole = head.flags & command::FLAG_DONT_FRAGMENT != 0;
        if whole && !self.agreement.structured || kind == RequestKind::Trim && !info.can_trim {
            return Err(Errno::Invalid);
        }
        if matches!(kind, RequestKind::Read | RequestKind::Write) && head.length > info.maximum_payload_bytes
        {
            return Err(if whole { Errno::Overflow } else { Errno::Invalid });
        }
        check_range(head, info, if stores { Errno::NoSpace } else { Errno::Invalid })?;
        if head.flags & command::FLAG_FAST_ZERO != 0 && !info.fast_zero {
            return Err(Errno::NotSupported);
        }
        Ok(())
    }
}

/// Alignment first, then the end of the export.
fn check_range(head: &Head, info: &ExportInfo, beyond: Errno) -> Result<(), Errno> {
    let block = u64::from(info.minimum_block_bytes);
    if !head.offset.is_multiple_of(block) || !u64::from(head.length).is_multiple_of(block) {
        return Err(Errno::Invalid);
    }
    match head.offset.checked_add(u64::from(head.length)) {
        Some(end) if end <= info.size_bytes => Ok(()),
        _ => Err(beyond),
    }
}

/// A command's first 28 bytes.
struct Head {
    magic: u32,
    flags: u16,
    kind: u16,
    cookie: u64,
    offset: u64,
    length: u32,
}

impl Head {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self {
            magic: fields.u32()?,
            flags: fields.u16()?,
            kind: fields.u16()?,
            cookie: fields.u64()?,
            offset: fields.u64()?,
            length: fields.u32()?,
        })
    }

    fn command(&self, action: Action) -> Command {
        Command {
            action,
            cookie: self.cookie,
            offset: self.offset,
            length: self.length,
            fua: self.flags & command::FLAG_FUA != 0,
            no_hole: self.flags & command::FLAG_NO_HOLE != 0,
        }
    }
}
