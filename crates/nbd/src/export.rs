//! What a server serves: the seam between protocol and drive.
//!
//! Time is in nanoseconds on the server's clock, which begins at 0 and never goes back.

/// The smallest block that every client can use.
pub const SECTOR_BYTES: usize = 512;

/// Names a request from its submission to its reply; the server chooses it, and uses it again only after the reply.
pub type Ticket = u64;

/// What an export is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// Give bytes back.
    Read,
    /// Take bytes.
    Write,
    /// What was acknowledged before the flush was submitted shall survive a power cut, on all connections.
    Flush,
    /// The bytes are not needed any more.
    Trim,
    /// The bytes shall read as zeros.
    WriteZeroes,
    /// The bytes will be read soon.
    Cache,
}

/// A request that the protocol has found well-formed: aligned, within the export, not a change of a read-only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which one.
    pub ticket: Ticket,
    /// What to do.
    pub kind: RequestKind,
    /// First byte; a multiple of the smallest block.
    pub offset: u64,
    /// Bytes; a multiple of the smallest block, and at most `maximum_payload_bytes` for reads and writes. Never 0,
    /// but for a flush, which has neither offset nor length.
    pub length: u32,
    /// Acknowledge a change only when it will survive a power cut.
    pub fua: bool,
    /// The zeros of [`RequestKind::WriteZeroes`] shall occupy space.
    pub no_hole: bool,
}

/// Why a request was refused or failed; the numbers are the protocol's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Errno {
    /// The export does not permit it (a write to a read-only one).
    NotPermitted = 1,
    /// The medium failed.
    Io = 5,
    /// Not enough memory.
    NoMemory = 12,
    /// The request makes no sense.
    Invalid = 22,
    /// Beyond the end, or nothing left to store it in.
    NoSpace = 28,
    /// Too long to be answered in one piece.
    Overflow = 75,
    /// Not offered.
    NotSupported = 95,
    /// The server is going away.
    Shutdown = 108,
}

impl Errno {
    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }
}

/// A run of bytes of one kind, as `base:allocation` tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes, counted from the end of the extent before it.
    pub length: u32,
    /// Nothing is stored there.
    pub hole: bool,
    /// Reads as zeros.
    pub zero: bool,
}

/// What a client is told about an export before it uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportInfo {
    /// Size in bytes, a multiple of `minimum_block_bytes`.
    pub size_bytes: u64,
    /// The name a client may ask for, besides the empty one; at most 4,096 bytes.
    pub name: String,
    /// For people; at most 4,096 bytes.
    pub description: String,
    /// Writes, trims and zeroing are refused.
    pub read_only: bool,
    /// It has a seek time.
    pub rotational: bool,
    /// Trims are offered.
    pub can_trim: bool,
    /// A flush on one connection covers what was acknowledged on others.
    pub can_multi_conn: bool,
    /// Zeroing is faster than writing zeros; if not, a fast zero is refused at once.
    pub fast_zero: bool,
    /// Offsets and lengths are multiples of it; a power of two from 1 to 65,536.
    pub minimum_block_bytes: u32,
    /// A good size for requests; a power of two.
    pub preferred_block_bytes: u32,
    /// Longest read or write.
    pub maximum_payload_bytes: u32,
}

impl ExportInfo {
    /// A writable export with trims, many connections, and blocks of 512 B, 4 KiB, 32 MiB.
    #[must_use]
    pub fn new(name: &str, size_bytes: u64) -> Self {
        Self {
            size_bytes,
            name: name.to_owned(),
            description: String::new(),
            read_only: false,
            rotational: false,
            can_trim: true,
            can_multi_conn: true,
            fast_zero: false,
            minimum_block_bytes: SECTOR_BYTES as u32,
            preferred_block_bytes: 4096,
            maximum_payload_bytes: 32 << 20,
        }
    }

    /// What of it no client could make sense of: key, value and limit in one line.
    ///
    /// # Errors
    /// The first field that is out of its bounds.
    pub fn validate(&self) -> Result<(), String> {
        const NAME_BYTES_MAX: usize = 4096;
        for (key, text) in [("name", &self.name), ("description", &self.description)] {
            if text.len() > NAME_BYTES_MAX {
                return Err(format!("{key}: {} bytes; at most {NAME_BYTES_MAX}", text.len()));
            }
        }
        let minimum = self.minimum_block_bytes;
        if !minimum.is_power_of_two() || minimum > 65_536 {
            return Err(format!("minimum_block_bytes: {minimum}; a power of two from 1 to 65536"));
        }
        let preferred = self.preferred_block_bytes;
        if !preferred.is_power_of_two() || preferred < minimum {
            return Err(format!("preferred_block_bytes: {preferred}; a power of two, at least {minimum}"));
        }
        let maximum = self.maximum_payload_bytes;
        if maximum < preferred || !maximum.is_multiple_of(minimum) || maximum > 32 << 20 {
            return Err(format!(
                "maximum_payload_bytes: {maximum}; a multiple of {minimum} from {preferred} to {}",
                32 << 20
            ));
        }
        if !self.size_bytes.is_multiple_of(u64::from(minimum)) || self.size_bytes > i64::MAX as u64 {
            return Err(format!(
                "size_bytes: {}; a multiple of {minimum}, at most {}",
                self.size_bytes,
                i64::MAX
            ));
        }
        Ok(())
    }
}

/// Hears of a finished request.
pub type Reply<'a> = dyn FnMut(Ticket, Result<&[u8], Errno>) + 'a;

/// What a server serves. It never blocks: it takes requests, and answers them as time passes.
pub trait Export {
    /// What clients are told. It stays the same while the export is served.
    fn info(&self) -> &ExportInfo;

    /// Takes a request; the data of a write is copied. Refusals come back through [`Export::advance`] too.
    fn submit(&mut self, now_ns: u64, request: Request, data: &[u8]);

    /// When something next happens; `None`: nothing without a new request.
    fn next_event(&mut self) -> Option<u64>;

    /// When a reply will be there if nothing is asked for before; the export may live through that time to find out.
    /// So asks a server whose clock waits for nothing, instead of [`Export::next_event`].
    fn next_reply(&mut self, now_ns: u64) -> Option<u64> {
        self.next_event().map(|event_ns| event_ns.max(now_ns))
    }

    /// Lets time pass, and calls `reply` for what is done by then; with data only for reads that succeeded, all of it.
    fn advance(&mut self, until_ns: u64, reply: &mut Reply<'_>);

    /// Replaces `extents` by those of a range, from its start; at most `most`, so perhaps only of its beginning. At
    /// least one, and none beyond the range.
    fn block_status(&mut self, offset: u64, length: u32, most: usize, extents: &mut Vec<Extent>);
}
