//! Files in memory: with a prefetch in `sim`, all of the project that needs `unsafe`.
#![allow(unsafe_code, reason = "memory that others can change is unsafe by nature; see below")]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memmap2::{MmapMut, MmapOptions};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// Whether stores reach the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// They do.
    Shared,
    /// They stay in this process.
    Private,
}

/// Maps bytes of a file, which must be there.
pub(crate) fn map(file: &File, begin: u64, bytes: u64, sharing: Sharing) -> io::Result<MmapMut> {
    let length =
        usize::try_from(bytes).map_err(|_| io::Error::other("too long for this machine's memory"))?;
    let mut options = MmapOptions::new();
    options.offset(begin).len(length);
    // SAFETY: A mapping is undefined behaviour if its bytes change under a reference to them, and a signal if they are
    // not there. Both need another process that changes or shortens the file: an image is locked while it is mapped
    // (`lock.rs`), and no two mappings of it overlap. Nothing is read as anything but plain bytes. Space behind bytes is
    // made sure of before they are stored (`room.rs`), so that a full disk is an error and no signal.
    match sharing {
        Sharing::Shared => unsafe { options.map_mut(file) },
        // Few pages of it will ever be changed: a system that counts memory strictly would refuse room for all of them.
        Sharing::Private => unsafe { options.no_reserve_swap().map_copy(file) },
    }
}

/// Copies bytes of a file into memory. Holes of the file take none.
pub(crate) fn copy(file: &File, begin: u64, bytes: u64) -> io::Result<MmapMut> {
    let length =
        usize::try_from(bytes).map_err(|_| io::Error::other("too long for this machine's memory"))?;
    let mut copied = MmapOptions::new().no_reserve_swap().len(length).map_anon()?;
    let end = begin + bytes;
    let mut at = begin;
    while at < end {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) if data < end => data,
            Ok(_) | Err(Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        at = seek(file, SeekFrom::Hole(data))?.min(end);
        file.read_exact_at(&mut copied[(data - begin) as usize..(at - begin) as usize], data)?;
    }
    Ok(copied)
}
