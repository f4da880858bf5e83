//! Space behind the bytes that are stored. A store into a mapped file that the file system has no block for would be a
//! signal; so blocks are asked for first, in steps, and a full disk is an answer.
//!
//! On tmpfs a load from a hole takes a block, too, and is a signal where there is none. So there a medium is looked at,
//! and mounted, in a copy (`mapping.rs`), and cells that may have no blocks are read as a file.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::{FallocateFlags, fallocate, fstatfs, fstatvfs};
use rustix::io::Errno;

/// Bytes of a medium that are asked for at a time.
const MEDIUM_STEP_BYTES: u64 = 16 << 10;
/// Blocks of file systems are this large, or a divisor.
const BLOCK_BYTES: u64 = 4096;
/// Smallest range of freed cells that is worth a hole in the file.
const HOLE_BYTES: u64 = 64 << 10;
/// Bytes of a block as file systems count them.
const STAT_BLOCK_BYTES: u64 = 512;

/// There is none, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoRoom(pub String);

/// Who makes sure of the space of a medium and its cells.
pub trait Room {
    /// Before bytes of the medium are stored.
    ///
    /// # Errors
    /// [`NoRoom`]; nothing may be stored there then.
    fn make_for_medium(&mut self, place: Range<usize>) -> Result<(), NoRoom>;

    /// Before bytes of cells are stored.
    ///
    /// # Errors
    /// [`NoRoom`]; nothing may be stored there then.
    fn make_for_cells(&mut self, place: Range<usize>) -> Result<(), NoRoom>;

    /// Before bytes of the medium are loaded that nobody made room for yet.
    ///
    /// # Errors
    /// [`NoRoom`]; nothing may be loaded from there then.
    fn make_to_load(&mut self, place: Range<usize>) -> Result<(), NoRoom>;

    /// Before bytes of cells are loaded to be stored elsewhere.
    ///
    /// # Errors
    /// [`NoRoom`]; nothing may be loaded from there then.
    fn make_for_copies(&mut self, place: Range<usize>) -> Result<(), NoRoom>;

    /// Reads bytes of cells that must not be loaded where they are mapped. Gives whether it did: otherwise they may be.
    ///
    /// # Errors
    /// [`NoRoom`]: neither can they be read.
    fn read_cells(&self, begin: usize, data: &mut [u8]) -> Result<bool, NoRoom>;

    /// Bytes of cells are not needed any more. Gives whether they are zeros now.
    fn release_cells(&mut self, place: Range<usize>) -> bool;
}

/// Memory needs no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unlimited;

impl Room for Unlimited {
    fn make_for_medium(&mut self, _: Range<usize>) -> Result<(), NoRoom> {
        Ok(())
    }

    fn make_for_cells(&mut self, _: Range<usize>) -> Result<(), NoRoom> {
        Ok(())
    }

    fn make_to_load(&mut self, _: Range<usize>) -> Result<(), NoRoom> {
        Ok(())
    }

    fn make_for_copies(&mut self, _: Range<usize>) -> Result<(), NoRoom> {
        Ok(())
    }

    fn read_cells(&self, _: usize, _: &mut [u8]) -> Result<bool, NoRoom> {
        Ok(false)
    }

    fn release_cells(&mut self, _: Range<usize>) -> bool {
        false
    }
}

/// A part of a file: which of its steps have blocks.
#[derive(Debug)]
struct Part {
    begin: u64,
    bytes: u64,
    /// A power of two.
    step_bytes: u64,
    step_bits: u32,
    /// One bit a step.
    made: Vec<u64>,
}

impl Part {
    fn new((begin, bytes): (u64, u64), step_bytes: u64) -> Self {
        debug_assert!(step_bytes.is_power_of_two());
        let made = vec![0; bytes.div_ceil(step_bytes * 64) as usize];
        Self { begin, bytes, step_bytes, step_bits: step_bytes.trailing_zeros(), made }
    }

    #[inline]
    fn is_made(&self, step: u64) -> bool {
        self.made[(step / 64) as usize] >> (step % 64) & 1 != 0
    }

    /// Whether every step of a range has blocks.
    fn is_all_made(&self, place: &Range<usize>) -> bool {
        let steps = place.start as u64 >> self.step_bits..(place.end as u64).div_ceil(self.step_bytes);
        steps.into_iter().all(|step| self.is_made(step))
    }

    #[inline]
    fn make(
        &mut self,
        place: Range<usize>,
        allocate: impl Fn(u64, u64) -> Result<(), NoRoom>,
    ) -> Result<(), NoRoom> {
        if place.is_empty() {
            return Ok(());
        }
        let (first, last) = (place.start as u64 >> self.step_bits, (place.end as u64 - 1) >> self.step_bits);
        for step in first..=last {
            if !self.is_made(step) {
                let offset = step * self.step_bytes;
                allocate(self.begin + offset, self.step_bytes.min(self.bytes - offset))?;
                self.made[(step / 64) as usize] |= 1 << (step % 64);
            }
        }
        Ok(())
    }

