//! A partition: the host uses the first part of a drive and never touches the rest, which so becomes spare area.

use drivelab_controller::{Command, CommandError, Completion, Device, QueueClass, SECTOR_BYTES};
use drivelab_nand::GeometryError;
use drivelab_sim::Nanos;
use serde::{Deserialize, Serialize};

/// The first sectors of a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Partition<D> {
    device: D,
    sectors: u64,
}

impl<D: Device> Partition<D> {
    /// All of a device.
    pub fn whole(device: D) -> Self {
        Self { sectors: device.capacity_sectors(), device }
    }

    /// The first `bytes` of a device, rounded down to sectors.
    ///
    /// # Errors
    /// Less than a sector, or more than the device has.
    pub fn new(device: D, bytes: u64) -> Result<Self, GeometryError> {
        let most = device.capacity_sectors().saturating_mul(SECTOR_BYTES);
        if bytes < SECTOR_BYTES || bytes > most {
            let allowed = format!("must be {SECTOR_BYTES} to the drive's capacity, {most} bytes");
            return Err(GeometryError::new("partition_bytes", bytes, allowed));
        }
        Ok(Self { device, sectors: bytes / SECTOR_BYTES })
    }

    /// The whole device.
    #[must_use]
    pub fn device(&self) -> &D {
        &self.device
    }

    /// The whole device, to erase or idle it.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }
}

impl<D: Device> Device for Partition<D> {
    fn capacity_sectors(&self) -> u64 {
        self.sectors
    }

    fn queue_depth(&self) -> u32 {
        self.device.queue_depth()
    }

    fn queue_count(&self) -> u32 {
        self.device.queue_count()
    }

    fn queue_lengths(&self) -> Vec<u32> {
        self.device.queue_lengths()
    }

    fn set_queue_classes(&mut self, classes: &[QueueClass]) {
        self.device.set_queue_classes(classes);
    }

    fn max_transfer_sectors(&self) -> u32 {
        self.device.max_transfer_sectors()
    }

    fn now_ns(&self) -> Nanos {
        self.device.now_ns()
    }

    #[inline]
    fn submit(&mut self, now_ns: Nanos, command: Command) -> Result<(), CommandError> {
        let end = command.lba.saturating_add(u64::from(command.sector_count));
        if end > self.sectors {
            let capacity_sectors = self.sectors;
            return Err(CommandError::OutOfRange { lba: command.lba, end, capacity_sectors });
        }
        self.device.submit(now_ns, command)
    }

    #[inline]
    fn next_event(&mut self) -> Option<Nanos> {
        self.device.next_event()
    }

    #[inline]
    fn advance(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        self.device.advance(until_ns, done);
    }

    #[allow(clippy::inline_always, reason = "hot, and called by too many families to be inlined otherwise")]
    #[inline(always)]
    fn advance_to_completion(&mut self, until_ns: Nanos, done: &mut Vec<Completion>) {
        self.device.advance_to_completion(until_ns, done);
    }

    #[inline]
    fn prefetch(&self, lba: u64) {
        self.device.prefetch(lba);
    }
}
