//! Where the heads are, and when they reach a sector.
//!
//! The angle of the platters is the time modulo one revolution. So rotational delay is never drawn at random: it is
//! what is missing until the sector comes round when the arm has arrived.

use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

use super::config::ArmConfig;
use super::geometry::{Geometry, Place};
use super::seek::SeekCurve;

/// The arm with its heads.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Arm {
    curve: SeekCurve,
    head_switch_ns: Nanos,
    write_settle_ns: Nanos,
    cylinder: u32,
    head: u32,
    /// From when on it may be sent elsewhere.
    pub free_ns: Nanos,
}

/// How a place is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approach {
    /// When the arm starts.
    pub start_ns: Nanos,
    /// When it has settled there.
    pub arrive_ns: Nanos,
    /// When the sector comes round.
    pub begin_ns: Nanos,
}

/// How far a stretch of sectors has been read.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// One past the last sector read.
    pub lba: u64,
    /// The arm as it is then.
    pub arm: Arm,
    /// Time spent on moving.
    pub seek_ns: Nanos,
    /// Time spent on waiting for sectors.
    pub rotation_ns: Nanos,
    /// Time spent on reading.
    pub transfer_ns: Nanos,
    /// Moves.
    pub seeks: u64,
}

impl Arm {
    /// An arm at the rim.
    #[must_use]
    pub fn new(curve: SeekCurve, config: &ArmConfig) -> Self {
        Self {
            curve,
            head_switch_ns: config.head_switch_ns,
            write_settle_ns: config.write_settle_ns,
            cylinder: 0,
            head: 0,
            free_ns: 0,
        }
    }

    /// Time to move to a place: the arm and the switch of heads at the same time; none on the same track.
    #[inline]
    fn move_ns(&self, place: &Place, write: bool) -> Nanos {
        let switch_ns = if place.head == self.head { 0 } else { self.head_switch_ns };
        if place.cylinder == self.cylinder && place.head == self.head {
            return 0;
        }
        let settle_ns = if write { self.write_settle_ns } else { 0 };
        self.curve.seek_ns(place.cylinder.abs_diff(self.cylinder)).max(switch_ns) + settle_ns
    }

    /// How a place would be reached by an arm that is told at `now`.
    #[inline]
    #[must_use]
    pub fn approach(&self, geometry: &Geometry, place: &Place, write: bool, now: Nanos) -> Approach {
        let start_ns = self.free_ns.max(now);
        let arrive_ns = start_ns + self.move_ns(place, write);
        let revolution_ns = geometry.revolution_ns();
        let angle_ns = arrive_ns % revolution_ns;
        let missing_ns = if place.angle_ns >= angle_ns {
            place.angle_ns - angle_ns
        } else {
            place.angle_ns + revolution_ns - angle_ns
        };
        Approach { start_ns, arrive_ns, begin_ns: arrive_ns + missing_ns }
    }

    /// The arm has transferred sectors of this place's track until `end_ns`.
    #[inline]
    pub fn stay_at(&mut self, place: &Place, end_ns: Nanos) {
        self.cylinder = place.cylinder;
        self.head = place.head;
        self.free_ns = end_ns;
    }

    /// Reads `lba..end` from `now` on, track by track, as far as it comes until `until`; a sector that is under the
    /// head then is read to its end.
    #[must_use]
    pub fn read(&self, geometry: &Geometry, mut lba: u64, end: u64, now: Nanos, until: Nanos) -> Progress {
        let mut arm = *self;
        let (mut seek_ns, mut rotation_ns, mut transfer_ns, mut seeks) = (0, 0, 0, 0);
        while lba < end {
            let place = geometry.place(lba);
            let approach = arm.approach(geometry, &place, false, now);
            if approach.start_ns >= until {
                break;
            }
            let moved_ns = approach.arrive_ns - approach.start_ns;
            seek_ns += moved_ns;
            seeks += u64::from(moved_ns > 0);
            if approach.begin_ns >= until {
                // On the way: it arrives before it can be sent elsewhere.
                arm.stay_at(&place, approach.arrive_ns);
                break;
            }
            rotation_ns += approach.begin_ns - approach.arrive_ns;
            let on_track = u64::from(place.sectors_per_track - place.sector).min(end - lba) as u32;
            let track_end = approach.begin_ns + geometry.transfer_ns(&place, on_track);
            let sectors = if track_end <= until {
                on_track
            } else {
                geometry.sectors_begun(&place, until - approach.begin_ns).min(on_track)
            };
            let took_ns = geometry.transfer_ns(&place, sectors);
            transfer_ns += took_ns;
            arm.stay_at(&place, approach.begin_ns + took_ns);
            lba += u64::from(sectors);
            if sectors < on_track {
                break;
            }
        }
        Progress { lba, arm, seek_ns, rotation_ns, transfer_ns, seeks }
    }
}
