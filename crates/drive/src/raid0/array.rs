//! An array of drives of any family, as the other drives are used.

use drivelab_controller::Completion;

use super::Raid0;
use crate::engine::Engine;
use crate::partition::Partition;

/// An array of drives of any family.
pub type Array = Raid0<Partition<Engine>>;

impl Array {
    /// Erases every member. Commands still inside are completed first; their completions are given back.
    pub fn secure_erase(&mut self) -> Vec<Completion> {
        self.erase_members(|member| member.device_mut().secure_erase())
    }

    /// Keeps a 64-bit stamp per sector from now on, for oracles. Call it on a new, small array.
    pub fn keep_stamps(&mut self) {
        self.keep_member_stamps(|member| member.device_mut().keep_stamps());
    }

    /// Tag and stamps of every read since the last call, if stamps are kept. Call it when no reads are outstanding.
    pub fn take_read_stamps(&mut self) -> Vec<(u32, Vec<u64>)> {
        self.take_member_stamps(|member| member.device_mut().take_read_stamps())
    }

    /// Recounts all books of all members.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check(&self) -> Result<(), String> {
        self.members().try_for_each(|member| member.device().check())
    }

    /// Sectors of the unit that a trim frees only whole, where strips hold a whole number of them; `None` if trims
    /// have no effect.
    #[must_use]
    pub fn trim_unit_sectors(&self) -> Option<u32> {
        let units = self.members().map(|member| member.device().trim_unit_sectors());
        if self.config().pass_trim { units.max()? } else { None }
    }
}
