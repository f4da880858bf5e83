//! The options that a client negotiates before it uses an export.

use crate::export::ExportInfo;
use crate::protocol::{
    ALLOCATION_ID, ALLOCATION_NAME, Fields, hello, info, magic, offer, option, option_reply,
};

/// What both sides have agreed on so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreement {
    /// The client leaves out what newer servers needn't send.
    pub no_zeroes: bool,
    /// Reads are answered in chunks.
    pub structured: bool,
    /// `base:allocation` will be asked for.
    pub allocation: bool,
}

/// What follows an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// More options.
    Options,
    /// Commands.
    Commands,
    /// The end.
    Close,
}

/// The first words of the server.
pub fn greet(out: &mut Vec<u8>) {
    out.extend_from_slice(&magic::SERVER.to_be_bytes());
    out.extend_from_slice(&magic::OPTION.to_be_bytes());
    out.extend_from_slice(&(hello::FIXED_NEWSTYLE | hello::NO_ZEROES).to_be_bytes());
}

/// Transmission flags of an export.
#[must_use]
pub fn offers(info: &ExportInfo, structured: bool) -> u16 {
    let optional = [
        (offer::READ_ONLY, info.read_only),
        (offer::ROTATIONAL, info.rotational),
        (offer::TRIM, info.can_trim && !info.read_only),
        (offer::WRITE_ZEROES | offer::FAST_ZERO, !info.read_only),
        (offer::DONT_FRAGMENT, structured),
        (offer::MULTI_CONN, info.can_multi_conn),
    ];
    let always = offer::HAS_FLAGS | offer::FLUSH | offer::FUA | offer::CACHE;
    optional.into_iter().filter(|&(_, offered)| offered).fold(always, |flags, (flag, _)| flags | flag)
}

impl Agreement {
    /// Answers one option.
    pub fn answer(&mut self, option: u32, data: &[u8], export: &ExportInfo, out: &mut Vec<u8>) -> Next {
        match option {
            option::EXPORT_NAME => return self.export_name(data, export, out),
            option::ABORT => {
                reply(out, option, option_reply::ACK, &[]);
                return Next::Close;
            }
            option::LIST if data.is_empty() => {
                let name = export.name.as_bytes();
                reply(out, option, option_reply::SERVER, &[&(name.len() as u32).to_be_bytes(), name]);
                reply(out, option, option_reply::ACK, &[]);
            }
            option::STRUCTURED_REPLY if data.is_empty() => {
                self.structured = true;
                reply(out, option, option_reply::ACK, &[]);
            }
            option::LIST | option::STRUCTURED_REPLY => reply(out, option, option_reply::INVALID, &[]),
            option::INFO | option::GO => return self.info(option, data, export, out),
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.meta_context(option, data, export, out);
            }
            _ => reply(out, option, option_reply::UNSUPPORTED, &[]),
        }
        Next::Options
    }

    /// The old way to begin; an unknown name can only be answered by leaving.
    fn export_name(self, name: &[u8], export: &ExportInfo, out: &mut Vec<u8>) -> Next {
        if !is_name_of(name, export) {
            return Next::Close;
        }
        out.extend_from_slice(&export.size_bytes.to_be_bytes());
        out.extend_from_slice(&offers(export, self.structured).to_be_bytes());
        if !self.no_zeroes {
            out.extend_from_slice(&[0; 124]);
        }
        Next::Commands
    }

    fn info(self, option: u32, data: &[u8], export: &ExportInfo, out: &mut Vec<u8>) -> Next {
        let Some((name, wanted)) = name_and_wishes(data) else {
            reply(out, option, option_reply::INVALID, &[]);
            return Next::Options;
        };
        if !is_name_of(name, export) {
            reply(out, option, option_reply::UNKNOWN, &[]);
            return Next::Options;
        }
        let mut tell = |kind: u16, fields: &[&[u8]]| {
            let kind = kind.to_be_bytes();
            let parts: Vec<&[u8]> = [&kind[..]].into_iter().chain(fields.iter().copied()).collect();
            reply(out, option, option_reply::INFO, &parts);
        };
        let flags = offers(export, self.structured).to_be_bytes();
        tell(info::EXPORT, &[&export.size_bytes.to_be_bytes(), &flags]);
        let wants = |kind: u16| wanted.chunks_exact(2).any(|wish| wish == kind.to_be_bytes());
        if wants(info::NAME) {
            tell(info::NAME, &[export.name.as_bytes()]);
        }
        if wants(info::DESCRIPTION) && !export.description.is_empty() {
            tell(info::DESCRIPTION, &[export.description.as_bytes()]);
        }
        // Told unasked too: a client that knows nothing of block sizes skips it.
        tell(
            info::BLOCK_SIZE,
            &[
                &export.minimum_block_bytes.to_be_bytes(),
                &export.preferred_block_bytes.to_be_bytes(),
                &export.maximum_payload_bytes.to_be_bytes(),
            ],
        );
        reply(out, option, option_reply::ACK, &[]);
        if option == option::GO { Next::Commands } else { Next::Options }
    }

    fn meta_context(&mut self, option: u32, data: &[u8], export: &ExportInfo, out: &mut Vec<u8>) {
        let setting = option == option::SET_META_CONTEXT;
        if setting {
            self.allocation = false;
        }
        let Some((name, queries)) = name_and_queries(data) else {
            return reply(out, option, option_reply::INVALID, &[]);
        };
        if !self.structured {
            return reply(out, option, option_reply::INVALID, &[]);
        }
        if !is_name_of(name, export) {
            return reply(out, option, option_reply::UNKNOWN, &[]);
        }
        let matches = |query: &[u8]| {
            query == ALLOCATION_NAME
                || !setting && ALLOCATION_NAME.starts_with(query) && query.ends_with(b":")
        };
        if queries.iter().any(|query| matches(query)) || !setting && queries.is_empty() {
            self.allocation |= setting;
            reply(out, option, option_reply::META_CONTEXT, &[&ALLOCATION_ID.to_be_bytes(), ALLOCATION_NAME]);
        }
        reply(out, option, option_reply::ACK, &[]);
    }
}

/// Appends the reply to an option, its data in parts.
pub fn reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[&[u8]]) {
    let length: usize = data.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&magic::OPTION_REPLY.to_be_bytes());
    for field in [option, kind, length as u32] {
        out.extend_from_slice(&field.to_be_bytes());
    }
    for part in data {
        out.extend_from_slice(part);
    }
}

/// The empty name is the default export.
fn is_name_of(name: &[u8], export: &ExportInfo) -> bool {
    name.is_empty() || name == export.name.as_bytes()
}

/// Name and wanted pieces of information, two bytes each.
fn name_and_wishes(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut fields = Fields(data);
    let name = fields.text()?;
    let count = fields.u16()?;
    (fields.0.len() == 2 * usize::from(count)).then_some((name, fields.0))
}

/// Name and queries for kinds of block status.
fn name_and_queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let mut fields = Fields(data);
    let name = fields.text()?;
    let count = fields.u32()?;
    // The count is the client's word: nothing is allocated for it.
    let mut queries = Vec::new();
    for _ in 0..count {
        queries.push(fields.text()?);
    }
    fields.0.is_empty().then_some((name, queries))
}
