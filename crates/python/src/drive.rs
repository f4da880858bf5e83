//! Drives.

use std::sync::Arc;

use drivelab_controller::Device;
use drivelab_drive::Inside;
use drivelab_image::KeptFlash;
use drivelab_sim::time::NEVER;
use drivelab_workload::{
    Program, Report, RequestLog, Requests, Run, Task, WorkloadError, parse_job, parse_jobs,
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns;
use crate::errors;
use crate::model::Model;
use crate::powered::{self, on_device};
use crate::progress::Progress;

/// Ten years: virtual time has 64 bits of nanoseconds, 584 years.
const LONGEST_IDLE_NS: u64 = 10 * 365 * 24 * 3600 * 1_000_000_000;

/// Longest time on a shelf.
const LONGEST_AGE_NS: u64 = 100 * 365 * 86_400 * 1_000_000_000;

/// A drive in virtual time.
#[pyclass(module = "drivelab._engine")]
pub struct Drive {
    pub(crate) inner: drivelab_drive::Drive,
    /// What a recovery would read, of a drive whose power can be cut.
    pub(crate) kept: Option<Box<KeptFlash>>,
}

impl Drive {
    fn run_tasks(
        &mut self,
        python: Python<'_>,
        tasks: &[Task<'_>],
        progress: Option<&Progress>,
    ) -> PyResult<String> {
        let shared = progress.map_or_else(Arc::default, |progress| Arc::clone(&progress.shared));
        let report = on_device!(self, device => {
            python.detach(|| drivelab_workload::run(device, tasks, &shared)).map_err(errors::workload)
        })?;
        report_json(&report)
    }

    /// The same, and every request of it.
    fn run_logged<'py>(
        &mut self,
        python: Python<'py>,
        tasks: &[Task<'_>],
        progress: Option<&Progress>,
    ) -> PyResult<(String, Bound<'py, PyDict>)> {
        let shared = progress.map_or_else(Arc::default, |progress| Arc::clone(&progress.shared));
        let (report, log) = on_device!(self, device => {
            let work = || -> Result<(Report, RequestLog), WorkloadError> {
                let mut run = Run::begin(device, tasks)?;
                run.keep_log();
                run.advance(device, NEVER, &shared)?;
                Ok((run.report(device), run.take_log()))
            };
            python.detach(work).map_err(errors::workload)
        })?;
        Ok((report_json(&report)?, columns::requests(python, log)?))
    }
}

/// A report as JSON.
pub fn report_json(report: &Report) -> PyResult<String> {
    serde_json::to_string(report)
        .map_err(|error| errors::WorkloadError::new_err(format!("the report is not JSON: {error}")))
}

#[pymethods]
impl Drive {
    #[new]
    fn new(model: &Model, seed: u64) -> PyResult<Self> {
        let inner = drivelab_drive::Drive::new(Arc::clone(&model.shared), seed).map_err(errors::model)?;
        Ok(Self { inner, kept: None })
    }

    /// An independent copy of the whole state.
    fn clone(&self, python: Python<'_>) -> Self {
        python.detach(|| Self { inner: Clone::clone(&self.inner), kept: self.kept.clone() })
    }

    /// Runs jobs that start together; returns the report as JSON. Releases the GIL.
    #[pyo3(signature = (jobs_json, progress=None))]
    fn run(&mut self, python: Python<'_>, jobs_json: &str, progress: Option<&Progress>) -> PyResult<String> {
        let jobs = parse_jobs(jobs_json).map_err(errors::workload)?;
        let tasks: Vec<Task<'_>> = jobs.into_iter().map(Task::from).collect();
        self.run_tasks(python, &tasks, progress)
    }

    /// Runs given requests; op 0 read, 1 write, 2 flush, 3 trim. `program`: processor time before each, and
    /// whether nobody waits for it. The report as JSON and, with `log`, columns of every request. Releases the GIL.
    #[pyo3(signature = (job_json, op, lba, sector_count, arrival_ns, progress=None, program=None, log=false))]
    #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "the columns of a trace")]
    fn run_requests<'py>(
        &mut self,
        python: Python<'py>,
        job_json: &str,
        op: PyReadonlyArray1<'_, u8>,
        lba: PyReadonlyArray1<'_, u64>,
        sector_count: PyReadonlyArray1<'_, u32>,
        arrival_ns: Option<PyReadonlyArray1<'_, u64>>,
        progress: Option<&Progress>,
        program: Option<(PyReadonlyArray1<'_, u64>, PyReadonlyArray1<'_, u8>)>,
        log: bool,
    ) -> PyResult<(String, Option<Bound<'py, PyDict>>)> {
        let program = match &program {
            Some((think_ns, background)) => {
                Some(Program { think_ns: think_ns.as_slice()?, background: background.as_slice()? })
            }
            None => None,
        };
        let job = parse_job(job_json).map_err(errors::workload)?;
        let requests = Requests {
            op: op.as_slice()?,
            lba: lba.as_slice()?,
            sector_count: sector_count.as_slice()?,
            arrival_ns: arrival_ns.as_ref().map(|column| column.as_slice()).transpose()?,
            program,
        };
        let tasks = [Task { job, requests: Some(requests) }];
        if log {
            let (report, requests) = self.run_logged(python, &tasks, progress)?;
            return Ok((report, Some(requests)));
        }
        Ok((self.run_tasks(python, &tasks, progress)?, None))
    }

    /// Lets time pass without commands.
    fn idle(&mut self, python: Python<'_>, duration_ns: u64) -> PyResult<()> {
        if duration_ns > LONGEST_IDLE_NS {
            let message =
                format!("duration_ns = {duration_ns}: must be at most {LONGEST_IDLE_NS} (ten years)");
            return Err(errors::WorkloadError::new_err(message));
        }
        let until_ns = self.inner.now_ns().saturating_add(duration_ns);
        on_device!(self, device => {
            python.detach(|| device.advance(until_ns, &mut Vec::new()));
            Ok(())
        })
    }

    /// What lies in flash becomes older by this, without anything else happening: as on a shelf, without power.
    fn age(&mut self, duration_ns: u64) -> PyResult<()> {
        if duration_ns > LONGEST_AGE_NS {
            let message =
                format!("duration_ns = {duration_ns}: must be at most {LONGEST_AGE_NS} (a hundred years)");
            return Err(errors::WorkloadError::new_err(message));
        }
        self.inner.age(duration_ns);
        Ok(())
    }

    /// Erases everything: the new state, except for wear.
    fn secure_erase(&mut self, python: Python<'_>) -> PyResult<()> {
        python.detach(|| match &mut self.kept {
            Some(flash) => powered::secure_erase(&mut self.inner, flash),
            None => {
                self.inner.secure_erase();
                Ok(())
            }
        })
    }

    /// Cumulative counters as a flat JSON object.
    fn counters(&self) -> String {
        self.inner.counters().to_string()
    }

    /// Virtual time that the drive has reached, in ns.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.inner.now_ns()
    }

    /// Columns of every block, and of every die.
    fn inside<'py>(&self, python: Python<'py>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        columns::inside(python, python.detach(|| Inside::of(self.inner.engine())))
    }

    /// JSON of every page's state; for tiny drives.
    fn page_states(&self) -> String {
        self.inner.page_states().to_string()
    }
}
