//! Models.

use std::sync::Arc;

use drivelab_drive::{Drive, Layer};
use pyo3::prelude::*;

use crate::errors;

/// A checked model.
#[pyclass(frozen, module = "drivelab._engine")]
pub struct Model {
    pub shared: Arc<drivelab_drive::Model>,
    description: serde_json::Value,
}

impl Model {
    fn derived(&self, key: &str) -> u64 {
        self.description["derived"][key].as_u64().unwrap_or(0)
    }
}

#[pymethods]
impl Model {
    /// Reads the texts of a model's layers, the base first, each with its origin for messages; of an array, with the
    /// models of its members. Raises `ModelError`.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value, reason = "PyO3 hands over owned pairs")]
    #[pyo3(signature = (layers, overrides, members = Vec::new()))]
    fn parse(
        layers: Vec<(String, String)>,
        overrides: Vec<(String, String)>,
        members: Vec<PyRef<'_, Self>>,
    ) -> PyResult<Self> {
        let members: Vec<_> = members.iter().map(|member| Arc::clone(&member.shared)).collect();
        let layers: Vec<_> = layers.iter().map(|(text, origin)| Layer { text, origin }).collect();
        let model =
            drivelab_drive::Model::parse_array(&layers, &overrides, &members).map_err(errors::model)?;
        Ok(Self { description: Drive::describe(&model), shared: Arc::new(model) })
    }

    #[getter]
    fn name(&self) -> &str {
        self.shared.name()
    }

    /// 64 hexadecimal digits over every parameter.
    #[getter]
    fn hash(&self) -> String {
        self.shared.hash()
    }

    #[getter]
    fn user_capacity_bytes(&self) -> u64 {
        self.derived("user_capacity_bytes")
    }

    #[getter]
    fn raw_capacity_bytes(&self) -> u64 {
        self.derived("raw_capacity_bytes")
    }

    /// Commands that the drive accepts at once.
    #[getter]
    fn queue_depth(&self) -> u64 {
        self.derived("queue_depth")
    }

    /// JSON: name, title, released, parameters with value, unit and source, derived values.
    fn to_json(&self) -> String {
        self.description.to_string()
    }
}
