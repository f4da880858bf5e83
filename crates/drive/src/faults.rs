//! Faults of a drive: plan files, what a drive is told at run time, and what it says about its health.

use std::cmp::Ordering;

use drivelab_controller::faults::{Fault, FaultSheet};
use drivelab_controller::{
    Device, FaultCounters, FaultPlan, PlanSheet, PowerCut, SECTOR_BYTES, Scheduled, SolidStateDrive,
    Unreadable,
};
use drivelab_ftl::{BadBlocks, Mapping};
use drivelab_sim::Nanos;
use serde_json::{Map, Value, json};

use crate::by_kind;
use crate::drive::Drive;
use crate::engine::Engine;
use crate::flash_report;

/// Why an array or a hard disk has no faults.
const NO_FLASH: &str =
    "faults: not possible on this drive: only flash drives have them, and no arrays of them yet";

/// The same expression for a flash drive of whatever scheme; otherwise another one.
macro_rules! flash {
    ($engine:expr, $drive:ident => $work:expr, $otherwise:expr) => {
        by_kind!($engine, $drive => $work, _disk => $otherwise, _array => $otherwise)
    };
}

/// A plan from JSON.
///
/// # Errors
/// One line that names key, value and what is allowed.
pub fn plan_from_json(value: &Value) -> Result<FaultPlan, String> {
    let sheet: PlanSheet = serde_path_to_error::deserialize(value).map_err(|error| error.to_string())?;
    FaultPlan::try_from(sheet).map_err(|error| error.to_string())
}

/// A single fault from JSON.
///
/// # Errors
/// One line that names key, value and what is allowed.
pub fn fault_from_json(value: &Value) -> Result<Fault, String> {
    let sheet: FaultSheet = serde_path_to_error::deserialize(value).map_err(|error| error.to_string())?;
    Fault::try_from(sheet).map_err(|error| error.to_string())
}

impl Drive {
    /// These faults happen from now on, instead of any others. What has failed already stays so.
    ///
    /// # Errors
    /// A fault that this drive can't have, in one line that names it.
    pub fn set_faults(&mut self, plan: &FaultPlan) -> Result<(), String> {
        self.check_ranges(plan)?;
        flash!(self.engine_mut(), drive => drive.set_faults(plan), Err(NO_FLASH.to_owned()))
    }

    /// The faults of this plan happen too; its seed counts only if there were none before. Numbers of commands and
    /// operations go on.
    ///
    /// # Errors
    /// As [`Self::set_faults`].
    pub fn add_faults(&mut self, plan: &FaultPlan) -> Result<(), String> {
        self.check_ranges(plan)?;
        flash!(self.engine_mut(), drive => drive.add_faults(plan), Err(NO_FLASH.to_owned()))
    }

    /// Whether the ranges of a plan lie in the drive, and writes can go so far astray.
    fn check_ranges(&self, plan: &FaultPlan) -> Result<(), String> {
        let capacity = self.capacity_sectors() * SECTOR_BYTES;
        for (index, fault) in plan.faults.iter().enumerate() {
            let first = fault.range.map_or(0, |range| range.first * SECTOR_BYTES);
            if first >= capacity {
                return Err(format!(
                    "faults[{index}].offset_bytes = {first}: must be less than the drive's capacity, {capacity} bytes"
                ));
            }
            let most = capacity - first;
            if let Some(length) = fault.sheet.length_bytes.filter(|&length| length > most) {
                return Err(format!(
                    "faults[{index}].length_bytes = {length}: must be at most {most}, what the drive's capacity of \
                     {capacity} bytes has from offset_bytes = {first} on"
                ));
            }
            let is_far = |distance: &i64| distance.unsigned_abs() >= capacity;
            if let Some(distance) = fault.sheet.distance_bytes.filter(is_far) {
                return Err(format!(
                    "faults[{index}].distance_bytes = {distance}: must be less than the drive's capacity, {capacity} \
                     bytes, whatever its sign"
                ));
            }
        }
        Ok(())
    }

