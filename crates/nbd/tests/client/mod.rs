//! What a client says and hears, as bytes, for all tests of the protocol.

use drivelab_nbd::protocol::{Fields, chunk, command, magic, option, option_reply};

/// The client's first word: both flags.
pub fn hello() -> Vec<u8> {
    3u32.to_be_bytes().to_vec()
}

/// An option.
pub fn option(option: u32, data: &[u8]) -> Vec<u8> {
    [&magic::OPTION.to_be_bytes()[..], &option.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data]
        .concat()
}

/// A text with its length.
pub fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat()
}

/// Data of INFO and GO.
pub fn name_and_wishes(name: &str, wishes: &[u16]) -> Vec<u8> {
    let wishes = [wishes.len() as u16].iter().chain(wishes).flat_map(|wish| wish.to_be_bytes()).collect();
    [text(name), wishes].concat()
}

/// Data of the meta context options.
pub fn name_and_queries(name: &str, queries: &[&str]) -> Vec<u8> {
    let queries = queries.iter().map(|query| text(query)).collect::<Vec<_>>();
    [text(name), (queries.len() as u32).to_be_bytes().to_vec(), queries.concat()].concat()
}

/// A handshake that ends with GO, with or without structured replies and block status.
pub fn handshake(structured: bool) -> Vec<u8> {
    let mut bytes = hello();
    if structured {
        bytes.extend(option(option::STRUCTURED_REPLY, &[]));
        bytes.extend(option(option::SET_META_CONTEXT, &name_and_queries("", &["base:allocation"])));
    }
    bytes.extend(option(option::GO, &name_and_wishes("", &[])));
    bytes
}

/// A command without data.
pub fn command(kind: u16, flags: u16, cookie: u64, offset: u64, length: u32) -> Vec<u8> {
    let mut bytes = magic::COMMAND.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}

/// A write with its data.
pub fn write(flags: u16, cookie: u64, offset: u64, data: &[u8]) -> Vec<u8> {
    [command(command::WRITE, flags, cookie, offset, data.len() as u32), data.to_vec()].concat()
}

/// A reply to an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionReply {
    pub option: u32,
    pub kind: u32,
    pub data: Vec<u8>,
}

/// Takes the server's greeting off the front.
pub fn take_greeting(bytes: &mut &[u8]) {
    let mut fields = Fields(bytes);
    assert_eq!(
        (fields.u64(), fields.u64(), fields.u16()),
        (Some(magic::SERVER), Some(magic::OPTION), Some(3))
    );
    *bytes = fields.0;
}

/// Takes a reply to an option off the front.
pub fn take_option_reply(bytes: &mut &[u8]) -> Option<OptionReply> {
    let mut fields = Fields(bytes);
    let word = fields.u64()?;
    assert_eq!(word, magic::OPTION_REPLY);
    let (option, kind) = (fields.u32()?, fields.u32()?);
    let data = fields.text()?.to_vec();
    *bytes = fields.0;
    Some(OptionReply { option, kind, data })
}

/// Takes the replies of a handshake off the front, the last of which acknowledges GO.
pub fn take_handshake(bytes: &mut &[u8]) -> Vec<OptionReply> {
    take_greeting(bytes);
    let mut replies = Vec::new();
    loop {
        let reply = take_option_reply(bytes).expect("GO is answered");
        let is_last = reply.option == option::GO && reply.kind == option_reply::ACK;
        replies.push(reply);
        if is_last {
            return replies;
        }
    }
}

/// A reply to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Without chunks; reads that succeeded have data.
    Simple { cookie: u64, errno: u32, data: Vec<u8> },
    /// One chunk.
    Chunk { cookie: u64, flags: u16, kind: u16, data: Vec<u8> },
}

impl Reply {
    pub fn cookie(&self) -> u64 {
        match self {
            Self::Simple { cookie, .. } | Self::Chunk { cookie, .. } => *cookie,
        }
    }

    /// The error, 0 for none.
    pub fn errno(&self) -> u32 {
        match self {
            Self::Simple { errno, .. } => *errno,
            Self::Chunk { kind: chunk::ERROR, data, .. } => {
                Fields(data).u32().expect("an error has a number")
            }
            Self::Chunk { .. } => 0,
        }
    }
}

/// Takes a reply off the front; `data_bytes` says how much data a simple reply to that cookie has if it succeeded.
pub fn take_reply(bytes: &mut &[u8], data_bytes: impl Fn(u64) -> usize) -> Option<Reply> {
    let mut fields = Fields(bytes);
    let reply = match fields.u32()? {
        magic::SIMPLE_REPLY => {
            let (errno, cookie) = (fields.u32()?, fields.u64()?);
            let (data, rest) = fields.0.split_at_checked(if errno == 0 { data_bytes(cookie) } else { 0 })?;
            fields.0 = rest;
            Reply::Simple { cookie, errno, data: data.to_vec() }
        }
        magic::CHUNK => {
            let (flags, kind, cookie) = (fields.u16()?, fields.u16()?, fields.u64()?);
            Reply::Chunk { cookie, flags, kind, data: fields.text()?.to_vec() }
        }
        word => panic!("{word:#x} begins no reply"),
    };
    *bytes = fields.0;
    Some(reply)
}
