//! Progress of a run, shared with the thread that runs it.

use std::sync::Arc;

use pyo3::prelude::*;

/// How far a run is; may be read and cancelled from another thread.
#[pyclass(frozen, module = "drivelab._engine")]
pub struct Progress {
    pub shared: Arc<drivelab_workload::Progress>,
}

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Self {
        Self { shared: Arc::default() }
    }

    /// 0 to 1.
    #[getter]
    fn fraction(&self) -> f64 {
        self.shared.fraction()
    }

    /// Stops the run soon; it raises Cancelled.
    fn cancel(&self) {
        self.shared.cancel();
    }
}