    /// No more faults happen. What has failed stays so.
    pub fn clear_faults(&mut self) {
        flash!(self.engine_mut(), drive => drive.clear_faults(), ());
    }

    /// The faults that may happen, as they were given, each with `happened`: how often it has.
    #[must_use]
    pub fn faults(&self) -> Value {
        let list = flash!(self.engine(), drive => drive.faults(), Vec::new());
        let row = |(sheet, happened): (FaultSheet, u64)| {
            let mut row = serde_json::to_value(sheet).unwrap_or_default();
            row["happened"] = happened.into();
            row
        };
        list.into_iter().map(row).collect()
    }

    /// Where the plan cuts the power first, if it does. The owner of the drive carries it out.
    #[must_use]
    pub fn power_cut(&self) -> Option<PowerCut> {
        flash!(self.engine(), drive => drive.power_cut(), None)
    }

    /// Flash operations since power-on, in durable mode.
    #[must_use]
    pub fn flash_operations(&self) -> u64 {
        flash!(self.engine(), drive => drive.flash_operations(), 0)
    }

    /// Sectors that reads could not give back since this was last asked, of commands whose completion says so.
    pub fn take_unreadable(&mut self) -> Vec<Unreadable> {
        flash!(self.engine_mut(), drive => drive.take_unreadable(), Vec::new())
    }

    /// What lies in flash becomes older by this, without anything else happening. Only drives with bit errors notice.
    pub fn age(&mut self, duration_ns: Nanos) {
        self.engine_mut().age(duration_ns);
    }

    /// Whether writes and trims are refused.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        is_read_only(self.engine())
    }

    /// What has gone wrong since power-on on a flash drive; of an array see [`Self::smart`].
    #[must_use]
    pub fn fault_counters(&self) -> FaultCounters {
        flash!(self.engine(), drive => drive.fault_counters(), FaultCounters::default())
    }

    /// Counters and health as one flat JSON object: what a drive tells by SMART, of an array what its members tell, put
    /// together. Cumulative values count since power-on; erase counts and retired blocks over the drive's life. What a
    /// drive doesn't have is null.
    #[must_use]
    pub fn smart(&self) -> Value {
        let mut facts = self.counters();
        let mut parts = Parts::default();
        parts.add(self.engine());
        if let (Some(health), Value::Object(facts)) = (parts.joined(), &mut facts) {
            let host_bytes = facts.get("host_write_bytes").and_then(Value::as_f64).unwrap_or(0.0);
            let flash_bytes = health["flash_write_bytes"].as_f64();
            let amplification = flash_bytes.filter(|_| host_bytes > 0.0).map(|bytes| bytes / host_bytes);
            facts.extend(health);
            facts.insert("erase_count_histogram".to_owned(), erase_histogram(&parts.erase_counts));
            facts.insert("write_amplification".to_owned(), amplification.into());
            facts.insert("trim_unit_sectors".to_owned(), self.engine().trim_unit_sectors().into());
        }
        facts
    }
}

/// Whether writes and trims are refused, of an array by one of its members at least.
fn is_read_only(engine: &Engine) -> bool {
    by_kind!(
        engine,
        flash => flash.is_read_only(),
        _disk => false,
        array => array.members().any(|member| is_read_only(member.device())),
    )
}

/// Health of each flash drive in a drive: one, or the members of an array.
#[derive(Default)]
struct Parts {
    healths: Vec<Map<String, Value>>,
    erase_counts: Vec<u32>,
}

impl Parts {
    fn add(&mut self, engine: &Engine) {
        by_kind!(
            engine,
            flash => {
                self.healths.push(health(flash));
                self.erase_counts.extend(flash.mapping().flash().erase_counts());
            },
            _disk => {},
            array => array.members().for_each(|member| self.add(member.device())),
        );
    }

