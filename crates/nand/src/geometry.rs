//! How a flash array is cut: channels, dies, planes, blocks, pages - and map units laid over pages.

use serde::{Deserialize, Serialize};

/// Bytes of a logical sector: the unit in which hosts address a drive.
pub const SECTOR_BYTES: u32 = 512;

/// Index of a die. Dies are numbered channel first: die `d` hangs on channel `d % channel_count`, so that
/// going through the dies in order goes round the channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DieIndex(pub u32);

/// Index of an erase block in the whole array: `die * blocks_per_die + block`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockIndex(pub u32);

/// Logical page number: index of a map unit as the host addresses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lpn(pub u32);

impl Lpn {
    /// No map unit: a place programmed with it holds padding.
    pub const PADDING: Self = Self(u32::MAX);
}

/// Physical page number: index of a place for one map unit, `block * units_per_block + unit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ppn(pub u32);

/// Most erase blocks of an array: 8 TiB of 512 KiB blocks.
const MOST_BLOCKS: u64 = 1 << 24;

/// The physical cut of an array. Every count is 1 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Channels: buses that work at the same time.
    pub channel_count: u32,
    /// Dies that share one channel.
    pub dies_per_channel: u32,
    /// Planes of a die.
    pub planes_per_die: u32,
    /// Erase blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of an erase block.
    pub pages_per_block: u32,
    /// Data bytes of a page.
    pub page_bytes: u32,
    /// Out-of-band bytes of a page: error correction, LPN, sequence number.
    pub oob_bytes: u32,
    /// Multi-plane operations: the planes of a die program, read and erase together, so that the FTL sees one
    /// plane with pages `planes_per_die` times as large.
    pub two_plane: bool,
}

/// A geometry that cannot be built; the message names the parameter, its value and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: {allowed}")]
pub struct GeometryError {
    /// Name of the parameter.
    pub key: &'static str,
    /// Its value.
    pub value: u64,
    /// What is allowed, in words.
    pub allowed: String,
}

impl GeometryError {
    /// An error of one parameter.
    pub fn new(key: &'static str, value: impl Into<u64>, allowed: impl Into<String>) -> Self {
        Self { key, value: value.into(), allowed: allowed.into() }
    }
}

impl Geometry {
    /// Number of dies.
    #[must_use]
    pub fn die_count(&self) -> u32 {
        self.channel_count * self.dies_per_channel
    }

    /// Planes that one operation covers: all of them with multi-plane operations, else one.
    #[must_use]
    pub fn fused_planes(&self) -> u32 {
        if self.two_plane { self.planes_per_die } else { 1 }
    }

    /// Erase units of a die, as the FTL sees them.
    #[must_use]
    pub fn blocks_per_die(&self) -> u32 {
        if self.two_plane { self.blocks_per_plane } else { self.blocks_per_plane * self.planes_per_die }
    }

    /// Bytes that one program operation writes.
    #[must_use]
    pub fn program_bytes(&self) -> u32 {
        self.page_bytes * self.fused_planes()
    }

    /// Raw capacity in bytes, out-of-band area not counted.
    #[must_use]
    pub fn raw_bytes(&self) -> u64 {
        u64::from(self.die_count())
            * u64::from(self.planes_per_die)
            * u64::from(self.blocks_per_plane)
            * u64::from(self.pages_per_block)
            * u64::from(self.page_bytes)
    }

