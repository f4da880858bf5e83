//! Requests as columns, and one of them.

use drivelab_sim::Nanos;
use drivelab_sim::table::reserve_in_huge_pages;

/// Declares the log as columns and one request as a row, with the same fields.
macro_rules! log {
    ($($(#[$text:meta])* $field:ident: $type:ty),+ $(,)?) => {
        /// Requests in the order in which they were done, as columns of one length.
        #[derive(Clone, Debug, Default)]
        pub struct RequestLog {
            $($(#[$text])* pub $field: Vec<$type>),+
        }

        /// One request.
        #[derive(Clone, Copy, Debug)]
        pub(super) struct Row {
            $(pub(super) $field: $type),+
        }

        impl RequestLog {
            /// Room for so many.
            pub(super) fn with_capacity(rows: usize) -> Self {
                Self { $($field: Vec::with_capacity(rows)),+ }
            }

            pub(super) fn extend(&mut self, rows: &[Row]) {
                $(
                    reserve_in_huge_pages(&mut self.$field, rows.len());
                    self.$field.extend(rows.iter().map(|row| row.$field));
                )+
            }
        }
    };
}

log! {
    /// Which of the run's jobs.
    job: u32,
    /// 0 read, 1 write, 2 flush, 3 trim.
    op: u8,
    /// First byte.
    offset_bytes: u64,
    /// Bytes; 0 for flushes.
    length_bytes: u64,
    /// 0 done, 1 uncorrectable, 2 refused, 3 failed.
    outcome: u8,
    /// From when it counts: its job issued it, or (open loop) it arrived. This and the times below are since the log's
    /// origin.
    issued_ns: Nanos,
    /// The drive was handed it.
    submitted_ns: Nanos,
    /// The host heard that it was done.
    completed_ns: Nanos,
    /// From issued to completed.
    latency_ns: Nanos,
    /// Parts of its latency, which add up to it; waiting in the host counts as queueing.
    queueing_ns: Nanos,
    /// See [`drivelab_controller::LatencySplit::link_ns`].
    link_ns: Nanos,
    /// See [`drivelab_controller::LatencySplit::firmware_ns`].
    firmware_ns: Nanos,
    /// See [`drivelab_controller::LatencySplit::flash_ns`].
    flash_ns: Nanos,
    /// See [`drivelab_controller::LatencySplit::cleaning_ns`].
    cleaning_ns: Nanos,
}

impl RequestLog {
    /// Number of requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }
}
