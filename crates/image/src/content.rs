//! What a compressing drive sees of the host's bytes: how small each map unit becomes, and which units are alike.
//!
//! The compressor is LZ4, unit by unit: what a controller's own makes of the same bytes is not known.

use drivelab_controller::UnitContent;
use drivelab_nand::SECTOR_BYTES;
use lz4_flex::block::{compress_into, get_maximum_output_size};
use xxhash_rust::xxh3::xxh3_64;

/// Measures the data of writes.
#[derive(Clone, Debug)]
pub(crate) struct ContentMeter {
    unit_bytes: usize,
    compressed: Vec<u8>,
}

impl ContentMeter {
    /// Of a drive with map units of so many bytes.
    pub(crate) fn new(unit_bytes: u32) -> Self {
        let unit_bytes = unit_bytes as usize;
        Self { unit_bytes, compressed: vec![0; get_maximum_output_size(unit_bytes)] }
    }

    /// Every unit that a write touches, in order. Of a unit that it covers in part, the rest is taken to be alike.
    pub(crate) fn measure(&mut self, lba: u64, data: &[u8]) -> Vec<UnitContent> {
        let skipped = (lba * u64::from(SECTOR_BYTES) % self.unit_bytes as u64) as usize;
        let (first, rest) = data.split_at(data.len().min(self.unit_bytes - skipped));
        let parts = std::iter::once(first).chain(rest.chunks(self.unit_bytes));
        parts.filter(|part| !part.is_empty()).map(|part| self.measure_part(part)).collect()
    }

    fn measure_part(&mut self, part: &[u8]) -> UnitContent {
        if part.iter().all(|&byte| byte == 0) {
            return UnitContent::ZEROS;
        }
        // The room is enough for whatever becomes of a unit.
        let bytes = compress_into(part, &mut self.compressed).unwrap_or(part.len()).min(part.len());
        let whole = bytes as u64 * self.unit_bytes as u64 / part.len() as u64;
        UnitContent { compressed_bytes: whole as u32, hash: xxh3_64(part) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_sim::Stream;

    fn random(bytes: usize) -> Vec<u8> {
        let mut stream = Stream::new(1, 1);
        std::iter::repeat_with(|| stream.next_u64() as u8).take(bytes).collect()
    }

    #[test]
    fn units_are_measured_one_by_one() {
        let mut meter = ContentMeter::new(4096);
        let noise = random(4096);
        let text = b"the same words again and again, ".repeat(128);
        let data = [noise.as_slice(), &text, &[0; 4096], &text].concat();
        let units = meter.measure(8, &data);
        assert_eq!(units.len(), 4);
        assert_eq!(units[0].compressed_bytes, 4096, "noise does not compress");
        assert!((20..200).contains(&units[1].compressed_bytes), "{units:?}");
        assert_eq!((units[2], units[3]), (UnitContent::ZEROS, units[1]));
        assert_ne!(units[0].hash, units[1].hash);
    }

    #[test]
    fn a_part_stands_for_its_unit() {
        let mut meter = ContentMeter::new(4096);
        let noise = random(4096 + 2 * 512);
        let units = meter.measure(3 * 8 + 7, &noise);
        assert_eq!(units.iter().map(|unit| unit.compressed_bytes).collect::<Vec<_>>(), [4096; 3]);
        assert_eq!(meter.measure(5, &noise[..512]).len(), 1);
        assert_eq!(meter.measure(5, &[]), []);
    }
}
