//! Numbers of the NBD protocol, and reading and writing of its fields; everything on the wire is big-endian.

/// Words that begin messages.
pub mod magic {
    /// `NBDMAGIC`, the server's first word.
    pub const SERVER: u64 = 0x4e42_444d_4147_4943;
    /// `IHAVEOPT`, the server's second word and the first of every option.
    pub const OPTION: u64 = 0x4948_4156_454F_5054;
    /// Begins the reply to an option.
    pub const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
    /// Begins a command.
    pub const COMMAND: u32 = 0x2560_9513;
    /// Begins a simple reply.
    pub const SIMPLE_REPLY: u32 = 0x6744_6698;
    /// Begins a chunk of a structured reply.
    pub const CHUNK: u32 = 0x668e_33ef;
}

/// Flags of the two hellos.
pub mod hello {
    /// Unknown options are answered instead of ending the session.
    pub const FIXED_NEWSTYLE: u16 = 1;
    /// 124 zeros are left out of the answer to `EXPORT_NAME`.
    pub const NO_ZEROES: u16 = 2;
}

/// Options of the handshake.
pub mod option {
    /// Use an export, the old way.
    pub const EXPORT_NAME: u32 = 1;
    /// Leave.
    pub const ABORT: u32 = 2;
    /// Which exports are there.
    pub const LIST: u32 = 3;
    /// Describe an export.
    pub const INFO: u32 = 6;
    /// Use an export.
    pub const GO: u32 = 7;
    /// Answer reads in chunks from now on.
    pub const STRUCTURED_REPLY: u32 = 8;
    /// Which kinds of block status are there.
    pub const LIST_META_CONTEXT: u32 = 9;
    /// Which kinds of block status will be wanted.
    pub const SET_META_CONTEXT: u32 = 10;
}

/// Replies to options.
pub mod option_reply {
    /// Done.
    pub const ACK: u32 = 1;
    /// An export.
    pub const SERVER: u32 = 2;
    /// A piece of information.
    pub const INFO: u32 = 3;
    /// A kind of block status.
    pub const META_CONTEXT: u32 = 4;
    /// Not known here.
    pub const UNSUPPORTED: u32 = (1 << 31) + 1;
    /// Malformed, or not now.
    pub const INVALID: u32 = (1 << 31) + 3;
    /// No such export.
    pub const UNKNOWN: u32 = (1 << 31) + 6;
    /// Too long.
    pub const TOO_BIG: u32 = (1 << 31) + 9;
}

/// Pieces of information about an export.
pub mod info {
    /// Size and transmission flags.
    pub const EXPORT: u16 = 0;
    /// Its name.
    pub const NAME: u16 = 1;
    /// A description for people.
    pub const DESCRIPTION: u16 = 2;
    /// Sizes of blocks.
    pub const BLOCK_SIZE: u16 = 3;
}

/// Transmission flags.
pub mod offer {
    /// The flags mean something.
    pub const HAS_FLAGS: u16 = 1;
    /// Changes are refused.
    pub const READ_ONLY: u16 = 1 << 1;
    /// Flush is there.
    pub const FLUSH: u16 = 1 << 2;
    /// FUA is there.
    pub const FUA: u16 = 1 << 3;
    /// It has a seek time.
    pub const ROTATIONAL: u16 = 1 << 4;
    /// Trim is there.
    pub const TRIM: u16 = 1 << 5;
    /// Write-zeroes is there.
    pub const WRITE_ZEROES: u16 = 1 << 6;
    /// Reads can be asked for in one chunk.
    pub const DONT_FRAGMENT: u16 = 1 << 7;
    /// A flush covers all connections.
    pub const MULTI_CONN: u16 = 1 << 8;
    /// Cache is there.
    pub const CACHE: u16 = 1 << 10;
    /// A zeroing that would not be fast is refused if the client asks for it.
    pub const FAST_ZERO: u16 = 1 << 11;
}

/// Commands.
pub mod command {
    /// Read.
    pub const READ: u16 = 0;
    /// Write; the data follow.
    pub const WRITE: u16 = 1;
    /// Leave, without a reply.
    pub const DISCONNECT: u16 = 2;
    /// Flush.
    pub const FLUSH: u16 = 3;
    /// Trim.
    pub const TRIM: u16 = 4;
    /// Prefetch.
    pub const CACHE: u16 = 5;
    /// Zero.
    pub const WRITE_ZEROES: u16 = 6;
    /// What is stored where.
    pub const BLOCK_STATUS: u16 = 7;

    /// Survive a power cut before the reply. Allowed with every command.
    pub const FLAG_FUA: u16 = 1;
    /// Zeros that occupy space.
    pub const FLAG_NO_HOLE: u16 = 1 << 1;
    /// One chunk of data.
    pub const FLAG_DONT_FRAGMENT: u16 = 1 << 2;
    /// One extent.
    pub const FLAG_ONE_EXTENT: u16 = 1 << 3;
    /// Zeros, if that is fast.
    pub const FLAG_FAST_ZERO: u16 = 1 << 4;
}

/// Chunks of structured replies.
pub mod chunk {
    /// The last of its reply.
    pub const DONE: u16 = 1;
    /// Nothing.
    pub const NONE: u16 = 0;
    /// Data of a read.
    pub const OFFSET_DATA: u16 = 1;
    /// Extents.
    pub const BLOCK_STATUS: u16 = 5;
    /// An error.
    pub const ERROR: u16 = (1 << 15) + 1;
}

/// Bytes of a command's head.
pub const COMMAND_BYTES: usize = 28;

/// The number by which clients hear of `base:allocation`.
pub const ALLOCATION_ID: u32 = 1;

/// The only kind of block status.
pub const ALLOCATION_NAME: &[u8] = b"base:allocation";

/// Reads fields from the front of a message.
#[derive(Clone, Copy)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*front)
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A text after its length in four bytes.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }
}
