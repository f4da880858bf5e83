//! The disk in memory against a plain array.

use proptest::prelude::*;

use super::*;

const SIZE: usize = 5 * CHUNK_BYTES;

fn request(kind: RequestKind, offset: usize, length: usize) -> Request {
    Request { ticket: 7, kind, offset: offset as u64, length: length as u32, fua: false, no_hole: false }
}

fn read(disk: &mut MemoryExport, offset: usize, length: usize) -> Vec<u8> {
    let mut found = None;
    disk.submit(0, request(RequestKind::Read, offset, length), &[]);
    disk.advance(0, &mut |_, result| found = result.ok().map(<[u8]>::to_vec));
    found.expect("a read is answered")
}

fn change(disk: &mut MemoryExport, request: Request, data: &[u8]) {
    disk.submit(0, request, data);
    disk.advance(0, &mut |ticket, result| assert_eq!((ticket, result), (7, Ok(&[][..]))));
}

proptest! {
    #[test]
    fn reads_what_an_array_would(steps in prop::collection::vec((0..4u8, 0..SIZE, 1..SIZE, any::<u8>()), 1..40)) {
        let mut disk = MemoryExport::new(ExportInfo::new("", SIZE as u64));
        let mut array = vec![0u8; SIZE];
        for (step, offset, length, byte) in steps {
            let length = length.min(SIZE - offset).max(1);
            let end = offset + length;
            match step {
                0 => {
                    array[offset..end].fill(byte);
                    change(&mut disk, request(RequestKind::Write, offset, length), &array[offset..end]);
                }
                1 => {
                    array[offset..end].fill(0);
                    change(&mut disk, request(RequestKind::Trim, offset, length), &[]);
                }
                2 => {
                    array[offset..end].fill(0);
                    let zeroes = Request { no_hole: byte.is_multiple_of(2), ..request(RequestKind::WriteZeroes, offset, length) };
                    change(&mut disk, zeroes, &[]);
                }
                _ => prop_assert_eq!(read(&mut disk, offset, length), &array[offset..end]),
            }
        }
        prop_assert_eq!(read(&mut disk, 0, SIZE), array);
    }
}

#[test]
fn extents_alternate_end_with_the_range_and_stop_at_the_limit() {
    let mut disk = MemoryExport::new(ExportInfo::new("", SIZE as u64));
    change(&mut disk, request(RequestKind::Write, CHUNK_BYTES, 512), &[1; 512]);
    change(&mut disk, request(RequestKind::Write, 2 * CHUNK_BYTES, 512), &[1; 512]);
    let mut extents = Vec::new();
    disk.block_status(512, (SIZE - 512) as u32, 10, &mut extents);
    let found: Vec<_> =
        extents.iter().map(|extent| (extent.length as usize, extent.hole, extent.zero)).collect();
    let data = (2 * CHUNK_BYTES, false, false);
    assert_eq!(found, [(CHUNK_BYTES - 512, true, true), data, (2 * CHUNK_BYTES, true, true)]);
    disk.block_status(512, (SIZE - 512) as u32, 1, &mut extents);
    assert_eq!(extents, [Extent { length: (CHUNK_BYTES - 512) as u32, hole: true, zero: true }]);
}

#[test]
fn a_trim_of_everything_gives_all_memory_back_at_once_however_large_the_disk() {
    let mut disk = MemoryExport::new(ExportInfo::new("", 1 << 62));
    change(&mut disk, request(RequestKind::Write, 1 << 40, 4096), &[1; 4096]);
    assert_eq!(disk.stored_bytes(), CHUNK_BYTES as u64);
    let whole = Request { offset: (1 << 40) - 4096, ..request(RequestKind::Trim, 0, u32::MAX as usize) };
    change(&mut disk, whole, &[]);
    assert_eq!(disk.stored_bytes(), 0);
}

#[test]
fn an_info_that_no_client_could_use_is_refused_with_key_value_and_limit() {
    let sound = ExportInfo::new("disk", 1 << 20);
    assert_eq!(sound.validate(), Ok(()));
    let odd = ExportInfo { size_bytes: 1000, ..sound.clone() };
    assert_eq!(
        odd.validate().unwrap_err(),
        format!("size_bytes: 1000; a multiple of 512, at most {}", i64::MAX)
    );
    let blocks = ExportInfo { minimum_block_bytes: 1000, ..sound.clone() };
    assert!(blocks.validate().unwrap_err().starts_with("minimum_block_bytes: 1000;"));
    let preferred = ExportInfo { preferred_block_bytes: 256, ..sound.clone() };
    assert!(preferred.validate().unwrap_err().starts_with("preferred_block_bytes: 256;"));
    let payload = ExportInfo { maximum_payload_bytes: u32::MAX, ..sound.clone() };
    assert!(payload.validate().unwrap_err().starts_with("maximum_payload_bytes: 4294967295;"));
    let name = ExportInfo { name: "x".repeat(5000), ..sound };
    assert_eq!(name.validate().unwrap_err(), "name: 5000 bytes; at most 4096");
}
