//! What one job's requests experienced, by kind of command.

use drivelab_controller::{Completion, Op};
use drivelab_sim::{LatencyHistogram, Nanos};

use crate::bins;
use crate::busy::BusyTime;
use crate::latency_parts::LatencyParts;
use crate::requests::op_code;
use crate::series::Series;

/// One kind of command.
#[derive(Clone, Debug, Default)]
pub struct KindMeasurement {
    /// Sectors transferred or trimmed.
    pub sectors: u64,
    /// Latencies; their count is the number of commands.
    pub latency: LatencyHistogram,
    /// The parts of all latencies. Waiting in the host counts as queueing.
    pub parts: LatencyParts,
    /// In open loop: how much later than their arrival requests were handed to the drive.
    pub lateness: Option<LatencyHistogram>,
    /// Time during which at least one command of this kind was outstanding.
    pub busy: BusyTime,
}

/// All kinds of commands of one job, from the end of its ramp on.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// By the code of the operation: read, write, flush, trim.
    pub kinds: [KindMeasurement; 4],
    /// Over time.
    pub series: Series,
    /// Time during which at least one command of any kind was outstanding.
    pub busy: BusyTime,
}

impl Measurement {
    /// Nothing measured yet. `open_loop` keeps lateness too.
    #[must_use]
    pub fn new(start_ns: Nanos, interval_ns: Nanos, open_loop: bool) -> Self {
        let busy = BusyTime::new(start_ns);
        Self {
            // Made one by one: copies of empty histograms would be a megabyte of memory that few jobs touch.
            kinds: std::array::from_fn(|_| KindMeasurement {
                lateness: open_loop.then(LatencyHistogram::new),
                busy,
                ..KindMeasurement::default()
            }),
            series: Series::new(start_ns, interval_ns),
            busy,
        }
    }

    /// A command became outstanding: it was issued at `from_ns` (open loop: it arrived then).
    #[inline]
    pub fn begin(&mut self, op: Op, from_ns: Nanos) {
        self.busy.begin(from_ns);
        self.kinds[usize::from(op_code(op))].busy.begin(from_ns);
    }

    /// A command that became outstanding is done, whether it counts or not.
    #[inline]
    pub fn end(&mut self, op: Op, now_ns: Nanos) {
        self.busy.end(now_ns);
        self.kinds[usize::from(op_code(op))].busy.end(now_ns);
    }

    /// Counts a completion of a command that the job issued (open loop: that arrived) at `issued_ns`.
    #[inline]
    pub fn record(&mut self, completion: &Completion, issued_ns: Nanos) {
        let index = usize::from(op_code(completion.op));
        let latency_ns = completion.completed_ns - issued_ns;
        let kind = &mut self.kinds[index];
        kind.sectors += u64::from(completion.sector_count);
        kind.latency.record(latency_ns);
        let bin = bins::of(latency_ns);
        kind.parts.record(latency_ns, bin, &completion.split, completion.submitted_ns - issued_ns);
        self.series.record(completion.completed_ns, index, completion.sector_count, latency_ns, bin);
    }
}
