//! The FTL without time: every write at once, cleaning whenever a die asks for it.
//! For theory (write amplification against formulas) and for tests; the same code decides as in a timed drive.

use drivelab_nand::{DieIndex, Lpn};

use crate::error::FtlError;
use crate::log::Urgency;
use crate::mapping::{LogMapping, Stored};
use crate::merge::{GroupUnit, MergeMap, MergeScheme};

/// Turns the crank of a log-structured scheme: host pages go round the dies.
#[derive(Clone, Debug)]
pub struct Untimed<M> {
    /// The FTL.
    pub ftl: M,
    die: u32,
}

impl<M: LogMapping> Untimed<M> {
    /// Wraps an FTL.
    #[must_use]
    pub fn new(ftl: M) -> Self {
        Self { ftl, die: 0 }
    }

    /// Writes one page of units of a scheme that looks at no content.
    ///
    /// # Errors
    /// [`FtlError`], which would be a defect of the FTL.
    pub fn write(&mut self, lpns: &[Lpn]) -> Result<(), FtlError> {
        self.write_stored(lpns, &[])
    }

    /// Granules that the next page has room for, on the die that it goes to.
    ///
    /// # Errors
    /// [`FtlError`], which would be a defect of the FTL.
    pub fn page_units(&mut self) -> Result<u32, FtlError> {
        let die = self.ready_die()?;
        Ok(self.ftl.host_page_granules(die))
    }

    /// The next die that takes a page, cleaned as far as it asks for.
    fn ready_die(&mut self) -> Result<DieIndex, FtlError> {
        let dies = self.ftl.layout().geometry.die_count();
        for _ in 0..dies {
            let die = DieIndex(self.die);
            self.clean(die)?;
            if !self.ftl.is_full(die) && self.ftl.has_room(die) {
                return Ok(die);
            }
            self.die = (self.die + 1) % dies;
        }
        Err(FtlError::NoFreeBlock { die: self.die })
    }

    /// Writes one page of units; `stored` says what each takes.
    ///
    /// # Errors
    /// [`FtlError`], which would be a defect of the FTL.
    pub fn write_stored(&mut self, lpns: &[Lpn], stored: &[Stored]) -> Result<(), FtlError> {
        let die = self.ready_die()?;
        self.die = (die.0 + 1) % self.ftl.layout().geometry.die_count();
        self.ftl.program_host(die, lpns, stored)?;
        while let Some(reader) = self.ftl.take_map_reader() {
            while self.ftl.read_map(reader).is_some() {}
        }
        while self.ftl.take_map_fetch().is_some() {}
        while self.ftl.is_metadata_due_on(die) {
            self.ftl.program_metadata(die)?;
        }
        Ok(())
    }

    /// Cleans a die as far as its thresholds ask for.
    ///
    /// # Errors
    /// [`FtlError`], which would be a defect of the FTL.
    pub fn clean(&mut self, die: DieIndex) -> Result<(), FtlError> {
        while self.ftl.cleaning_urgency(die) >= Urgency::Wanted {
            if self.ftl.next_cleaning_step(die)?.is_none() {
                break;
            }
            while self.ftl.take_waiting_die().is_some() {}
        }
        Ok(())
    }
}

/// Turns the crank of a [`MergeMap`]: one group at a time.
#[derive(Clone, Debug)]
pub struct UntimedMerges<S: MergeScheme> {
    /// The scheme.
    pub ftl: MergeMap<S>,
    /// Stamps of the sectors of every unit in the next group, if the scheme keeps stamps.
    pub stamps: Vec<Vec<u64>>,
}

impl<S: MergeScheme> UntimedMerges<S> {
    /// Wraps a scheme.
    #[must_use]
    pub fn new(ftl: MergeMap<S>) -> Self {
        Self { ftl, stamps: Vec::new() }
    }

    /// Writes units of one superblock, in ascending order.
    ///
    /// # Errors
    /// [`FtlError`], which would be a defect of the scheme.
    pub fn write(&mut self, units: &[GroupUnit]) -> Result<(), FtlError> {
        let mut left: Vec<(GroupUnit, usize)> =
            units.iter().copied().enumerate().map(|(index, unit)| (unit, index)).collect();
        while let Some(&(first, _)) = left.first() {
            let bank = self.ftl.superblocks().bank_of(self.ftl.superblocks().locate(first.lpn).superblock);
            let group: Vec<GroupUnit> = left.iter().map(|&(unit, _)| unit).collect();
            let plan = self.ftl.plan(bank, &group);
            self.ftl.begin(bank, &group[plan.accepted.clone()], &plan);
            while self.ftl.next_step(bank)?.is_some() {
                let taken = self.ftl.taken().to_vec();
                for (index, ppn) in taken {
                    let (_, unit) = left[plan.accepted.start + index as usize];
                    if let Some(stamps) = self.stamps.get(unit).cloned() {
                        self.ftl.store_stamps(ppn, &stamps);
                    }
                }
            }
            left.drain(plan.accepted);
        }
        self.stamps.clear();
        Ok(())
    }
}
