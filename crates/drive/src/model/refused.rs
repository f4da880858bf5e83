//! What a model refuses beyond the limits of single values.

use super::{MEMBER, Model};
use crate::error::ModelError;

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
}
