//! Models of which a small version is asked for.

use std::sync::Arc;

use super::Model;
use crate::error::ModelError;
use crate::parameters::SCALE_KEY;
use crate::{build, scale};

impl Model {
    /// A checked model with a part of its capacity, which knows what it was.
    pub(super) fn small_version(self, divisor: u64) -> Result<Self, ModelError> {
        let full_size = Arc::new(self);
        let (small, remarks) =
            full_size.scaled(divisor).map_err(|error| full_size.no_such_size(divisor, error))?;
        Ok(Self { full_size: Some((full_size, remarks)), ..small })
    }

    /// One of that size, and what differs beside it.
    fn scaled(&self, divisor: u64) -> Result<(Self, Vec<String>), ModelError> {
        let mut small = self.clone();
        let remarks = scale::apply(&mut small, divisor)?;
        build::check(&small)?;
        Ok((small, remarks))
    }

    /// What is wrong with a small version is wrong with its scale, whatever parameter that is; and how small it may be.
    fn no_such_size(&self, divisor: u64, error: ModelError) -> ModelError {
        let why = match error {
            ModelError::Value { key, value, allowed, .. } if key != SCALE_KEY => {
                format!("{key} would be {value}, and {allowed}")
            }
            ModelError::Geometry { error, .. } => {
                format!("{} would be {}, and {}", error.key, error.value, error.allowed)
            }
            ModelError::TooLittleFlash { user_bytes, raw_bytes, .. } => {
                format!("of {raw_bytes} bytes of flash {user_bytes} would be the host's")
            }
            // Of a member: it says how small it may be.
            other => return other,
        };
        // Rounding to blocks may let one pass beyond those that don't: whichever is named does.
        let (mut most, mut refused) = (1, divisor);
        while refused - most > 1 {
            let between = most.midpoint(refused);
            if self.scaled(between).is_ok() {
                most = between;
            } else {
                refused = between;
            }
        }
        self.bad(SCALE_KEY, &scale::typed(divisor), &format!("must be at most {most}: {why}"))
    }
}
