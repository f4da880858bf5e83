//! The drive over time, while jobs run on it: what its gauges say at the end of every interval.

use drivelab_drive::Gauges;
use drivelab_sim::Nanos;
use serde::Serialize;

/// Most intervals kept; beyond, neighbours are merged and the width doubles. 20 MiB at most.
const INTERVALS_MAX: usize = 1 << 18;

/// What is known at the end of an interval.
#[derive(Clone, Copy, Debug)]
struct Sample {
    gauges: Gauges,
    /// Commands in the drive times ns, wrapping: differences count.
    outstanding_ns: u64,
}

/// Samples from the beginning of the measurement on.
#[derive(Clone, Debug)]
pub(crate) struct DriveSeries {
    start_ns: Nanos,
    interval_ns: Nanos,
    /// When the next sample is due.
    pub next_ns: Nanos,
    /// The first is of the beginning.
    samples: Vec<Sample>,
    /// Times at which commands left the drive less those at which they came, wrapping. With the time of those that are
    /// still there it is commands times ns.
    balance_ns: Nanos,
    outstanding: u32,
}

impl DriveSeries {
    /// Takes its first sample at `start_ns`.
    pub fn new(start_ns: Nanos, interval_ns: Nanos) -> Self {
        Self { start_ns, interval_ns, next_ns: start_ns, samples: Vec::new(), balance_ns: 0, outstanding: 0 }
    }

    /// A command has come into the drive.
    #[inline]
    pub fn begin(&mut self, now_ns: Nanos) {
        self.balance_ns = self.balance_ns.wrapping_sub(now_ns);
        self.outstanding += 1;
    }

    /// A command is done.
    #[inline]
    pub fn end(&mut self, now_ns: Nanos) {
        self.balance_ns = self.balance_ns.wrapping_add(now_ns);
        self.outstanding -= 1;
    }

    /// Takes the samples that are due.
    #[cold]
    pub fn sample(&mut self, now_ns: Nanos, gauges: &Gauges) {
        while self.next_ns <= now_ns {
            self.samples.push(self.sample_at(self.next_ns, gauges));
            if self.samples.len() > INTERVALS_MAX {
                self.halve();
            }
            self.next_ns = self.end_of(self.samples.len() - 1);
        }
    }

    /// A sample of a time since which nothing has changed but time.
    fn sample_at(&self, time_ns: Nanos, gauges: &Gauges) -> Sample {
        let since_ns = u64::from(self.outstanding).wrapping_mul(time_ns);
        Sample { gauges: *gauges, outstanding_ns: self.balance_ns.wrapping_add(since_ns) }
    }

    /// The end of an interval, counted from 0.
    fn end_of(&self, index: usize) -> Nanos {
        self.start_ns.saturating_add(self.interval_ns.saturating_mul(index as u64 + 1))
    }

    fn halve(&mut self) {
        self.interval_ns = self.interval_ns.saturating_mul(2);
        let mut index = 0;
        self.samples.retain(|_| {
            index += 1;
            index % 2 == 1
        });
    }

    /// Every interval up to now, the last one as far as it has come.
    pub fn report(&self, now_ns: Nanos, gauges: &Gauges) -> DriveSeriesReport {
        let mut whole = self.clone();
        whole.sample(now_ns, gauges);
        let mut report = DriveSeriesReport::new(gauges, whole.interval_ns);
        let last_ns = whole.next_ns.saturating_sub(whole.interval_ns);
        if now_ns > last_ns {
            whole.samples.push(whole.sample_at(now_ns, gauges));
        }
        for (index, pair) in whole.samples.windows(2).enumerate() {
            let [before, after] = pair else { continue };
            let begin_ns = whole.start_ns + whole.interval_ns * index as u64;
            let length_ns = whole.interval_ns.min(now_ns.saturating_sub(begin_ns)).max(1);
            let outstanding_ns = after.outstanding_ns.wrapping_sub(before.outstanding_ns);
            report.push(&before.gauges, &after.gauges, outstanding_ns as f64 / length_ns as f64);
        }
        report
    }
}

