//! What a server has done: requests, bytes, latencies on the server's clock, connections.

use drivelab_sim::LatencyHistogram;
use serde_json::{Map, Value, json};

use crate::export::{Errno, RequestKind};
use crate::pending::Entry;

const KINDS: [(RequestKind, &str); 6] = [
    (RequestKind::Read, "read"),
    (RequestKind::Write, "write"),
    (RequestKind::Flush, "flush"),
    (RequestKind::Trim, "trim"),
    (RequestKind::WriteZeroes, "write_zeroes"),
    (RequestKind::Cache, "cache"),
];

#[derive(Default)]
struct Counts {
    requests: u64,
    bytes: u64,
    errors: u64,
    forced: u64,
    latency: LatencyHistogram,
}

/// Counters since the server's start.
#[derive(Default)]
pub struct Statistics {
    kinds: [Counts; KINDS.len()],
    /// Block status requests.
    pub block_status: u64,
    /// Commands that needed no export: malformed, out of range, not offered, or empty.
    pub answered_at_once: u64,
    /// Connections accepted.
    pub connections: u64,
    /// Connections ended by the server: slow handshakes, stalled clients.
    pub connections_dropped: u64,
    /// Bytes from clients.
    pub received_bytes: u64,
    /// Bytes to clients.
    pub sent_bytes: u64,
}

impl Statistics {
    /// Counts a finished request; latencies are of those that were done, for to refuse takes a drive no time.
    pub fn record(&mut self, entry: &Entry, result: Result<&[u8], Errno>, now_ns: u64) {
        let counts = &mut self.kinds[entry.kind as usize];
        counts.requests += 1;
        counts.forced += u64::from(entry.fua);
        match result {
            Ok(_) => {
                counts.bytes += u64::from(entry.length);
                counts.latency.record(now_ns.saturating_sub(entry.submitted_ns));
            }
            Err(_) => counts.errors += 1,
        }
    }

    /// All of it as a JSON object; latencies are null where there were none.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let mut requests = Map::new();
        for (kind, name) in KINDS {
            let counts = &self.kinds[kind as usize];
            let latency = &counts.latency;
            let percentiles = [50.0, 90.0, 99.0, 99.9, 99.99]
                .map(|percent| (percent.to_string(), json!(latency.percentile_ns(percent))));
            let entry = json!({
                "count": counts.requests,
                "bytes": counts.bytes,
                "errors": counts.errors,
                "fua": counts.forced,
                "latency_ns": {
                    "min": latency.min_ns(),
                    "mean": latency.mean_ns(),
                    "max": latency.max_ns(),
                    "percentile": Map::from_iter(percentiles),
                },
            });
            requests.insert(name.to_owned(), entry);
        }
        Map::from_iter([
            ("requests".to_owned(), Value::Object(requests)),
            ("block_status_requests".to_owned(), json!(self.block_status)),
            ("answered_at_once".to_owned(), json!(self.answered_at_once)),
            ("connections_accepted".to_owned(), json!(self.connections)),
            ("connections_dropped".to_owned(), json!(self.connections_dropped)),
            ("received_bytes".to_owned(), json!(self.received_bytes)),
            ("sent_bytes".to_owned(), json!(self.sent_bytes)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending::ClientId;

    #[test]
    fn kinds_are_counted_where_their_names_are() {
        for (index, (kind, _)) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, index);
        }
        let client = ClientId { index: 0, generation: 0 };
        let entry = Entry {
            client,
            cookie: 0,
            kind: RequestKind::Trim,
            offset: 0,
            length: 512,
            fua: false,
            submitted_ns: 100,
        };
        let mut statistics = Statistics::default();
        statistics.record(&entry, Ok(&[]), 350);
        statistics.record(&Entry { fua: true, ..entry }, Err(Errno::Io), 150);
        let told = Value::Object(statistics.to_json());
        assert_eq!(told["requests"]["trim"]["count"], 2);
        assert_eq!(told["requests"]["trim"]["bytes"], 512);
        assert_eq!(told["requests"]["trim"]["errors"], 1);
        assert_eq!(told["requests"]["trim"]["fua"], 1);
        assert_eq!(told["requests"]["trim"]["latency_ns"]["max"], 250);
        assert_eq!(told["requests"]["trim"]["latency_ns"]["percentile"]["50"], 250);
        assert_eq!(told["requests"]["read"]["latency_ns"]["mean"], Value::Null);
    }
}
