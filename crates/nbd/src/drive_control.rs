//! What a served drive answers on its control socket, beside what the server does.

use drivelab_controller::FaultPlan;
use drivelab_controller::faults::DEFAULT_SEED;
use drivelab_drive::faults;
use serde_json::{Map, Value, json};

use crate::control::{self, Control};
use crate::drive_export::DriveExport;
use crate::watching;

impl Control for DriveExport {
    fn handle(&mut self, request: Value) -> Value {
        match request["command"].as_str() {
            Some("smart") => control::done(self.facts()),
            Some("layout") => control::done(watching::layout(self.drive.drive())),
            Some("look") => match request["viewer"].as_u64() {
                Some(viewer) => {
                    control::done(self.watching.look(viewer, self.drive.drive(), &self.latencies))
                }
                None => control::refused("viewer: missing; a whole number is wanted"),
            },
            Some("block") => match watching::block(&request, self.drive.drive()) {
                Value::Null => control::refused("member, die, block: the drive has no such block"),
                pages => control::done(pages),
            },
            Some("power-cut") => {
                self.drive.cut();
                self.end();
                control::done(json!({}))
            }
            Some("fault") => {
                let fault = faults::fault_from_json(&request["fault"]);
                let plan = fault.map(|fault| FaultPlan {
                    seed: DEFAULT_SEED,
                    faults: vec![fault],
                    spare_blocks: None,
                });
                self.add_faults(plan, true)
            }
            Some("fault-plan") => self.add_faults(faults::plan_from_json(&request["plan"]), false),
            Some("faults") => control::done(self.faults()),
            Some("clear-faults") => {
                self.drive.clear_faults();
                control::done(json!({}))
            }
            _ => control::unknown(&request),
        }
    }

    fn statistics(&self) -> Map<String, Value> {
        Map::from_iter([
            ("flash_operations".to_owned(), self.drive.drive().flash_operations().into()),
            ("latency_ns".to_owned(), self.latencies.to_json()),
            ("fua_requests".to_owned(), self.fua_requests.into()),
            ("late_ns".to_owned(), self.lateness()),
        ])
    }
}

impl DriveExport {
    /// How much later than in the model answers left, as JSON; null where there were none.
    #[must_use]
    pub fn lateness(&self) -> Value {
        let late = &self.lateness;
        json!({ "mean": late.mean_ns(), "p99": late.percentile_ns(99.0), "max": late.max_ns() })
    }

    /// More faults; the answer to whom gave them.
    fn add_faults(&mut self, plan: Result<FaultPlan, String>, is_alone: bool) -> Value {
        match plan.and_then(|plan| self.drive.add_faults(&plan)) {
            Ok(()) => {
                if self.drive.was_cut() {
                    self.end();
                }
                control::done(json!({}))
            }
            // Of a fault on its own the place is known.
            Err(error) => control::refused(error.replacen("faults[0].", "", usize::from(is_alone))),
        }
    }

    /// The faults that may happen, and how far the drive has come.
    fn faults(&self) -> Value {
        let drive = self.drive.drive();
        json!({
            "faults": drive.faults(),
            "flash_operations": drive.flash_operations(),
            "read_only": drive.is_read_only(),
        })
    }
}
