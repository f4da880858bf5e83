//! An array that keeps stamps, for oracles.

use drivelab_controller::Device;

use super::Raid0;
use super::stamps::Stamps;

impl<D: Device> Raid0<D> {
    /// Keeps a 64-bit stamp per sector; `keep` tells a member to. Call it on a new array. A command carries one stamp,
    /// so writes go to members strip by strip from now on, whatever the largest transfer.
    pub fn keep_member_stamps(&mut self, keep: impl FnMut(&mut D)) {
        self.ports.iter_mut().map(|port| &mut port.device).for_each(keep);
        self.stamps = Some(Stamps::default());
    }

    /// Tag and stamps of every read since the last call, if stamps are kept; `take` asks a member for its own. Call
    /// it when no reads are outstanding.
    pub fn take_member_stamps(
        &mut self,
        mut take: impl FnMut(&mut D) -> Vec<(u32, Vec<u64>)>,
    ) -> Vec<(u32, Vec<u64>)> {
        let Some(stamps) = &mut self.stamps else { return Vec::new() };
        for (port, member) in self.ports.iter_mut().zip(0..) {
            for (tag, found) in take(&mut port.device) {
                stamps.worked_on(&self.stripes, member, tag, &found);
            }
        }
        stamps.take()
    }
}
