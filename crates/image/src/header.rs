//! The first page of an image: what it is, and how long.

use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the header, and what parts of the file are aligned to.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// What every image begins with. The line break is lost when a file is copied as text.
pub(crate) const MAGIC: [u8; 16] = *b"drivelab image\r\n";
/// Longest manifest.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 16 << 20;

const VERSION: usize = 16;
const MANIFEST_BYTES: usize = 24;
const MANIFEST_CHECK: usize = 32;
const FILE_BYTES: usize = 40;
const CHECK: usize = PAGE_BYTES as usize - 8;

/// The header. Its place, magic, version and checksum are the same in every format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) version: u32,
    pub(crate) manifest_bytes: u64,
    /// Checksum of the manifest.
    pub(crate) manifest_check: u64,
    /// Bytes of the whole file.
    pub(crate) file_bytes: u64,
}

/// What is wrong with a first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderFault {
    /// No image at all.
    Magic,
    /// The page ends early.
    Short,
    /// The checksum doesn't fit.
    Check,
    /// Lengths that can't be.
    Lengths,
}

fn word(page: &[u8], at: usize) -> u64 {
    page[at..at + 8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

impl Header {
    /// The page.
    pub(crate) fn to_page(self) -> Vec<u8> {
        let mut page = vec![0; PAGE_BYTES as usize];
        page[..MAGIC.len()].copy_from_slice(&MAGIC);
        for (at, value) in [
            (VERSION, u64::from(self.version)),
            (MANIFEST_BYTES, self.manifest_bytes),
            (MANIFEST_CHECK, self.manifest_check),
            (FILE_BYTES, self.file_bytes),
        ] {
            page[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let check = xxh3_64(&page[..CHECK]);
        page[CHECK..].copy_from_slice(&check.to_le_bytes());
        page
    }

    /// Reads the page; any bytes may come, of any length.
    pub(crate) fn from_page(page: &[u8]) -> Result<Self, HeaderFault> {
        if !page.starts_with(&MAGIC) {
            return Err(HeaderFault::Magic);
        }
        let Some(page) = page.get(..PAGE_BYTES as usize) else { return Err(HeaderFault::Short) };
        if word(page, CHECK) != xxh3_64(&page[..CHECK]) {
            return Err(HeaderFault::Check);
        }
        let header = Self {
            version: u32::try_from(word(page, VERSION)).unwrap_or(u32::MAX),
            manifest_bytes: word(page, MANIFEST_BYTES),
            manifest_check: word(page, MANIFEST_CHECK),
            file_bytes: word(page, FILE_BYTES),
        };
        if header.manifest_bytes > MANIFEST_BYTES_MAX || header.file_bytes > i64::MAX as u64 {
            return Err(HeaderFault::Lengths);
        }
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: Header =
        Header { version: 1, manifest_bytes: 77, manifest_check: u64::MAX - 5, file_bytes: 1 << 40 };

    #[test]
    fn a_page_is_read_back_and_every_flipped_bit_is_seen() {
        let page = HEADER.to_page();
        assert_eq!(Header::from_page(&page), Ok(HEADER));
        for bit in 0..page.len() * 8 {
            let mut page = page.clone();
            page[bit / 8] ^= 1 << (bit % 8);
            assert!(Header::from_page(&page).is_err(), "bit {bit}");
        }
        for length in 0..page.len() {
            let fault = if length < 16 { HeaderFault::Magic } else { HeaderFault::Short };
            assert_eq!(Header::from_page(&page[..length]), Err(fault));
        }
        let absurd = Header { manifest_bytes: u64::MAX, ..HEADER }.to_page();
        assert_eq!(Header::from_page(&absurd), Err(HeaderFault::Lengths));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
            prop_assert!(Header::from_page(&bytes).is_err());
            let mut page = bytes;
            page.resize(PAGE_BYTES as usize, 0);
            page[..16].copy_from_slice(&MAGIC);
            let check = xxh3_64(&page[..CHECK]);
            page[CHECK..].copy_from_slice(&check.to_le_bytes());
            let _ = Header::from_page(&page);
        }
    }
}
