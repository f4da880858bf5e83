//! A RAID-0 array from a model and its members' models.

use super::host::link;
use crate::engine::{Array, Engine};
use crate::error::ModelError;
use crate::model::Model;
use crate::partition::Partition;
use crate::raid0::{Raid0, Raid0Config};

/// Builds the members and puts them together. Every member has a seed of its own.
pub fn build(
    model: &Model,
    seed: u64,
    build_member: fn(&Model, u64) -> Result<Partition<Engine>, ModelError>,
) -> Result<Array, ModelError> {
    let names = model.list("members");
    if names.len() != model.members().len() {
        let given = names.join(", ");
        let allowed =
            format!("needs {} models beside the array's own, not {}", names.len(), model.members().len());
        return Err(model.bad("members", &given, &allowed));
    }
    let members = (0u64..)
        .zip(model.members())
        .map(|(index, member)| build_member(member, seed.wrapping_add(index << 32)))
        .collect::<Result<Vec<_>, _>>()?;
    let strip_bytes = model.integer("array.strip_bytes");
    let config = Raid0Config {
        pass_trim: model.flag("array.pass_trim"),
        driver_ns: model.integer("array.command_ns"),
        queue_depth: model.small("array.queue_depth"),
        link: model.optional_integer("link.bytes_per_s").map(|_| link(model)),
        idle_mw: model.small("power.idle_mw"),
        link_mw: model.small("power.link_mw"),
        ..Raid0Config::new(strip_bytes, model.integer("array.max_transfer_bytes"))
    };
    Raid0::new(members, config)
        .map_err(|error| ModelError::Geometry { origin: model.origin().to_owned(), error })
}
