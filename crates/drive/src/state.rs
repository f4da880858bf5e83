//! The whole state of a drive as bytes, for the same engine to go on with.
//!
//! What is written follows from the types of this build and from nothing else: another build may read it as another
//! drive or not at all. Who keeps such bytes keeps with them what made them, and a sum: they are read as they are.

use std::io::{self, Write};
use std::sync::Arc;

use crate::drive::Drive;
use crate::engine::Engine;
use crate::model::Model;
use crate::partition::Partition;

/// What can't be read as the state of a drive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Cut short, of another build, or no state at all.
    #[error("no state of a drive of this engine: {0}")]
    Unreadable(String),
    /// Readable, and its books contradict each other.
    #[error("no state that a drive can be in: {0}")]
    Contradictory(String),
}

/// Writes a drive.
///
/// # Errors
/// What `out` says.
pub fn write(drive: &Partition<Engine>, out: impl Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    postcard::to_io(drive, &mut out).map_err(io::Error::other)?;
    out.flush()
}

/// The drive that [`write()`] wrote.
///
/// # Errors
/// [`StateError`] for bytes that are no state of a drive.
pub fn read(bytes: &[u8]) -> Result<Partition<Engine>, StateError> {
    let (drive, rest) = postcard::take_from_bytes::<Partition<Engine>>(bytes)
        .map_err(|error| StateError::Unreadable(error.to_string()))?;
    if !rest.is_empty() {
        return Err(StateError::Unreadable(format!("{} bytes are left", rest.len())));
    }
    drive.device().check_step().map_err(StateError::Contradictory)?;
    Ok(drive)
}

impl Drive {
    /// Writes everything but the model: see [`write()`].
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_state(&self, out: impl Write) -> io::Result<()> {
        write(self.partition(), out)
    }

    /// The drive of a model that [`write_state`](Self::write_state) wrote.
    ///
    /// # Errors
    /// [`StateError`] for bytes that are no state of a drive.
    pub fn read_state(model: Arc<Model>, bytes: &[u8]) -> Result<Self, StateError> {
        Ok(Self::of_partition(model, read(bytes)?))
    }
}