    /// Blocks of a range are gone: steps that touch it need them again.
    fn forget(&mut self, place: &Range<u64>) {
        for step in place.start / self.step_bytes..place.end.div_ceil(self.step_bytes) {
            self.made[(step / 64) as usize] &= !(1 << (step % 64));
        }
    }
}

/// Space in a sparse file.
#[derive(Debug)]
pub struct FileRoom {
    file: File,
    medium: Part,
    cells: Part,
    /// Most bytes that the file may take on disk.
    bytes_max: u64,
    holes_cost: bool,
}

impl FileRoom {
    /// Space of a medium and of its cells, each a begin and a length in the file; cells get `step_bytes` at a time.
    pub(crate) fn new(
        file: File,
        step_bytes: u64,
        medium: (u64, u64),
        cells: (u64, u64),
        bytes_max: u64,
    ) -> Self {
        let (medium, cells) = (Part::new(medium, MEDIUM_STEP_BYTES), Part::new(cells, step_bytes));
        let holes_cost = holes_cost(&file);
        Self { file, medium, cells, bytes_max, holes_cost }
    }

    /// Bytes of cells that are asked for at a time.
    pub(crate) fn step_bytes(&self) -> u64 {
        self.cells.step_bytes
    }

    pub(crate) fn limit(&mut self, bytes_max: u64) {
        self.bytes_max = bytes_max;
    }
}

impl Room for FileRoom {
    #[inline]
    fn make_for_medium(&mut self, place: Range<usize>) -> Result<(), NoRoom> {
        let (file, bytes_max) = (&self.file, self.bytes_max);
        self.medium.make(place, |begin, bytes| allocate(file, begin, bytes, bytes_max))
    }

    #[inline]
    fn make_for_cells(&mut self, place: Range<usize>) -> Result<(), NoRoom> {
        let (file, bytes_max) = (&self.file, self.bytes_max);
        self.cells.make(place, |begin, bytes| allocate(file, begin, bytes, bytes_max))
    }

    fn make_to_load(&mut self, place: Range<usize>) -> Result<(), NoRoom> {
        if self.holes_cost { self.make_for_medium(place) } else { Ok(()) }
    }

    #[inline]
    fn make_for_copies(&mut self, place: Range<usize>) -> Result<(), NoRoom> {
        if self.holes_cost { self.make_for_cells(place) } else { Ok(()) }
    }

    #[inline]
    fn read_cells(&self, begin: usize, data: &mut [u8]) -> Result<bool, NoRoom> {
        if !self.holes_cost || self.cells.is_all_made(&(begin..begin + data.len())) {
            return Ok(false);
        }
        let read = self.file.read_exact_at(data, self.cells.begin + begin as u64);
        read.map(|()| true).map_err(|error| NoRoom(error.to_string()))
    }

    fn release_cells(&mut self, place: Range<usize>) -> bool {
        let is_whole = place.start == 0 && place.end as u64 == self.cells.bytes;
        // What lies in a block beside the range stays.
        let begin = (place.start as u64).next_multiple_of(BLOCK_BYTES);
        let end = if is_whole { place.end as u64 } else { place.end as u64 / BLOCK_BYTES * BLOCK_BYTES };
        if end <= begin || (end - begin < HOLE_BYTES && !is_whole) {
            return false;
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if fallocate(&self.file, flags, self.cells.begin + begin, end - begin).is_err() {
            return false;
        }
        self.cells.forget(&(begin..end));
        is_whole
    }
}

/// Bytes that a file takes on disk.
pub(crate) fn bytes_on_disk(file: &File) -> std::io::Result<u64> {
    Ok(file.metadata()?.blocks() * STAT_BLOCK_BYTES)
}

/// Bytes that the file system of a file still has for it, at most up to `bytes_max` in all.
pub(crate) fn free_bytes(file: &File, bytes_max: u64) -> u64 {
    let free = fstatvfs(file).map_or(u64::MAX, |stat| stat.f_bavail.saturating_mul(stat.f_frsize));
    let used = if bytes_max == u64::MAX { 0 } else { bytes_on_disk(file).unwrap_or(0) };
    free.min(bytes_max.saturating_sub(used))
}

/// Whether loads from holes of a mapped file take blocks, as those of tmpfs do.
pub(crate) fn holes_cost(file: &File) -> bool {
    const TMPFS_MAGIC: u64 = 0x0102_1994;
    fstatfs(file).is_ok_and(|stat| stat.f_type as u64 == TMPFS_MAGIC)
}

/// Makes sure that a range of a file has blocks.
pub(crate) fn allocate(file: &File, begin: u64, bytes: u64, bytes_max: u64) -> Result<(), NoRoom> {
    if bytes_max != u64::MAX {
        let used = bytes_on_disk(file).map_err(|error| NoRoom(error.to_string()))?;
        if used + bytes > bytes_max {
            return Err(NoRoom(format!("it has {used} bytes on disk and may have {bytes_max}")));
        }
    }
    loop {
        match fallocate(file, FallocateFlags::KEEP_SIZE, begin, bytes) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(Errno::OPNOTSUPP) => return touch(file, begin, bytes),
            Err(error) => return Err(NoRoom(std::io::Error::from(error).to_string())),
        }
    }
}

