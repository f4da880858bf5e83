//! Drives at work: runs in pieces, and drives as parts of somebody's program. Each goes on with the drive that it began
//! with, which is handed to it every time.

use std::sync::Arc;

use drivelab_workload::latency_parts::AboutEqual;
use drivelab_workload::{DataPattern, Requests, Task, parse_jobs};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns;
use crate::drive::{Drive, report_json};
use crate::errors;
use crate::powered::on_device;
use crate::progress::Progress;

/// What is done, and the numbers that the requests have.
type Done<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyDict>);

/// Jobs on a drive, as far as they have come.
#[pyclass(module = "drivelab._engine")]
pub struct Run {
    inner: drivelab_workload::Run<'static>,
}

#[pymethods]
impl Run {
    /// Starts jobs; `log` keeps every request.
    #[new]
    fn new(drive: &mut Drive, jobs_json: &str, log: bool) -> PyResult<Self> {
        let tasks: Vec<Task<'static>> =
            parse_jobs(jobs_json).map_err(errors::workload)?.into_iter().map(Task::from).collect();
        let mut inner = on_device!(drive, device => {
            drivelab_workload::Run::begin(device, &tasks).map_err(errors::workload)
        })?;
        if log {
            inner.keep_log();
        }
        Ok(Self { inner })
    }

    /// Goes on until this time of the drive's clock; whether the jobs have ended. Releases the GIL.
    fn advance(
        &mut self,
        python: Python<'_>,
        drive: &mut Drive,
        until_ns: u64,
        progress: Option<&Progress>,
    ) -> PyResult<bool> {
        let shared = progress.map_or_else(Arc::default, |progress| Arc::clone(&progress.shared));
        let inner = &mut self.inner;
        on_device!(drive, device => {
            python.detach(|| inner.advance(device, until_ns, &shared)).map_err(errors::workload)
        })
    }

    /// When the first job begins to measure, and when the last one does.
    #[getter]
    fn measures_from_ns(&self) -> (u64, u64) {
        self.inner.measures_from_ns()
    }

    /// Issues nothing more.
    fn stop(&mut self) {
        self.inner.stop();
    }

    /// For each job and each of read, write, flush and trim: commands, bytes, and the sum of their latencies in ns.
    fn so_far(&self) -> Vec<[(u64, u64, u128); 4]> {
        let plain = |kinds: [drivelab_workload::SoFar; 4]| {
            kinds.map(|kind| (kind.count, kind.bytes, kind.latency_sum_ns))
        };
        self.inner.so_far().into_iter().map(plain).collect()
    }

    /// Reads and writes measured so far, of all jobs, by how long they took: from and to how many ns, how many, and the
    /// sums of their latencies' parts in ns (queueing, link, firmware, flash, cleaning).
    fn latencies_so_far(&self) -> Vec<(u64, u64, u64, [u128; 5])> {
        let plain = |bin: AboutEqual| {
            let sums = bin.sums;
            let parts = [sums.queueing_ns, sums.link_ns, sums.firmware_ns, sums.flash_ns, sums.cleaning_ns];
            (bin.from_ns, bin.to_ns, bin.count, parts)
        };
        self.inner.latencies_so_far().into_iter().map(plain).collect()
    }

    /// The report of jobs that have ended, as JSON.
    fn report(&self, drive: &Drive) -> PyResult<String> {
        report_json(&self.inner.report(&drive.inner))
    }

    /// Every request from now on, for another thread: a run that nobody reads stands still.
    fn stream_log(&mut self) -> LogReader {
        LogReader { inner: Some(self.inner.stream_log()) }
    }

    /// The reader of the log gets its last requests and its end. Waits for it without the GIL, which it needs to go on.
    fn end_log(&mut self, python: Python<'_>) {
        python.detach(|| self.inner.end_log());
    }

    /// Every request since the last call, as columns.
    fn take_log<'py>(&mut self, python: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns::requests(python, self.inner.take_log())
    }
}

/// The log of a run that goes on in another thread.
#[pyclass(module = "drivelab._engine")]
pub struct LogReader {
    /// None once nobody reads any more.
    inner: Option<drivelab_workload::LogReader>,
}

#[pymethods]
impl LogReader {
    /// The next requests as columns: at least `rows` of them, or what is left; None once the log has ended. Waits for
    /// them without the GIL.
    fn next<'py>(&mut self, python: Python<'py>, rows: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let inner = &mut self.inner;
        let log = python.detach(|| inner.as_mut().and_then(|inner| inner.next(rows)));
        log.map(|log| columns::requests(python, log)).transpose()
    }

    /// Reads no more: the run goes on without a log.
    fn close(&mut self) {
        self.inner = None;
    }
}

/// Requests of a program on their way to a drive and back.
#[pyclass(module = "drivelab._engine")]
pub struct Session {
    inner: drivelab_workload::Session,
}

#[pymethods]
impl Session {
    /// A program before its first request.
    #[new]
    fn new(drive: &Drive, data_json: &str, seed: u64, fua: bool) -> PyResult<Self> {
        let data: DataPattern = serde_json::from_str(data_json)
            .map_err(|error| errors::WorkloadError::new_err(format!("data: {error}")))?;
        Ok(Self { inner: drivelab_workload::Session::new(&drive.inner, &data, seed, fua) })
    }

    /// Takes requests over; the number of the first.
    #[allow(clippy::needless_pass_by_value, reason = "columns")]
    #[pyo3(signature = (drive, op, lba, sector_count, arrival_ns, hint=None))]
    fn submit(
        &mut self,
        drive: &Drive,
        op: PyReadonlyArray1<'_, u8>,
        lba: PyReadonlyArray1<'_, u64>,
        sector_count: PyReadonlyArray1<'_, u32>,
        arrival_ns: PyReadonlyArray1<'_, u64>,
        hint: Option<PyReadonlyArray1<'_, u8>>,
    ) -> PyResult<u64> {
        let requests = Requests {
            op: op.as_slice()?,
            lba: lba.as_slice()?,
            sector_count: sector_count.as_slice()?,
            arrival_ns: Some(arrival_ns.as_slice()?),
            program: None,
        };
        let hints = hint.as_ref().map(|hint| hint.as_slice()).transpose()?;
        self.inner.submit(&drive.inner, &requests, hints).map_err(errors::workload)
    }

    /// Lets the drive work until this time of its clock; of 2^64 - 1: until everything is done. Releases the GIL.
    fn advance(&mut self, python: Python<'_>, drive: &mut Drive, until_ns: u64) -> PyResult<()> {
        let inner = &mut self.inner;
        on_device!(drive, device => {
            python.detach(|| inner.advance(device, until_ns)).map_err(errors::workload)
        })
    }

    /// What is done since the last call: numbers of requests, and columns.
    fn take_done<'py>(&mut self, python: Python<'py>) -> PyResult<Done<'py>> {
        let (numbers, log) = self.inner.take_done();
        Ok((numbers.into_pyarray(python), columns::requests(python, log)?))
    }

    /// Requests that are not done.
    #[getter]
    fn waiting(&self) -> u64 {
        self.inner.waiting()
    }
}
