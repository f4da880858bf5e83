//! How long commands took, in the drive's own time.

use drivelab_controller::Completion;
use drivelab_sim::LatencyHistogram;
use serde_json::{Value, json};

/// Latencies in the drive's own time.
#[derive(Default)]
pub(crate) struct Latencies([LatencyHistogram; 4]);

impl Latencies {
    pub(crate) fn record(&mut self, completion: &Completion) {
        self.0[completion.op as usize]
            .record(completion.completed_ns.saturating_sub(completion.submitted_ns));
    }

    pub fn to_json(&self) -> Value {
        const OPS: [&str; 4] = ["read", "write", "flush", "trim"];
        let told = OPS.iter().zip(&self.0).map(|(name, latency)| {
            let median_ns = latency.percentile_ns(50.0);
            (
                (*name).to_owned(),
                json!({ "median": median_ns, "mean": latency.mean_ns(), "max": latency.max_ns() }),
            )
        });
        Value::Object(told.collect())
    }
}
