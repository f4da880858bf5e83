//! Large flat tables: the map, out-of-band data, valid bits.

use std::mem::{size_of, size_of_val};
use std::ops::{Deref, DerefMut};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Smaller tables are not worth a word to the system. One huge page of x86 and ARM.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// The smallest page of x86 and ARM.
const PAGE_BYTES: usize = 4096;

/// A table of fixed length that is read and written anywhere, of zeros at first. Memory is taken when it is first
/// written, in huge pages where the system has them: each access to a table of many megabytes else costs a walk through
/// the page table, which is more than the access itself.
#[derive(Debug)]
pub struct Table<T> {
    entries: Vec<T>,
}

/// What a table has entries of.
pub trait Number: Copy {
    /// So many zeros, as the system gives them: not written yet.
    fn zeros(length: usize) -> Vec<Self>;

    /// The numbers as bytes, the lowest first.
    fn bytes_of(entries: &[Self]) -> Vec<u8>;

    /// The numbers that [`bytes_of`](Self::bytes_of) gives bytes of; what is left of the bytes counts for nothing.
    fn of_bytes(bytes: &[u8], entries: &mut [Self]);
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Number for $number {
            // The compiler asks for zeroed memory only where it sees the 0.
            fn zeros(length: usize) -> Vec<Self> {
                vec![0; length]
            }

            fn bytes_of(entries: &[Self]) -> Vec<u8> {
                let mut bytes = vec![0; size_of_val(entries)];
                for (chunk, entry) in bytes.as_chunks_mut().0.iter_mut().zip(entries) {
                    *chunk = entry.to_le_bytes();
                }
                bytes
            }

            fn of_bytes(bytes: &[u8], entries: &mut [Self]) {
                let (chunks, _) = bytes.as_chunks();
                for (entry, &chunk) in entries.iter_mut().zip(chunks) {
                    *entry = Self::from_le_bytes(chunk);
                }
            }
        }
    )*};
}

numbers!(u16, u32, u64);

impl<T: Number> Table<T> {
    /// A table of so many zeros.
    #[must_use]
    pub fn new(length: usize) -> Self {
        let entries = T::zeros(length);
        ask_for_huge_pages(entries.as_ptr(), length);
        Self { entries }
    }

    /// All entries are zeros again.
    pub fn clear(&mut self) {
        *self = Self::new(self.entries.len());
    }
}

impl<T: Number> Clone for Table<T> {
    fn clone(&self) -> Self {
        let mut entries = Vec::with_capacity(self.entries.len());
        ask_for_huge_pages(entries.as_ptr(), self.entries.len());
        entries.extend_from_slice(&self.entries);
        Self { entries }
    }

    fn clone_from(&mut self, source: &Self) {
        self.entries.clone_from(&source.entries);
    }
}

/// One string of bytes: entry by entry, a table of many millions would take longer than what filled it.
impl<T: Number> Serialize for Table<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&T::bytes_of(&self.entries))
    }
}

impl<'de, T: Number> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?;
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return Err(D::Error::invalid_length(bytes.len(), &"whole entries"));
        }
        let mut found = Self::new(bytes.len() / size_of::<T>());
        T::of_bytes(bytes, &mut found.entries);
        Ok(found)
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.entries
    }
}

impl<T> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.entries
    }
}

/// Makes room for so many more entries of a column that only grows, in huge pages once it is large; it then grows by as
/// much as it has, as pushing would.
pub fn reserve_in_huge_pages<T>(column: &mut Vec<T>, more: usize) {
    if column.capacity() - column.len() < more {
        column.reserve(more.max(column.len()));
        let bytes = column.capacity() * size_of::<T>();
        if bytes >= 2 * HUGE_PAGE_BYTES {
            // All pages of the mapping, whose first bytes are the allocator's: a mapping of two kinds can't be moved to
            // a larger place, only copied.
            let first = column.as_ptr() as usize / PAGE_BYTES * PAGE_BYTES;
            advise(first, (column.as_ptr() as usize + bytes).next_multiple_of(PAGE_BYTES));
        }
    }
}

/// Asks for huge pages where `length` entries from `first` on lie.
fn ask_for_huge_pages<T>(first: *const T, length: usize) {
    // Whole huge pages only: what lies around the table is not its own.
    let from = (first as usize).next_multiple_of(HUGE_PAGE_BYTES);
    advise(from, (first as usize + length * size_of::<T>()) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES);
}

/// Asks for huge pages between two addresses. The system may refuse: then they are as they were.
#[allow(unsafe_code, reason = "advice about memory has no safe form")]
fn advise(from: usize, until: usize) {
    #[cfg(target_os = "linux")]
    if from < until {
        let begin = std::ptr::with_exposed_provenance_mut(from);
        // SAFETY: this advice changes no content, whatever lies in the range.
        let asked = unsafe { rustix::mm::madvise(begin, until - from, rustix::mm::Advice::LinuxHugepage) };
        // A system without huge pages says so: nothing is lost.
        let _ = asked;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (from, until);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_zeros_until_written_and_copies_are_apart() {
        for length in [0, 3, HUGE_PAGE_BYTES, 3 * HUGE_PAGE_BYTES / 4 + 1] {
            let mut table = Table::<u32>::new(length);
            assert!(table.len() == length && table.iter().all(|&entry| entry == 0));
            if let Some(last) = table.last_mut() {
                *last = 7;
            }
            let mut copy = table.clone();
            assert_eq!(*copy, *table);
            copy.clear();
            assert!(copy.iter().all(|&entry| entry == 0));
            assert_eq!(table.last().copied(), (length > 0).then_some(7));
            copy.clone_from(&table);
            assert_eq!(*copy, *table);
        }
    }
}
