//! From a sector's number to its place: zone, cylinder, head, and the angle at which it passes.
//!
//! Sectors are numbered along a track, then over the heads of a cylinder, then cylinder by cylinder from the rim
//! inwards. Bits have the same length everywhere, so a track holds as many sectors as its radius allows; tracks of a
//! zone hold the same number, which falls evenly from the outermost zone to the innermost.

use drivelab_controller::SECTOR_BYTES;
use drivelab_nand::GeometryError;
use drivelab_sim::Nanos;
use drivelab_sim::time::SECOND;
use serde::{Deserialize, Serialize};

use super::config::HardDiskConfig;
use super::seek::{CYLINDERS_MAX, CYLINDERS_MIN};

/// A band of cylinders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// First sector.
    pub first_lba: u64,
    /// Outermost cylinder.
    pub first_cylinder: u32,
    /// Cylinders.
    pub cylinder_count: u32,
    /// Sectors of each track.
    pub sectors_per_track: u32,
}

/// Where a sector is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Cylinder, from the rim.
    pub cylinder: u32,
    /// Head.
    pub head: u32,
    /// Sector on the track.
    pub sector: u32,
    /// Sectors of the track.
    pub sectors_per_track: u32,
    /// When its beginning passes the head, after the beginning of a revolution.
    pub angle_ns: Nanos,
}

/// All tracks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Geometry {
    zones: Vec<Zone>,
    heads: u32,
    cylinders: u32,
    revolution_ns: Nanos,
    track_skew_ns: Nanos,
    /// Skew from the first track of a cylinder to the first of the next.
    cylinder_turn_ns: Nanos,
}

impl Geometry {
    /// Lays out the tracks; `config` has been checked.
    ///
    /// # Errors
    /// Capacity and tracks that need more cylinders than are allowed.
    pub fn new(config: &HardDiskConfig) -> Result<Self, GeometryError> {
        let platters = &config.platters;
        let heads = platters.head_count;
        let sectors = zone_sectors(config);
        if sectors.last() == Some(&0) {
            let allowed = "leaves no sector on the innermost tracks";
            return Err(GeometryError::new(
                "disk.zone_ratio_permille",
                platters.zone_ratio_permille,
                allowed,
            ));
        }
        let cylinders = cylinders_for(config.capacity_sectors, heads, &sectors);
        if !(CYLINDERS_MIN..=CYLINDERS_MAX).contains(&cylinders) {
            let bytes = config.capacity_sectors * SECTOR_BYTES;
            let allowed = format!(
                "must fill {CYLINDERS_MIN} to {CYLINDERS_MAX} cylinders, and fills {cylinders} of disk.head_count = \
                 {heads} tracks from disk.outer_track_bytes = {} on",
                platters.outer_track_bytes
            );
            return Err(GeometryError::new("user_capacity_bytes", bytes, allowed));
        }
        let mut first_lba = 0;
        let zones = zone_borders(cylinders, sectors.len() as u32)
            .zip(&sectors)
            .map(|((first_cylinder, end), &sectors_per_track)| {
                let cylinder_count = end - first_cylinder;
                let zone = Zone { first_lba, first_cylinder, cylinder_count, sectors_per_track };
                first_lba += u64::from(cylinder_count) * u64::from(heads) * u64::from(sectors_per_track);
                zone
            })
            .filter(|zone| zone.cylinder_count > 0)
            .collect();
        // A stream of writes must not miss its next sector either, so the skew covers their settling.
        let settle_ns = config.arm.write_settle_ns;
        let track_skew_ns = platters.track_skew_ns.unwrap_or(config.arm.head_switch_ns + settle_ns);
        let seek_ns = config.arm.track_to_track_ns.max(config.arm.head_switch_ns);
        let cylinder_skew_ns = platters.cylinder_skew_ns.unwrap_or(seek_ns + settle_ns);
        let cylinder_turn_ns = u64::from(heads - 1) * track_skew_ns + cylinder_skew_ns;
        let revolution_ns = config.revolution_ns();
        Ok(Self { zones, heads, cylinders, revolution_ns, track_skew_ns, cylinder_turn_ns })
    }

    /// Cylinders.
    #[must_use]
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// Zones from the rim inwards.
    #[must_use]
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// Time of one revolution.
    #[inline]
    #[must_use]
    pub fn revolution_ns(&self) -> Nanos {
        self.revolution_ns
    }

