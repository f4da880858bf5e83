//! An array of drives of any family, as the other drives are used.

use drivelab_controller::{Backlog, Completion, Device, Effects, FlashShape, HostSide, MountReport};
use drivelab_nand::view::MediumView;
use drivelab_sim::Nanos;
use drivelab_sim::time::NEVER;

use super::durable::Pieces;
use crate::engine::{Array, Engine};

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

    /// What the members have put off, together.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        let mut all = Backlog::default();
        self.members().for_each(|member| all.join(&member.device().backlog()));
        all
    }

    /// Recounts all books of all members.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check(&self) -> Result<(), String> {
        self.members().try_for_each(|member| member.device().check())
    }

    /// What must be true between any two events, of the array and of all members; cheap enough to be asked after each.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check_step(&self) -> Result<(), String> {
        self.check_queues()?;
        self.members().try_for_each(|member| member.device().check_step())
    }

    /// Sectors of the unit that a trim frees only whole, where strips hold a whole number of them; `None` if trims
    /// have no effect.
    #[must_use]
    pub fn trim_unit_sectors(&self) -> Option<u32> {
        let units = self.members().map(|member| member.device().trim_unit_sectors());
        if self.config().pass_trim { units.max()? } else { None }
    }

    /// Why a member forgets its data with its power, if one does.
    #[must_use]
    pub fn forgets(&self) -> Option<&'static str> {
        self.members().find_map(|member| member.device().forgets())
    }

    /// Durable mode of all members. Call it on a new array.
    ///
    /// # Errors
    /// Why a member forgets its data with its power.
    pub fn record_effects(&mut self) -> Result<(), &'static str> {
        if let Some(reason) = self.forgets() {
            return Err(reason);
        }
        for port in &mut self.ports {
            port.device.device_mut().record_effects()?;
        }
        self.durable = Some(Pieces::default());
        Ok(())
    }

    /// One shape for each medium of each member, in order.
    #[must_use]
    pub fn flash_shapes(&self) -> Vec<FlashShape> {
        self.members().flat_map(|member| member.device().flash_shapes()).collect()
    }

    /// Units of a medium that hold something, each with its payload cell.
    #[must_use]
    pub fn live_cells(&self, medium: usize) -> Vec<(u32, u32)> {
        self.member_of(medium).map_or_else(Vec::new, |(engine, own)| engine.live_cells(own))
    }

    /// Units in a medium's write buffer, each with the payload cell of its newest complete version (`NO_CELL`: none) and of
    /// its newest.
    #[must_use]
    pub fn buffered_cells(&self, medium: usize) -> Vec<(u32, u32, u32)> {
        self.member_of(medium).map_or_else(Vec::new, |(engine, own)| engine.buffered_cells(own))
    }

    /// Whether a payload cell is what a unit of a medium holds.
    #[must_use]
    pub fn holds_cell(&self, medium: usize, unit: u32, cell: u32) -> bool {
        self.member_of(medium).is_some_and(|(engine, own)| engine.holds_cell(own, unit, cell))
    }

    /// The member to which a medium belongs, and which of its media it is.
    fn member_of(&self, medium: usize) -> Option<(&Engine, usize)> {
        let mut first = 0;
        for member in self.members() {
            let engine = member.device();
            let count = engine.media_count();
            if medium < first + count {
                return Some((engine, medium - first));
            }
            first += count;
        }
        None
    }

    /// The effects on one medium since they were last taken, instead of what `out` held.
    pub fn take_effects(&mut self, medium: usize, out: &mut Effects) {
        let mut first = 0;
        for (port, member) in self.ports.iter_mut().zip(0..) {
            let engine = port.device.device_mut();
            let count = engine.media_count();
            if medium < first + count {
                engine.take_effects(medium - first, out);
                if let Some(durable) = &mut self.durable {
                    durable.translate(&self.stripes, member, out, medium + 1 == first + count);
                }
                return;
            }
            first += count;
        }
        out.clear();
    }

    /// Whether a member must write a checkpoint.
    #[must_use]
    pub fn wants_checkpoint(&self) -> bool {
        self.members().any(|member| member.device().wants_checkpoint())
    }

    /// All members go to rest. Gives completions not heard of.
    pub fn standby(&mut self) -> Vec<Completion> {
        let done = self.finish_all();
        self.each_member(|engine| {
            engine.standby();
        });
        done
    }

    /// Members of a new array become what their media hold.
    ///
    /// # Errors
    /// A medium that can't be its member's, in words.
    pub fn mount(&mut self, media: &[&dyn MediumView]) -> Result<MountReport, String> {
        let mut report = MountReport::default();
        let mut left = media;
        let mut result = Ok(());
        self.each_member(|engine| {
            let (mine, others) = left.split_at(engine.media_count().min(left.len()));
            left = others;
            match engine.mount(mine) {
                Ok(member) => report.join(&member),
                Err(error) if result.is_ok() => result = Err(error),
                Err(_) => {}
            }
        });
        self.durable = Some(Pieces::default());
        result.map(|()| report)
    }

    /// Whether a range that begins with this sector holds anything, and for how many sectors of its strip.
    #[must_use]
    pub fn allocation(&self, lba: u64, sector_count: u64) -> (bool, u64) {
        let (member, there) = self.stripes.place(lba);
        let strip = self.stripes.next_strip(there) - there;
        let port = &self.ports[member as usize];
        port.device.device().allocation(there, sector_count.min(strip))
    }

    /// What lies in the flash of all members becomes older.
    pub fn age(&mut self, duration_ns: Nanos) {
        for port in &mut self.ports {
            port.device.device_mut().age(duration_ns);
        }
    }

    /// Does something to every member that takes time, side by side.
    fn each_member(&mut self, mut work: impl FnMut(&mut Engine)) {
        for port in &mut self.ports {
            work(port.device.device_mut());
            self.now_ns = self.now_ns.max(port.device.now_ns());
        }
        for port in &mut self.ports {
            port.device.advance(self.now_ns, &mut self.scratch);
            port.next_ns = port.device.next_event().unwrap_or(NEVER);
        }
        self.scratch.clear();
        self.queue.restart(self.now_ns);
        self.link.hold_until(self.now_ns);
    }
}
