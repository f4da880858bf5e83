//! What can be wrong with a model.

use drivelab_nand::GeometryError;

use crate::parameters::CAPACITY_KEY;

/// A model that cannot be built. Every message names the key, its value and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Not TOML.
    #[error("{origin}: {message}")]
    Syntax {
        /// File or name.
        origin: String,
        /// The parser's words, with line and column.
        message: String,
    },
    /// A key that no model has.
    #[error("{origin}: unknown key {key}{}", nearest.as_ref().map_or(String::new(), |near| format!(" (did you mean {near}?)")))]
    UnknownKey {
        /// File or name.
        origin: String,
        /// The key, with its section.
        key: String,
        /// The most similar known key.
        nearest: Option<String>,
    },
    /// A key that is needed.
    #[error("{origin}: {key} is missing: {help}")]
    Missing {
        /// File or name.
        origin: String,
        /// The key.
        key: &'static str,
        /// What it is.
        help: &'static str,
    },
    /// A value out of range or of the wrong type.
    #[error("{origin}: {key} = {value}: {allowed}")]
    Value {
        /// File or name.
        origin: String,
        /// The key.
        key: String,
        /// The value as written.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// More for the host than all flash holds.
    #[error("{origin}: {CAPACITY_KEY} = {user_bytes}: must be at most the raw capacity, {raw_bytes} bytes")]
    TooLittleFlash {
        /// File or name.
        origin: String,
        /// What the host was to address.
        user_bytes: u64,
        /// All flash.
        raw_bytes: u64,
    },
    /// Values that are each allowed, but make no drive together.
    #[error("{origin}: {error}")]
    Geometry {
        /// File or name.
        origin: String,
        /// The contradiction.
        error: GeometryError,
    },
}

impl ModelError {
    /// The parameter that is wrong; `None` of a text that isn't TOML.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Syntax { .. } => None,
            Self::UnknownKey { key, .. } | Self::Value { key, .. } => Some(key),
            Self::Missing { key, .. } => Some(key),
            Self::TooLittleFlash { .. } => Some(CAPACITY_KEY),
            Self::Geometry { error, .. } => Some(error.key),
        }
    }
}
