//! Trace files as they lie on the disk: plain or compressed by gzip.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::progress::Progress;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const BUFFER_BYTES: usize = 1 << 16;

/// A file that says how far it has been read, and fails when asked to stop.
struct WatchedFile<'p> {
    file: File,
    read_bytes: u64,
    size_bytes: u64,
    progress: &'p Progress,
}

impl Read for WatchedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.progress.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        let count = self.file.read(buffer)?;
        self.read_bytes += count as u64;
        if self.size_bytes > 0 {
            self.progress.set_fraction((self.read_bytes as f64 / self.size_bytes as f64).min(1.0));
        }
        Ok(count)
    }
}

/// Opens a file; what gzip has compressed (by its first bytes, not by its name) is unpacked.
pub(super) fn open<'p>(path: &Path, progress: &'p Progress) -> io::Result<Box<dyn BufRead + 'p>> {
    let file = File::open(path)?;
    let size_bytes = file.metadata().map_or(0, |found| found.len());
    let file = WatchedFile { file, read_bytes: 0, size_bytes, progress };
    unpacked(BufReader::with_capacity(BUFFER_BYTES, file))
}

/// The text behind a reader.
pub(super) fn unpacked<'r>(mut reader: impl BufRead + 'r) -> io::Result<Box<dyn BufRead + 'r>> {
    if reader.fill_buf()?.starts_with(&GZIP_MAGIC) {
        return Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(reader))));
    }
    Ok(Box::new(reader))
}
