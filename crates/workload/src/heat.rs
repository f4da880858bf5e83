//! Latencies over time as a field: how many requests of each half octave of latency were done within each stretch of
//! time. Small however long a run is, and made where buckets of a series are closed: no request pays for it.

use drivelab_sim::Nanos;

use crate::bins;

/// Most stretches; beyond, neighbours are merged.
const COLUMNS_MAX: usize = 64;
/// Bins of a half octave.
const BINS: usize = 16;
const CELLS: usize = bins::COUNT / BINS;

/// Requests by time and latency.
#[derive(Clone, Debug, Default)]
pub struct Heat {
    /// Buckets of the series that make a column, as a power of two.
    log2_buckets: u32,
    columns: Vec<[u32; CELLS]>,
}

/// A field as a report has it: edges of its rows, and for each column how many requests lie in each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Buckets of the series in a column.
    pub buckets_per_column: u64,
    /// Least latency of each row, ascending, and one past the greatest of the last.
    pub edges_ns: Vec<Nanos>,
    /// Requests of each row, column by column.
    pub counts: Vec<Vec<u32>>,
}

impl Heat {
    /// Adds the latencies of the bucket of a number, by [`bins`].
    pub fn add(&mut self, bucket: usize, latencies: &[u32; bins::COUNT]) {
        while bucket >> self.log2_buckets >= COLUMNS_MAX {
            self.log2_buckets += 1;
            self.merge_columns();
        }
        let column = bucket >> self.log2_buckets;
        if self.columns.len() <= column {
            self.columns.resize(column + 1, [0; CELLS]);
        }
        for (cell, bins) in self.columns[column].iter_mut().zip(latencies.chunks_exact(BINS)) {
            *cell = bins.iter().fold(*cell, |sum, &count| sum.saturating_add(count));
        }
    }

    /// Buckets are as wide as two were: bucket 2 n is bucket n.
    pub fn merge_buckets(&mut self) {
        match self.log2_buckets.checked_sub(1) {
            Some(fewer) => self.log2_buckets = fewer,
            None => self.merge_columns(),
        }
    }

    fn merge_columns(&mut self) {
        let mut merged = Vec::with_capacity(self.columns.len().div_ceil(2));
        let mut columns = std::mem::take(&mut self.columns).into_iter();
        while let Some(mut first) = columns.next() {
            for (cell, more) in first.iter_mut().zip(columns.next().iter().flat_map(|second| second.iter())) {
                *cell = cell.saturating_add(*more);
            }
            merged.push(first);
        }
        self.columns = merged;
    }

    /// The rows that hold a request, and what lies between them; `None` without any.
    #[must_use]
    pub fn field(&self) -> Option<Field> {
        let is_used = |cell: &usize| self.columns.iter().any(|column| column[*cell] > 0);
        let (first, last) = ((0..CELLS).find(is_used)?, (0..CELLS).rfind(is_used)?);
        let edge = |cell: usize| match cell {
            0 => 0,
            CELLS => Nanos::MAX,
            _ => bins::least(cell * BINS),
        };
        Some(Field {
            buckets_per_column: 1 << self.log2_buckets,
            edges_ns: (first..=last + 1).map(edge).collect(),
            counts: self.columns.iter().map(|column| column[first..=last].to_vec()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(heat: &mut Heat, bucket: usize, latencies_ns: &[Nanos]) {
        let mut latencies: Box<[u32; bins::COUNT]> = bins::empty();
        for &latency_ns in latencies_ns {
            latencies[bins::of(latency_ns)] += 1;
        }
        heat.add(bucket, &latencies);
    }

    #[test]
    fn requests_lie_between_the_edges_of_their_row() {
        let mut heat = Heat::default();
        added(&mut heat, 0, &[1_000, 1_000_000]);
        added(&mut heat, 2, &[1_000_000]);
        let field = heat.field().unwrap();
        assert_eq!(field.buckets_per_column, 1);
        let row = |latency_ns| {
            field.edges_ns.windows(2).position(|edges| (edges[0]..edges[1]).contains(&latency_ns)).unwrap()
        };
        assert_eq!((row(1_000), row(1_000_000)), (0, field.edges_ns.len() - 2));
        let of = |latency_ns| field.counts.iter().map(|column| column[row(latency_ns)]).collect::<Vec<_>>();
        assert_eq!((of(1_000), of(1_000_000)), (vec![1, 0, 0], vec![1, 0, 1]));
        assert!(field.edges_ns.windows(2).all(|edges| edges[0] < edges[1]));
    }

    #[test]
    fn long_runs_have_wider_columns_and_lose_no_request() {
        let mut heat = Heat::default();
        for bucket in 0..1000 {
            added(&mut heat, bucket, &[500 + bucket as u64]);
        }
        let field = heat.field().unwrap();
        assert_eq!((field.buckets_per_column, field.counts.len()), (16, 63));
        let of_column = |column: usize| field.counts[column].iter().sum::<u32>();
        assert!((0..62).all(|column| of_column(column) == 16), "sixteen buckets each");
        assert_eq!(of_column(62), 8);
    }

    #[test]
    fn wider_buckets_fill_the_columns_that_they_had() {
        for log2_buckets in 0..3 {
            let mut heat = Heat { log2_buckets, ..Heat::default() };
            for bucket in 0..32 {
                added(&mut heat, bucket, &[1_000]);
            }
            heat.merge_buckets();
            for bucket in 16..32 {
                added(&mut heat, bucket, &[1_000]);
            }
            let field = heat.field().unwrap();
            let total: u32 = field.counts.iter().flatten().sum();
            assert_eq!(total, 48);
            let columns = 32 / field.buckets_per_column as usize;
            assert_eq!(field.counts.len(), columns);
            assert_eq!(field.counts[0][0], 2 * field.buckets_per_column as u32, "32 buckets are 16");
            assert_eq!(field.counts[columns - 1][0], field.buckets_per_column as u32);
        }
    }

    #[test]
    fn what_took_no_time_lies_between_edges_too() {
        let mut heat = Heat::default();
        added(&mut heat, 0, &[0, 1, 40]);
        let edges_ns = heat.field().unwrap().edges_ns;
        assert_eq!(edges_ns[0], 0);
        assert!(edges_ns.windows(2).all(|edges| edges[0] < edges[1]), "{edges_ns:?}");
    }

    #[test]
    fn nothing_has_no_field() {
        assert_eq!(Heat::default().field(), None);
    }
}
