//! One user at a time: an advisory lock on the file, and who holds it.

use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::ImageError;

/// Locks a file until it is closed; shared among those that only look at it.
pub(crate) fn lock(file: &File, path: &Path, is_shared: bool) -> Result<(), ImageError> {
    let locked = if is_shared { file.try_lock_shared() } else { file.try_lock() };
    match locked {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(ImageError::InUse { path: path.to_owned(), holder: holder(file) })
        }
        Err(TryLockError::Error(error)) => Err(ImageError::io(path, "can't be locked")(error)),
    }
}

/// The process that holds a lock on a file, as the kernel lists it.
fn holder(file: &File) -> Option<u32> {
    let metadata = file.metadata().ok()?;
    let (device, inode) = (metadata.dev(), metadata.ino());
    let place = format!("{:02x}:{:02x}:{inode}", rustix::fs::major(device), rustix::fs::minor(device));
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    holder_in(&locks, &place)
}

/// Lines are `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`, of those that wait `1: -> FLOCK ...`.
fn holder_in(locks: &str, place: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            [_, "FLOCK", _, _, process, found, ..] if *found == place => {
                process.parse().ok().filter(|&process| process > 0)
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_among_locks() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 08:01:5678 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 12 08:01:5678 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE -1 08:01:5678 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF\nnoise\n";
        assert_eq!(holder_in(locks, "08:01:5678"), Some(1234));
        assert_eq!(holder_in(locks, "08:01:567"), None);
    }
}
