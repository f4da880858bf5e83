//! What a model refuses beyond the limits of single values.

use super::texts::is_name;
use super::{MEMBER, Model};
use crate::error::ModelError;

const BASE: &str = "base";
const NAME: &str = "name";
const MEMBERS: &str = "members";

/// What makes a member the drive that it is.
const MEMBERS_OWN: [&str; 3] = ["family", NAME, BASE];

impl Model {
    /// What makes members the drives that they are can't be said of all of them.
    pub(super) fn check_members_own<'a>(
        &self,
        mut said: impl Iterator<Item = (&'a str, String)>,
    ) -> Result<(), ModelError> {
        let Some((key, value)) = said.find(|(key, _)| MEMBERS_OWN.contains(key)) else { return Ok(()) };
        Err(self.bad(&format!("{MEMBER}.{key}"), &value, "must be left out: `members` names the models"))
    }

    /// A drive of its own name says on which it stands, and lies on that one; what has a base has a name: another drive
    /// under its base's would be taken for it in every result.
    pub(super) fn check_base(&self, layer: &Self) -> Result<(), ModelError> {
        let below = self.values.get(NAME).map(|name| &name.value);
        let Some(base) = layer.values.get(BASE).map(|base| &base.value) else {
            return match (layer.values.get(NAME), below) {
                (Some(name), Some(below)) if name.value != *below => {
                    let allowed = format!("lies on {below} and must state base = {below}, or no name");
                    Err(layer.bad(NAME, &name.value.to_string(), &allowed))
                }
                _ => Ok(()),
            };
        };
        if let Some(name) = self.family.find(NAME).filter(|name| !layer.values.contains_key(name.key)) {
            return Err(layer.missing(name));
        }
        let allowed = match below {
            None => "names a model that was not laid under this one".to_owned(),
            // A base may be a file, whose model has any name.
            Some(below) if below != base && base.as_str().is_some_and(is_name) => {
                format!("must be {below}, the model that lies under this one")
            }
            Some(_) => return Ok(()),
        };
        Err(layer.bad(BASE, &base.to_string(), &allowed))
    }

    /// The members that an array was given are those that it names.
    pub(super) fn check_members(&self) -> Result<(), ModelError> {
        for (named, member) in self.list(MEMBERS).into_iter().zip(self.members()) {
            if is_name(named) && named != member.name() {
                let allowed = format!("must be {:?}, the model that was given for it", member.name());
                return Err(self.bad(MEMBERS, &format!("{named:?}"), &allowed));
            }
        }
        Ok(())
    }
}
