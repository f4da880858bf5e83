//! What a model refuses beyond the limits of single values.

use super::texts::can_mean;
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
    /// under its base's would be taken for it in every result. `below` is where the layer under it comes from.
    pub(super) fn check_base(&self, layer: &Self, below: &str) -> Result<(), ModelError> {
        let name = self.values.get(NAME).map(|name| &name.value);
        let Some(base) = layer.values.get(BASE).map(|base| &base.value) else {
            return match (layer.values.get(NAME), name) {
                (Some(own), Some(name)) if own.value != *name => {
                    let allowed = format!("lies on {name} and must state base = {name}, or no name");
                    Err(layer.bad(NAME, &own.value.to_string(), &allowed))
                }
                _ => Ok(()),
            };
        };
        if let Some(name) = self.family.find(NAME).filter(|name| !layer.values.contains_key(name.key)) {
            return Err(layer.missing(name));
        }
        let named = base.as_str().unwrap_or_default();
        let allowed = match name.and_then(|name| name.as_str()) {
            None => "names a model that was not laid under this one".to_owned(),
            Some(name) if can_mean(named, name, below) => return Ok(()),
            Some(name) => format!("names another model than lies under this one, which is {name:?}"),
        };
        Err(layer.bad(BASE, &base.to_string(), &allowed))
    }

    /// The members that an array was given are those that it names.
    pub(super) fn check_members(&self) -> Result<(), ModelError> {
        for (named, member) in self.list(MEMBERS).into_iter().zip(self.members()) {
            if !can_mean(named, member.name(), member.origin()) {
                let allowed = format!("names another model than was given in its place, {:?}", member.name());
                return Err(self.bad(MEMBERS, &format!("{named:?}"), &allowed));
            }
        }
        Ok(())
    }
}
