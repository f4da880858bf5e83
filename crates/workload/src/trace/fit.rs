//! Traces recorded on larger drives.

use drivelab_controller::Op;

use super::table::Trace;
use crate::error::WorkloadError;
use crate::requests::op_code;

/// Renumbering and wrapping move requests by multiples of this, so that alignment to 4 KiB stays what it was.
const GRAIN_SECTORS: u64 = 8;

/// What to do with requests that lie beyond the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beyond {
    /// Refuse the trace.
    #[default]
    Reject,
    /// Wrap offsets at the drive's size. Places that were apart may become one.
    Modulo,
    /// Renumber: only places that the trace touches count, in their order (device by device). Neighbours stay
    /// neighbours and no two places become one.
    Compact,
}

impl Beyond {
    /// The choice of a name.
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] listing the names.
    pub fn from_name(name: &str) -> Result<Self, WorkloadError> {
        match name {
            "reject" => Ok(Self::Reject),
            "modulo" => Ok(Self::Modulo),
            "compact" => Ok(Self::Compact),
            _ => Err(WorkloadError::invalid("beyond", name, "must be reject, modulo or compact")),
        }
    }
}

impl Trace {
    /// Makes every request fit a drive of `capacity_sectors`.
    ///
    /// # Errors
    /// [`WorkloadError::Invalid`] for a request that doesn't fit: with [`Beyond::Reject`], or if a request or all
    /// that the trace touches is larger than the drive.
    pub fn fit(mut self, capacity_sectors: u64, beyond: Beyond) -> Result<Self, WorkloadError> {
        match beyond {
            Beyond::Reject => self.requests().validate(capacity_sectors, false)?,
            Beyond::Modulo => self.wrap(capacity_sectors)?,
            Beyond::Compact => self.renumber(capacity_sectors)?,
        }
        Ok(self)
    }

    fn wrap(&mut self, capacity_sectors: u64) -> Result<(), WorkloadError> {
        // Whole grains only: what lies behind the last one is not wrapped to.
        let size = if capacity_sectors > GRAIN_SECTORS {
            capacity_sectors - capacity_sectors % GRAIN_SECTORS
        } else {
            capacity_sectors.max(1)
        };
        for (index, (lba, &count)) in self.lba.iter_mut().zip(&self.sector_count).enumerate() {
            let count = u64::from(count);
            if count > capacity_sectors {
                let allowed = format!("is more than the whole drive of {capacity_sectors} sectors");
                return Err(WorkloadError::invalid(format!("sector_count[{index}]"), count, allowed));
            }
            if *lba + count <= capacity_sectors {
                continue;
            }
            *lba %= size;
            let over = (*lba + count).saturating_sub(capacity_sectors);
            *lba = lba.saturating_sub(over.next_multiple_of(GRAIN_SECTORS));
        }
        Ok(())
    }

    fn renumber(&mut self, capacity_sectors: u64) -> Result<(), WorkloadError> {
        let flush = op_code(Op::Flush);
        let mut touched: Vec<Extent> = (0..self.len())
            .filter(|&row| self.op[row] != flush)
            .map(|row| {
                let start = self.lba[row] - self.lba[row] % GRAIN_SECTORS;
                let end = (self.lba[row] + u64::from(self.sector_count[row])).next_multiple_of(GRAIN_SECTORS);
                Extent { device: self.device[row], start, end, new_start: 0 }
            })
            .collect();
        touched.sort_unstable_by_key(|extent| (extent.device, extent.start, extent.end));
        let mut extents: Vec<Extent> = Vec::new();
        for extent in touched {
            match extents.last_mut() {
                Some(last) if last.device == extent.device && extent.start <= last.end => {
                    last.end = last.end.max(extent.end);
                }
                _ => extents.push(extent),
            }
        }
        let mut size = 0u64;
        for extent in &mut extents {
            extent.new_start = size;
            size = size.saturating_add(extent.end - extent.start);
        }
        for row in (0..self.len()).filter(|&row| self.op[row] != flush) {
            let key = (self.device[row], self.lba[row]);
            let after = extents.partition_point(|extent| (extent.device, extent.start) <= key);
            let extent = &extents[after - 1];
            self.lba[row] = extent.new_start + (self.lba[row] - extent.start);
        }
        // The last grain may reach past the end where no request does.
        let ends = self.lba.iter().zip(&self.sector_count).map(|(&lba, &count)| lba + u64::from(count));
        let needed = ends.max().unwrap_or(0);
        if needed > capacity_sectors {
            let allowed =
                format!("is more than the drive's {capacity_sectors}, even without the gaps between them");
            return Err(WorkloadError::invalid("sectors that the trace touches", needed, allowed));
        }
        Ok(())
    }
}

/// A touched range of a device, in whole grains.
struct Extent {
    device: u32,
    start: u64,
    end: u64,
    new_start: u64,
}