    /// Checks that every count is in range and that nothing overflows 32-bit page numbers.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    pub fn validate(&self) -> Result<(), GeometryError> {
        let counts = [
            ("flash.channel_count", self.channel_count, 1024),
            ("flash.dies_per_channel", self.dies_per_channel, 1024),
            ("flash.planes_per_die", self.planes_per_die, 16),
            ("flash.blocks_per_plane", self.blocks_per_plane, 1 << 20),
            ("flash.pages_per_block", self.pages_per_block, 1 << 14),
        ];
        for (key, value, most) in counts {
            if value == 0 || value > most {
                return Err(GeometryError::new(key, value, format!("must be 1 to {most}")));
            }
        }
        if self.page_bytes == 0 || !self.page_bytes.is_multiple_of(SECTOR_BYTES) || self.page_bytes > 1 << 20
        {
            let allowed = "must be a multiple of 512 from 512 to 1048576";
            return Err(GeometryError::new("flash.page_bytes", self.page_bytes, allowed));
        }
        if self.oob_bytes > self.page_bytes {
            let allowed = format!("must be at most flash.page_bytes = {}", self.page_bytes);
            return Err(GeometryError::new("flash.oob_bytes", self.oob_bytes, allowed));
        }
        let dies = u64::from(self.channel_count) * u64::from(self.dies_per_channel);
        if dies > 4096 {
            return Err(GeometryError::new(
                "flash.dies_per_channel",
                self.dies_per_channel,
                "at most 4096 dies in all",
            ));
        }
        // Every block has books of its own, also while it is erased.
        if dies * u64::from(self.blocks_per_die()) > MOST_BLOCKS {
            let allowed = format!("must give at most {MOST_BLOCKS} erase blocks in all");
            return Err(GeometryError::new("flash.blocks_per_plane", self.blocks_per_plane, allowed));
        }
        Ok(())
    }
}

/// How map units lie on pages. Either a page holds one or more units, or a unit covers one or more pages;
/// what is left over of a page or block stays unused (it is raw capacity that no unit can use).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitLayout {
    /// The array.
    pub geometry: Geometry,
    /// Bytes of a map unit.
    pub unit_bytes: u32,
    /// Sectors (512 bytes) of a map unit.
    pub sectors_per_unit: u32,
    /// Units that one program operation writes.
    pub units_per_page: u32,
    /// Pages (program operations) that one unit needs.
    pub pages_per_unit: u32,
    /// Units of an erase block.
    pub units_per_block: u32,
    /// Units of a die: every read asks for the die of a place, and a division is what it costs.
    units_per_die: u32,
    /// What is left of a die's number is its channel, where channels are a power of two.
    channel_mask: Option<u32>,
}

impl UnitLayout {
    /// Lays units of `unit_bytes` over the pages of `geometry`.
    ///
    /// # Errors
    /// A geometry that cannot be built, a unit that is not a whole number of sectors or larger than a block,
    /// or more than 2^31 units in all.
    pub fn new(geometry: Geometry, unit_bytes: u32) -> Result<Self, GeometryError> {
        geometry.validate()?;
        if unit_bytes == 0 || !unit_bytes.is_multiple_of(SECTOR_BYTES) {
            return Err(GeometryError::new(
                "ftl.map_unit_bytes",
                unit_bytes,
                "must be a whole number of 512-byte sectors",
            ));
        }
        let program = geometry.program_bytes();
        let (units_per_page, pages_per_unit) =
            if unit_bytes <= program { (program / unit_bytes, 1) } else { (1, unit_bytes.div_ceil(program)) };
        let units_per_block = geometry.pages_per_block / pages_per_unit * units_per_page;
        if units_per_block == 0 {
            let allowed = format!(
                "must fit in a block of {} bytes",
                u64::from(program) * u64::from(geometry.pages_per_block)
            );
            return Err(GeometryError::new("ftl.map_unit_bytes", unit_bytes, allowed));
        }
        let units = u64::from(geometry.die_count())
            * u64::from(geometry.blocks_per_die())
            * u64::from(units_per_block);
        if units >= 1 << 31 {
            return Err(GeometryError::new(
                "flash.blocks_per_plane",
                geometry.blocks_per_plane,
                format!("{units} map units in all, but at most 2^31 - 1 can be addressed"),
            ));
        }
        Ok(Self {
            geometry,
            unit_bytes,
            sectors_per_unit: unit_bytes / SECTOR_BYTES,
            units_per_page,
            pages_per_unit,
            units_per_block,
            units_per_die: geometry.blocks_per_die() * units_per_block,
            channel_mask: geometry.channel_count.is_power_of_two().then(|| geometry.channel_count - 1),
        })
    }