    /// Sums; of what is true or false whether it is of one of them, of reasons the first, of times the largest, and of
    /// spare blocks those of the drive that has the least of its own left: the array ends with it. What one of them
    /// doesn't know nobody knows of all. `None`: there is no flash.
    fn joined(&self) -> Option<Map<String, Value>> {
        let (first, others) = self.healths.split_first()?;
        let mut all = first.clone();
        for (key, value) in others.iter().flatten() {
            let known = all.entry(key.clone()).or_insert(Value::Null);
            *known = match (&*known, value) {
                (Value::Bool(one), Value::Bool(other)) => (*one || *other).into(),
                (one @ Value::String(_), _) => one.clone(),
                (_, other @ Value::String(_)) => other.clone(),
                (one, other) => match (one.as_u64(), other.as_u64()) {
                    (Some(one), Some(other)) if key == "power_on_ns" => one.max(other).into(),
                    (Some(one), Some(other)) => one.saturating_add(other).into(),
                    _ => Value::Null,
                },
            };
        }
        let left = |health: &&Map<String, Value>| {
            Some(health["spare_blocks"].as_f64()? / health["spare_blocks_new"].as_f64()?)
        };
        let known = self.healths.iter().filter(|health| left(health).is_some());
        if let Some(least) =
            known.min_by(|one, other| left(one).partial_cmp(&left(other)).unwrap_or(Ordering::Equal))
        {
            for key in ["spare_blocks", "spare_blocks_new"] {
                all.insert(key.to_owned(), least[key].clone());
            }
        }
        Some(all)
    }
}

/// How many blocks have been erased how often, in at most 16 ranges of the same width: the lowest count of all, how many
/// counts a range has, and the blocks in each.
#[must_use]
pub fn erase_histogram(counts: &[u32]) -> Value {
    const RANGES: u32 = 16;
    let least = counts.iter().copied().min().unwrap_or(0);
    let most = counts.iter().copied().max().unwrap_or(0);
    let width = (most - least + 1).div_ceil(RANGES);
    let mut blocks = vec![0u32; ((most - least) / width + 1) as usize];
    for &count in counts {
        blocks[((count - least) / width) as usize] += 1;
    }
    json!({ "first": least, "width": width, "blocks": blocks })
}

/// Health of a flash drive.
fn health<M: Scheduled>(drive: &SolidStateDrive<M>) -> Map<String, Value> {
    let mapping = drive.mapping();
    let layout = mapping.layout();
    let bad = mapping.bad_blocks();
    let program_bytes = u64::from(layout.geometry.program_bytes()) * u64::from(layout.pages_per_unit);
    let log_bytes = drive.log_pages() * program_bytes;
    let new = bad.map(BadBlocks::spare_blocks_new).or_else(|| mapping.spare_blocks_new());
    let (host, map) = flash_report::slc_programs(drive);
    let less = (host + map) * (program_bytes - flash_report::slc_page_bytes(drive));
    let flash_bytes = mapping.counters().programs() * program_bytes - less + log_bytes;
    let health = json!({
        "block_count": layout.block_count(),
        "retired_blocks": bad.map_or(0, BadBlocks::retired),
        "spare_blocks": bad.map(BadBlocks::spare_blocks).or(new),
        "spare_blocks_new": new,
        "read_only": drive.is_read_only(),
        "read_only_reason": drive.read_only_reason(),
        "program_bytes_log": log_bytes,
        "flash_write_bytes": flash_bytes,
        "power_on_ns": drive.now_ns(),
    });
    let counters = serde_json::to_value(drive.fault_counters()).unwrap_or_default();
    let parts = [health, counters].into_iter().filter_map(|part| match part {
        Value::Object(part) => Some(part),
        _ => None,
    });
    parts.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_takes_nothing_new_for_the_reason_of_the_member_that_does_not() {
        let whole =
            json!({ "read_only": false, "read_only_reason": null, "spare_blocks": 9, "spare_blocks_new": 9 });
        let worn = json!({
            "read_only": true, "read_only_reason": "no room on a die", "spare_blocks": 2, "spare_blocks_new": 9
        });
        for healths in [[&whole, &worn], [&worn, &whole]] {
            let healths = healths.map(|health| health.as_object().cloned().unwrap()).to_vec();
            let joined = Parts { healths, erase_counts: Vec::new() }.joined().unwrap();
            assert_eq!(Value::from(joined), worn);
        }
    }
}