/// The drive over time, from the start of the measurement on: a value for each interval, the last of which may be cut
/// short. Columns about flash are null of drives without.
#[derive(Clone, Debug, Serialize)]
pub struct DriveSeriesReport {
    /// Width of an interval (what was asked for, doubled as often as needed to keep at most 262 144).
    pub interval_ns: Nanos,
    /// Dies that work on their own.
    pub die_count: Option<u32>,
    /// Bytes that the host wrote within each.
    pub host_write_bytes: Vec<u64>,
    /// Bytes programmed within each, for any purpose.
    pub flash_program_bytes: Option<Vec<u64>>,
    /// Blocks that are free at its end.
    pub free_blocks: Option<Vec<u64>>,
    /// Time of all dies that cleaning and wear levelling reserved within each; they may work it off in the next.
    pub cleaning_ns: Option<Vec<Nanos>>,
    /// Commands in the drive, on average.
    pub outstanding_mean: Vec<f64>,
}

impl DriveSeriesReport {
    fn new(gauges: &Gauges, interval_ns: Nanos) -> Self {
        let has_flash = gauges.flash.is_some();
        Self {
            interval_ns,
            die_count: gauges.flash.map(|flash| flash.die_count),
            host_write_bytes: Vec::new(),
            flash_program_bytes: has_flash.then(Vec::new),
            free_blocks: has_flash.then(Vec::new),
            cleaning_ns: has_flash.then(Vec::new),
            outstanding_mean: Vec::new(),
        }
    }

    fn push(&mut self, before: &Gauges, after: &Gauges, outstanding_mean: f64) {
        self.host_write_bytes.push(after.host_write_bytes - before.host_write_bytes);
        self.outstanding_mean.push(outstanding_mean);
        let (Some(before), Some(after)) = (before.flash, after.flash) else { return };
        for (column, value) in [
            (&mut self.flash_program_bytes, after.program_bytes - before.program_bytes),
            (&mut self.free_blocks, after.free_blocks),
            (&mut self.cleaning_ns, after.cleaning_ns - before.cleaning_ns),
        ] {
            column.get_or_insert_default().push(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use drivelab_drive::FlashGauges;

    use super::*;

    fn gauges(host_write_bytes: u64, program_bytes: u64) -> Gauges {
        let flash =
            FlashGauges { program_bytes, free_blocks: 7, cleaning_ns: 5 * program_bytes, die_count: 4 };
        Gauges { host_write_bytes, flash: Some(flash) }
    }

    #[test]
    fn intervals_hold_what_happened_within_them() {
        let mut series = DriveSeries::new(1000, 100);
        series.sample(1000, &gauges(50, 60));
        (0..2).for_each(|_| series.begin(1000));
        (0..2).for_each(|_| series.end(1050));
        series.sample(1100, &gauges(150, 260));
        // Nothing until 1300, which one looks at later; then half an interval with one command.
        series.sample(1300, &gauges(150, 260));
        series.begin(1300);
        let report = series.report(1350, &gauges(154, 270));
        assert_eq!(report.host_write_bytes, [100, 0, 0, 4]);
        assert_eq!(report.flash_program_bytes.unwrap(), [200, 0, 0, 10]);
        assert_eq!(report.cleaning_ns.unwrap(), [1000, 0, 0, 50]);
        assert_eq!(report.free_blocks.unwrap(), [7; 4]);
        assert_eq!(report.outstanding_mean, [1.0, 0.0, 0.0, 1.0]);
        assert_eq!((report.interval_ns, report.die_count), (100, Some(4)));
    }

    #[test]
    fn many_intervals_become_wider_ones_that_lose_nothing() {
        let mut series = DriveSeries::new(0, 1);
        let count = 2 * INTERVALS_MAX as u64 + 17;
        for time in 0..=count {
            series.sample(time, &gauges(3 * time, 4 * time));
            if time == 0 {
                series.begin(time);
            }
        }
        let report = series.report(count, &gauges(3 * count, 4 * count));
        assert!(report.host_write_bytes.len() <= INTERVALS_MAX);
        assert_eq!(report.host_write_bytes.iter().sum::<u64>(), 3 * count);
        assert_eq!(report.interval_ns, 4);
        assert_eq!(report.host_write_bytes[1000], 12);
        assert!(report.outstanding_mean.iter().all(|&mean| (mean - 1.0).abs() < 1e-12));
    }

    #[test]
    fn a_run_that_never_measured_has_no_intervals() {
        let report = DriveSeries::new(1000, 100).report(900, &gauges(1, 1));
        assert!(report.host_write_bytes.is_empty() && report.outstanding_mean.is_empty());
    }
}
