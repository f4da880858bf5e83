//! What can be wrong with an image. Every message is one line that names the file.

use std::path::{Path, PathBuf};

use crate::store_error::StoreError;

/// Why an image can't be made, opened or written. Nothing of it was destroyed.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The operating system refused.
    #[error("{}: {what}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Its answer.
        source: std::io::Error,
    },
    /// A file is there already.
    #[error("{}: exists; an image replaces nothing", .0.display())]
    Exists(PathBuf),
    /// Some other file.
    #[error("{}: {what}, not a drive image", path.display())]
    NotAnImage {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Made by a newer drivelab.
    #[error("{}: image format {version}, but this drivelab knows formats up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u32,
        /// The newest known format.
        known: u32,
    },
    /// Too short or too long.
    #[error("{}: {bytes} bytes long, but its header says {needed}{}", path.display(),
        if bytes < needed { ": truncated" } else { "" })]
    Size {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The length that it should have.
        needed: u64,
    },
    /// Something that never changes has changed.
    #[error("{}: damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What contradicts what.
        what: String,
    },
    /// Somebody else has it open.
    #[error("{}: in use{}", path.display(), holder.map(|pid| format!(" by process {pid}")).unwrap_or_default())]
    InUse {
        /// The file.
        path: PathBuf,
        /// The process, if known.
        holder: Option<u32>,
    },
    /// The model can't be what is asked of it.
    #[error("{}: {what}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// Faults that the drive can't have.
    #[error("{}: {what}", path.display())]
    Faults {
        /// The file.
        path: PathBuf,
        /// Which, and what is allowed.
        what: String,
    },
    /// The drive did not do what it was told.
    #[error("{}: {what}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What, and why.
        what: &'static str,
    },
    /// The file system is full, or the image as large as it may become.
    #[error("{}: no space left for what the drive stores ({what})", path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// The file system's answer, or the limit.
        what: String,
    },
    /// The drive did what flash can't do: a defect of drivelab.
    #[error("{}: a defect of the drive: {what}", path.display())]
    Defect {
        /// The file.
        path: PathBuf,
        /// What it did.
        what: StoreError,
    },
}

impl ImageError {
    pub(crate) fn io(path: &Path, what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), what, source }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }

    pub(crate) fn store(path: &Path, error: StoreError) -> Self {
        match error {
            StoreError::NoRoom(room) => Self::NoSpace { path: path.to_owned(), what: room.to_string() },
            what => Self::Defect { path: path.to_owned(), what },
        }
    }
}
