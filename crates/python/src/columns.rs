//! Columns as numpy arrays, which take the memory over.

use drivelab_drive::{Inside, PageColumns, PieceColumns, TimelineColumns};
use drivelab_ftl::BlockRole;
use drivelab_nand::CellMode;
use drivelab_workload::RequestLog;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A dictionary of the fields of a value, each a column.
macro_rules! columns {
    ($python:expr, $of:expr, $($field:ident),+ $(,)?) => {{
        let columns = PyDict::new($python);
        $(columns.set_item(stringify!($field), $of.$field.into_pyarray($python))?;)+
        columns
    }};
}

pub fn requests(python: Python<'_>, log: RequestLog) -> PyResult<Bound<'_, PyDict>> {
    Ok(columns!(
        python,
        log,
        job,
        op,
        offset_bytes,
        length_bytes,
        outcome,
        issued_ns,
        submitted_ns,
        completed_ns,
        latency_ns,
        queueing_ns,
        link_ns,
        firmware_ns,
        flash_ns,
        cleaning_ns
    ))
}

pub fn inside(python: Python<'_>, inside: Inside) -> PyResult<(Bound<'_, PyDict>, Bound<'_, PyDict>)> {
    let blocks = columns!(
        python,
        inside.blocks,
        member,
        die,
        block,
        role,
        stream,
        mode,
        valid_bytes,
        valid_share,
        written_pages,
        erase_count,
        age_programs
    );
    let dies =
        columns!(python, inside.dies, member, die, channel, reserved_ns, worked_ns, free_blocks, valid_bytes);
    Ok((blocks, dies))
}

pub fn timeline(python: Python<'_>, timeline: TimelineColumns) -> PyResult<Bound<'_, PyDict>> {
    Ok(columns!(
        python,
        timeline,
        member,
        die,
        channel,
        work,
        cleaning,
        begin_ns,
        bus_begin_ns,
        bus_end_ns,
        end_ns
    ))
}

pub fn pages(python: Python<'_>, pages: PageColumns) -> PyResult<Bound<'_, PyDict>> {
    Ok(columns!(python, pages, state, lpn))
}

pub fn pieces(python: Python<'_>, pieces: PieceColumns) -> PyResult<Bound<'_, PyDict>> {
    Ok(columns!(python, pieces, lpn, block, page, granules, trimmed))
}

/// Words for the numbers of the roles of blocks.
pub fn block_roles() -> Vec<String> {
    BlockRole::ALL.iter().map(BlockRole::to_string).collect()
}

/// Words for the numbers of the modes of cells.
pub fn cell_modes() -> Vec<String> {
    CellMode::ALL.iter().map(CellMode::to_string).collect()
}