/// As `allocate`, on file systems that can't: every block is written over by what it holds.
fn touch(file: &File, begin: u64, bytes: u64) -> Result<(), NoRoom> {
    let write = |at: u64| {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at)?;
        file.write_all_at(&byte, at)
    };
    let mut blocks = (begin..begin + bytes).step_by(BLOCK_BYTES as usize);
    blocks.try_for_each(write).map_err(|error| NoRoom(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: usize = 1 << 20;
    const STEP_BYTES: u64 = 128 << 10;

    fn room(bytes_max: u64) -> FileRoom {
        let file = tempfile::tempfile().unwrap();
        file.set_len((CELLS + CELLS) as u64).unwrap();
        FileRoom::new(file, STEP_BYTES, (0, CELLS as u64), (CELLS as u64, CELLS as u64), bytes_max)
    }

    #[test]
    fn steps_get_blocks_once_and_lose_them_when_released() {
        let mut room = room(u64::MAX);
        let on_disk = |room: &FileRoom| bytes_on_disk(&room.file).unwrap();
        room.make_for_cells(5..5).unwrap();
        assert_eq!(on_disk(&room), 0);
        room.make_for_cells(STEP_BYTES as usize - 1..STEP_BYTES as usize + 1).unwrap();
        assert_eq!(on_disk(&room), 2 * STEP_BYTES);
        room.make_for_medium(CELLS - 1..CELLS).unwrap();
        assert_eq!(on_disk(&room), 2 * STEP_BYTES + MEDIUM_STEP_BYTES);
        assert!(!room.release_cells(0..HOLE_BYTES as usize - 1), "too small a hole");
        room.release_cells(0..STEP_BYTES as usize + 1);
        assert_eq!(on_disk(&room), STEP_BYTES + MEDIUM_STEP_BYTES);
        room.make_for_cells(0..1).unwrap();
        assert_eq!(on_disk(&room), 2 * STEP_BYTES + MEDIUM_STEP_BYTES);
        assert!(room.release_cells(0..CELLS));
        assert_eq!(on_disk(&room), MEDIUM_STEP_BYTES);
    }

    /// Where loads from holes take blocks, nothing is loaded from them.
    #[test]
    fn reads_of_cells_take_no_blocks() {
        for (folder, costly) in [(std::env::temp_dir(), false), ("/dev/shm".into(), true)] {
            let file = tempfile::tempfile_in(folder).unwrap();
            file.set_len((CELLS + CELLS) as u64).unwrap();
            file.write_all_at(b"kept", CELLS as u64 + 4096).unwrap();
            if holes_cost(&file) != costly {
                eprintln!("skipped: no tmpfs where one is expected, or one where none is");
                continue;
            }
            let mut room =
                FileRoom::new(file, STEP_BYTES, (0, CELLS as u64), (CELLS as u64, CELLS as u64), u64::MAX);
            let mut data = [1; 8192];
            assert_eq!(room.read_cells(0, &mut data), Ok(costly));
            assert_eq!(data[4096..4100] == *b"kept", costly);
            room.make_for_copies(0..1).unwrap();
            let blocks = if costly { STEP_BYTES } else { 4096 };
            assert_eq!(bytes_on_disk(&room.file).unwrap(), blocks);
            assert_eq!(room.read_cells(STEP_BYTES as usize - 1, &mut data), Ok(costly));
            assert_eq!(
                room.read_cells(0, &mut data[..1]),
                Ok(false),
                "what has blocks is read where it is mapped"
            );
        }
    }

    #[test]
    fn a_limit_is_a_full_disk() {
        let mut room = room(3 * STEP_BYTES / 2);
        room.make_for_cells(0..1).unwrap();
        let refused = room.make_for_cells(CELLS - 1..CELLS).unwrap_err();
        assert_eq!(refused.to_string(), "it has 131072 bytes on disk and may have 196608");
        room.make_for_cells(0..STEP_BYTES as usize).unwrap();
        assert_eq!(free_bytes(&room.file, 2 * STEP_BYTES), STEP_BYTES);
    }

    #[test]
    fn blocks_are_touched_where_they_cannot_be_asked_for() {
        let room = room(u64::MAX);
        room.file.write_all_at(b"kept", 8192).unwrap();
        touch(&room.file, 4096, 3 * 4096).unwrap();
        let mut kept = [0; 4];
        room.file.read_exact_at(&mut kept, 8192).unwrap();
        assert_eq!(&kept, b"kept");
        assert_eq!(bytes_on_disk(&room.file).unwrap(), 3 * 4096);
    }
}
