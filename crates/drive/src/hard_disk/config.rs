//! Parameters of a hard disk, and what is allowed.

use drivelab_controller::{FirmwareConfig, LinkConfig, SECTOR_BYTES};
use drivelab_nand::GeometryError;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

/// Writes are taken into the cache in pieces of at most this many sectors (128 KiB), so that a long one needs no
/// more room than this to make progress.
pub(crate) const PIECE_SECTORS: u32 = 256;

/// Where the data lies: surfaces, tracks, zones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlatterConfig {
    /// Revolutions a minute.
    pub rpm: u32,
    /// Surfaces, each with its head.
    pub head_count: u32,
    /// Data bytes of a track of the outermost zone.
    pub outer_track_bytes: u32,
    /// Zones: bands of cylinders with the same number of sectors on every track.
    pub zone_count: u32,
    /// Bytes of an outermost track over bytes of an innermost one, in thousandths.
    pub zone_ratio_permille: u32,
    /// Angle between the first sectors of neighbouring tracks of one cylinder, as time; `None`: just enough for the
    /// head switch.
    pub track_skew_ns: Option<Nanos>,
    /// The same between cylinders; `None`: just enough for the seek.
    pub cylinder_skew_ns: Option<Nanos>,
}

/// How the arm moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmConfig {
    /// Seek to the next cylinder.
    pub track_to_track_ns: Nanos,
    /// Mean over all pairs of cylinders.
    pub average_seek_ns: Nanos,
    /// Seek over all cylinders.
    pub full_stroke_ns: Nanos,
    /// From one head to another on a cylinder.
    pub head_switch_ns: Nanos,
    /// Longer settling before a write than before a read.
    pub write_settle_ns: Nanos,
}

/// The cache of reads: segments that each hold a stretch of consecutive sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadCacheConfig {
    /// Bytes in all; 0: neither cache nor read-ahead.
    pub size_bytes: u64,
    /// Segments.
    pub segments: u32,
}

/// The cache of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteCacheConfig {
    /// Bytes.
    pub size_bytes: u64,
    /// Extents that it keeps track of: the writes among which the scheduler chooses.
    pub entries: u32,
    /// Writes are acknowledged from the cache.
    pub write_back: bool,
}

/// Which of several waiting accesses comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduling {
    /// The one whose first sector is under the head first: seek and rotation (SPTF).
    ShortestPositioning,
    /// The one that has waited longest.
    FirstCome,
}

/// Electrical power in mW: all the time (`idle_mw`, `spin_mw`), or more while something happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskPowerConfig {
    /// Electronics.
    pub idle_mw: u32,
    /// Spindle motor.
    pub spin_mw: u32,
    /// The arm moves.
    pub seek_mw: u32,
    /// The heads read.
    pub read_mw: u32,
    /// The heads write.
    pub write_mw: u32,
    /// The firmware works.
    pub firmware_mw: u32,
    /// The link moves data.
    pub link_mw: u32,
}

/// A whole hard disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HardDiskConfig {
    /// Sectors of 512 bytes.
    pub capacity_sectors: u64,
    /// Commands that may be outstanding (NCQ depth).
    pub queue_depth: u32,
    /// Host link.
    pub link: LinkConfig,
    /// Firmware.
    pub firmware: FirmwareConfig,
    /// Tracks and zones.
    pub platters: PlatterConfig,
    /// Arm.
    pub arm: ArmConfig,
    /// Cache of reads.
    pub read_cache: ReadCacheConfig,
    /// Cache of writes.
    pub write_cache: WriteCacheConfig,
    /// Order of accesses.
    pub scheduling: Scheduling,
    /// An access that has waited longer than this comes first; 0: none does.
    pub deadline_ns: Nanos,
    /// Power.
    pub power: DiskPowerConfig,
}

impl HardDiskConfig {
    /// Time of one revolution.
    #[must_use]
    pub fn revolution_ns(&self) -> Nanos {
        let rpm = u64::from(self.platters.rpm.max(1));
        (60 * drivelab_sim::time::SECOND + rpm / 2) / rpm
    }

    /// Checks every value by itself; what depends on several is checked where it is computed.
    ///
    /// # Errors
    /// The first value that is not allowed: its key, the value, and what is.
    pub fn check(&self) -> Result<(), GeometryError> {
        let platters = &self.platters;
        let between = |key, value: u64, least: u64, most: u64| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(GeometryError::new(key, value, format!("must be from {least} to {most}")))
        };
        between("user_capacity_bytes", self.capacity_sectors * SECTOR_BYTES, SECTOR_BYTES, 1 << 50)?;
        between("controller.queue_depth", u64::from(self.queue_depth), 1, 65_536)?;
        let governed = u64::from(self.firmware.write_governor.commands_per_s);
        between("controller.write_governor_iops", governed, 0, 0)?;
        between("disk.rpm", u64::from(platters.rpm), 60, 100_000)?;
        between("disk.head_count", u64::from(platters.head_count), 1, 256)?;
        let track = u64::from(platters.outer_track_bytes);
        between("disk.outer_track_bytes", track, SECTOR_BYTES, 1 << 30)?;
        between("disk.zone_count", u64::from(platters.zone_count), 1, 1024)?;
        between("disk.zone_ratio_permille", u64::from(platters.zone_ratio_permille), 1000, 10_000)?;
        let piece = u64::from(PIECE_SECTORS) * SECTOR_BYTES;
        between("write_buffer.size_bytes", self.write_cache.size_bytes, piece, 1 << 36)?;
        between("write_buffer.entries", u64::from(self.write_cache.entries), 1, 65_536)?;
        let read = &self.read_cache;
        between("read_cache.segments", u64::from(read.segments), 1, 65_536)?;
        if read.size_bytes > 0 {
            between("read_cache.size_bytes", read.size_bytes, 2 * SECTOR_BYTES, 1 << 36)?;
            // Two sectors of each.
            between(
                "read_cache.segments",
                u64::from(read.segments),
                1,
                read.size_bytes / (2 * SECTOR_BYTES),
            )?;
        }
        Ok(())
    }
}