    /// Places for map units in the whole array.
    #[must_use]
    pub fn unit_count(&self) -> u32 {
        self.block_count() * self.units_per_block
    }

    /// Erase blocks in the whole array.
    #[must_use]
    pub fn block_count(&self) -> u32 {
        self.geometry.die_count() * self.geometry.blocks_per_die()
    }

    /// The block that holds a place.
    #[inline]
    #[must_use]
    pub fn block_of(&self, ppn: Ppn) -> BlockIndex {
        BlockIndex(ppn.0 / self.units_per_block)
    }

    /// The die of a block.
    #[inline]
    #[must_use]
    pub fn die_of(&self, block: BlockIndex) -> DieIndex {
        DieIndex(block.0 / self.geometry.blocks_per_die())
    }

    /// The die that holds a place.
    #[inline]
    #[must_use]
    pub fn die_at(&self, ppn: Ppn) -> DieIndex {
        DieIndex(ppn.0 / self.units_per_die)
    }

    /// The channel of a die.
    #[inline]
    #[must_use]
    pub fn channel_of(&self, die: DieIndex) -> u32 {
        self.channel_mask.map_or_else(|| die.0 % self.geometry.channel_count, |mask| die.0 & mask)
    }

    /// First place of a block.
    #[inline]
    #[must_use]
    pub fn first_ppn(&self, block: BlockIndex) -> Ppn {
        Ppn(block.0 * self.units_per_block)
    }

    /// The page (program operation) within its block that holds a place.
    #[inline]
    #[must_use]
    pub fn page_of(&self, ppn: Ppn) -> u32 {
        (ppn.0 % self.units_per_block) / self.units_per_page * self.pages_per_unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry() -> Geometry {
        Geometry {
            channel_count: 2,
            dies_per_channel: 3,
            planes_per_die: 2,
            blocks_per_plane: 10,
            pages_per_block: 9,
            page_bytes: 4096,
            oob_bytes: 128,
            two_plane: false,
        }
    }

    #[test]
    fn units_smaller_and_larger_than_a_page() {
        let small = UnitLayout::new(geometry(), 1536).unwrap();
        assert_eq!((small.units_per_page, small.pages_per_unit, small.units_per_block), (2, 1, 18));
        let large = UnitLayout::new(geometry(), 16384).unwrap();
        assert_eq!((large.units_per_page, large.pages_per_unit, large.units_per_block), (1, 4, 2));
        let fused = UnitLayout::new(Geometry { two_plane: true, ..geometry() }, 4096).unwrap();
        assert_eq!((fused.units_per_page, fused.block_count(), fused.unit_count()), (2, 60, 60 * 18));
    }

    #[test]
    fn the_die_of_a_place_is_that_of_its_block_and_dies_go_round_the_channels() {
        for channel_count in 1..=5 {
            let layout = UnitLayout::new(Geometry { channel_count, ..geometry() }, 4096).unwrap();
            for ppn in (0..layout.unit_count()).map(Ppn) {
                assert_eq!(layout.die_at(ppn), layout.die_of(layout.block_of(ppn)));
            }
            for die in 0..layout.geometry.die_count() {
                assert_eq!(layout.channel_of(DieIndex(die)), die % channel_count);
            }
        }
    }

    #[test]
    fn impossible_geometries_are_named() {
        let zero = Geometry { dies_per_channel: 0, ..geometry() };
        assert_eq!(zero.validate().unwrap_err().to_string(), "flash.dies_per_channel = 0: must be 1 to 1024");
        assert!(
            UnitLayout::new(geometry(), 1000).unwrap_err().to_string().contains("ftl.map_unit_bytes = 1000")
        );
        let huge = Geometry { blocks_per_plane: 1 << 20, pages_per_block: 1024, ..geometry() };
        assert!(UnitLayout::new(huge, 512).unwrap_err().to_string().contains("2^31"));
        let whole = Geometry { two_plane: false, planes_per_die: 1, blocks_per_plane: 1, ..geometry() };
        assert!(UnitLayout::new(whole, 4096 * 10).is_err(), "a unit larger than a block");
    }
}
