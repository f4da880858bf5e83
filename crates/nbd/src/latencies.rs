//! How long commands took, in the drive's own time.

use std::collections::BTreeMap;

use drivelab_controller::{Completion, Op};
use drivelab_sim::{LatencyHistogram, Nanos};
use serde_json::{Value, json};

/// Latencies in the drive's own time.
#[derive(Default)]
pub(crate) struct Latencies([LatencyHistogram; 4]);

impl Latencies {
    pub(crate) fn record(&mut self, completion: &Completion) {
        self.0[completion.op as usize]
            .record(completion.completed_ns.saturating_sub(completion.submitted_ns));
    }

    /// Reads and writes together: bins as (highest latency of the bin in ns, count), ascending, and the sum in ns.
    pub(crate) fn transfers(&self) -> (Vec<(Nanos, u64)>, u128) {
        let both = [Op::Read, Op::Write].map(|op| &self.0[op as usize]);
        let mut bins = BTreeMap::new();
        for (to_ns, count) in both.iter().flat_map(|latency| latency.bins()) {
            *bins.entry(to_ns).or_default() += count;
        }
        (bins.into_iter().collect(), both.iter().map(|latency| latency.sum_ns()).sum())
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