    /// Place of a sector inside the drive.
    #[inline]
    #[must_use]
    pub fn place(&self, lba: u64) -> Place {
        let zone = &self.zones[self.zones.partition_point(|zone| zone.first_lba <= lba) - 1];
        let within = lba - zone.first_lba;
        let track = within / u64::from(zone.sectors_per_track);
        let sector = (within - track * u64::from(zone.sectors_per_track)) as u32;
        let inner = track as u32 / self.heads;
        let head = track as u32 - inner * self.heads;
        let cylinder = zone.first_cylinder + inner;
        let skew = u64::from(cylinder) * self.cylinder_turn_ns + u64::from(head) * self.track_skew_ns;
        let angle = skew + self.offset_ns(sector, zone.sectors_per_track);
        Place {
            cylinder,
            head,
            sector,
            sectors_per_track: zone.sectors_per_track,
            angle_ns: angle % self.revolution_ns,
        }
    }

    /// Time from the first sector of a track to this one. The last one's end is exactly a revolution.
    #[inline]
    #[must_use]
    pub fn offset_ns(&self, sector: u32, sectors_per_track: u32) -> Nanos {
        u64::from(sector) * self.revolution_ns / u64::from(sectors_per_track)
    }

    /// Time to transfer so many sectors of one track from this place on.
    #[inline]
    #[must_use]
    pub fn transfer_ns(&self, place: &Place, sectors: u32) -> Nanos {
        debug_assert!(place.sector + sectors <= place.sectors_per_track);
        self.offset_ns(place.sector + sectors, place.sectors_per_track)
            - self.offset_ns(place.sector, place.sectors_per_track)
    }

    /// Sectors whose end has passed `elapsed_ns` after this place's beginning did, or is about to: the one under the
    /// head counts.
    #[must_use]
    pub fn sectors_begun(&self, place: &Place, elapsed_ns: Nanos) -> u32 {
        let from = self.offset_ns(place.sector, place.sectors_per_track);
        let passed = (from + elapsed_ns) * u64::from(place.sectors_per_track) / self.revolution_ns;
        let mut sectors = (passed as u32).saturating_sub(place.sector);
        // Sector borders are rounded down: correct by at most one either way.
        while sectors > 0 && self.transfer_ns_unbounded(place, sectors - 1) >= elapsed_ns {
            sectors -= 1;
        }
        while self.transfer_ns_unbounded(place, sectors) < elapsed_ns {
            sectors += 1;
        }
        sectors
    }

    fn transfer_ns_unbounded(&self, place: &Place, sectors: u32) -> Nanos {
        self.offset_ns(place.sector + sectors, place.sectors_per_track)
            - self.offset_ns(place.sector, place.sectors_per_track)
    }

    /// Bytes a second of a stream over tracks of so many sectors.
    #[must_use]
    pub fn media_bytes_per_s(&self, sectors_per_track: u32) -> u64 {
        let bytes = u64::from(self.heads) * u64::from(sectors_per_track) * SECTOR_BYTES;
        (u128::from(bytes) * u128::from(SECOND) / u128::from(self.cylinder_ns())) as u64
    }

    /// Time to transfer a cylinder and come to the next.
    fn cylinder_ns(&self) -> Nanos {
        u64::from(self.heads) * self.revolution_ns + self.cylinder_turn_ns
    }

    /// Time of one pass over all tracks at media rate.
    #[must_use]
    pub fn pass_ns(&self) -> Nanos {
        u64::from(self.cylinders) * self.cylinder_ns()
    }
}

/// Sectors per track of each zone, from the rim inwards.
fn zone_sectors(config: &HardDiskConfig) -> Vec<u32> {
    let platters = &config.platters;
    let outer = u64::from(platters.outer_track_bytes);
    let fall = outer - outer * 1000 / u64::from(platters.zone_ratio_permille);
    let steps = u64::from(platters.zone_count - 1).max(1);
    let sectors = |zone: u64| ((outer - fall * zone / steps) / SECTOR_BYTES) as u32;
    (0..u64::from(platters.zone_count)).map(sectors).collect()
}

/// First and one past the last cylinder of every zone: equal shares.
fn zone_borders(cylinders: u32, zones: u32) -> impl Iterator<Item = (u32, u32)> {
    let border = move |zone: u32| (u64::from(cylinders) * u64::from(zone) / u64::from(zones)) as u32;
    (0..zones).map(move |zone| (border(zone), border(zone + 1)))
}

/// The fewest cylinders that hold the capacity.
fn cylinders_for(capacity_sectors: u64, heads: u32, sectors: &[u32]) -> u32 {
    let zones = sectors.len() as u32;
    let holds = |cylinders: u32| {
        let tracks = zone_borders(cylinders, zones).zip(sectors);
        let per_head: u64 =
            tracks.map(|((first, end), &on_track)| u64::from(end - first) * u64::from(on_track)).sum();
        per_head * u64::from(heads) >= capacity_sectors
    };
    let (mut low, mut high) = (0, CYLINDERS_MAX + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}
