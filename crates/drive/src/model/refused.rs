//! What a model refuses beyond the limits of single values.

use super::{MEMBER, Model};
use crate::error::ModelError;
use crate::parameters::SCALE_KEY;
use crate::scale;

/// What makes a member the drive that it is.
const MEMBERS_OWN: [&str; 3] = ["family", "name", "base"];

impl Model {
    /// What makes members the drives that they are can't be said of all of them.
    pub(super) fn check_members_own<'a>(
        &self,
        mut said: impl Iterator<Item = (&'a str, String)>,
    ) -> Result<(), ModelError> {
        let Some((key, value)) = said.find(|(key, _)| MEMBERS_OWN.contains(key)) else { return Ok(()) };
        Err(self.bad(&format!("{MEMBER}.{key}"), &value, "must be left out: `members` names the models"))
    }

    /// What is wrong with a small version is wrong with its scale, whatever parameter that is.
    pub(super) fn no_such_size(&self, divisor: u64, error: ModelError) -> ModelError {
        match error {
            ModelError::Value { key, value, allowed, .. } if key != SCALE_KEY => {
                let allowed = format!("must be another one: {key} would be {value}, and {allowed}");
                self.bad(SCALE_KEY, &scale::typed(divisor), &allowed)
            }
            ModelError::Geometry { error, .. } => {
                let allowed = format!(
                    "must be another one: {} would be {}, and {}",
                    error.key, error.value, error.allowed
                );
                self.bad(SCALE_KEY, &scale::typed(divisor), &allowed)
            }
            ModelError::TooLittleFlash { user_bytes, raw_bytes, .. } => {
                let allowed = format!(
                    "must be another one: of {raw_bytes} bytes of flash {user_bytes} would be the host's"
                );
                self.bad(SCALE_KEY, &scale::typed(divisor), &allowed)
            }
            other => other,
        }
    }
}
