//! The seam: the drive and its workloads as a private Python extension module, `drivelab._engine`.
//!
//! Thin wrappers only; `errors` is the one place where Rust errors become Python's.

mod columns;
mod drive;
mod errors;
mod image;
mod kept;
mod model;
mod power;
mod powered;
mod progress;
mod run;
mod serving;
mod state;
mod tiles;
mod timeline;
mod trace;

use pyo3::prelude::*;

/// Version of the compiled engine, as in Cargo.toml.
#[pyfunction]
fn engine_version() -> &'static str {
    drivelab_drive::ENGINE_VERSION
}

/// Words for the numbers of the roles of blocks.
#[pyfunction]
fn block_roles() -> Vec<String> {
    columns::block_roles()
}

/// Words for the numbers of the modes of cells.
#[pyfunction]
fn cell_modes() -> Vec<String> {
    columns::cell_modes()
}

/// Families of drives: their words in models, and their titles.
#[pyfunction]
fn families() -> Vec<(&'static str, &'static str)> {
    drivelab_drive::Family::ALL.iter().map(|family| (family.word(), family.title())).collect()
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(engine_version, module)?)?;
    module.add_function(wrap_pyfunction!(families, module)?)?;
    module.add_function(wrap_pyfunction!(trace::read_trace, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace_formats, module)?)?;
    module.add_function(wrap_pyfunction!(image::create_image, module)?)?;
    module.add_function(wrap_pyfunction!(image::check_image, module)?)?;
    module.add_function(wrap_pyfunction!(image::erase_image, module)?)?;
    module.add_function(wrap_pyfunction!(image::trim_image, module)?)?;
    module.add_function(wrap_pyfunction!(image::smart_image, module)?)?;
    module.add_function(wrap_pyfunction!(image::check_fault_plan, module)?)?;
    module.add_function(wrap_pyfunction!(image::serve_image, module)?)?;
    module.add_function(wrap_pyfunction!(state::write_state, module)?)?;
    module.add_function(wrap_pyfunction!(state::read_state, module)?)?;
    module.add_function(wrap_pyfunction!(timeline::record_timeline, module)?)?;
    module.add_function(wrap_pyfunction!(timeline::take_timeline, module)?)?;
    module.add_class::<serving::ServerStop>()?;
    module.add_class::<trace::Trace>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<drive::Drive>()?;
    module.add_class::<progress::Progress>()?;
    module.add_class::<run::LogReader>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<run::Session>()?;
    module.add_function(wrap_pyfunction!(tiles::block_pages, module)?)?;
    module.add_function(wrap_pyfunction!(tiles::unit_pieces, module)?)?;
    module.add_function(wrap_pyfunction!(tiles::queue_lengths, module)?)?;
    module.add_function(wrap_pyfunction!(power::kept_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(power::keep_flash, module)?)?;
    module.add_function(wrap_pyfunction!(power::rest, module)?)?;
    module.add_function(wrap_pyfunction!(power::cut_power, module)?)?;
    module.add_function(wrap_pyfunction!(power::restore_power, module)?)?;
    module.add_class::<tiles::Tiles>()?;
    module.add_class::<kept::KeptDrive>()?;
    module.add_function(wrap_pyfunction!(block_roles, module)?)?;
    module.add_function(wrap_pyfunction!(cell_modes, module)?)?;
    errors::register(module)
}
