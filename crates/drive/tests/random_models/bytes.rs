//! What keeps a drive's bytes when the drive is in durable mode: carries out its effects. A stamp stands for the bytes of
//! a sector.

use std::collections::HashMap;

use drivelab_controller::{Command, Device, Effect, Effects, Op};
use drivelab_drive::{Engine, Partition};

/// Cells of every medium, and data of commands on its way.
#[derive(Default)]
pub struct Bytes {
    cells: HashMap<(usize, u32), Vec<u64>>,
    writes: HashMap<u32, u64>,
    reads: HashMap<u32, Vec<u64>>,
    sectors: Vec<usize>,
    effects: Effects,
}

impl Bytes {
    /// For a drive that has just been put into durable mode.
    pub fn of(drive: &Partition<Engine>) -> Self {
        let shapes = drive.device().flash_shapes();
        let sectors = shapes.iter().map(|shape| (shape.cell_bytes / 512) as usize).collect();
        Self { sectors, ..Self::default() }
    }

    /// A command is about to be handed over.
    pub fn submitted(&mut self, command: &Command) {
        match command.op {
            Op::Write => drop(self.writes.insert(command.tag, command.stamp)),
            Op::Read => drop(self.reads.insert(command.tag, vec![u64::MAX; command.sector_count as usize])),
            Op::Flush | Op::Trim => {}
        }
    }

    /// What a read has got.
    pub fn take_read(&mut self, tag: u32) -> Vec<u64> {
        self.reads.remove(&tag).unwrap()
    }

    /// Carries out what the drive has done since.
    pub fn carry_out(&mut self, drive: &mut Partition<Engine>) {
        let mut effects = std::mem::take(&mut self.effects);
        for medium in 0..self.sectors.len() {
            drive.device_mut().take_effects(medium, &mut effects);
            for &effect in &effects.list {
                self.apply(medium, effect);
            }
        }
        self.effects = effects;
        assert!(drive.now_ns() < u64::MAX);
    }

    fn apply(&mut self, medium: usize, effect: Effect) {
        let empty = vec![0; self.sectors[medium]];
        match effect {
            Effect::Fill { cell, base, first, count, tag, offset } => {
                let mut data = self.cells.get(&(medium, base)).unwrap_or(&empty).clone();
                let stamp = self.writes[&tag] + u64::from(offset);
                for (place, stamp) in data[first as usize..(first + count) as usize].iter_mut().zip(stamp..) {
                    *place = stamp;
                }
                self.cells.insert((medium, cell), data);
            }
            Effect::Send { cell, first, count, tag, offset } => {
                let data = self.cells.get(&(medium, cell)).unwrap_or(&empty);
                let sectors = &data[first as usize..(first + count) as usize];
                if let Some(read) = self.reads.get_mut(&tag) {
                    read[offset as usize..(offset + count) as usize].copy_from_slice(sectors);
                }
            }
            Effect::Copy { from, to, count } => {
                for index in 0..count {
                    let data = self.cells.get(&(medium, from + index)).unwrap_or(&empty).clone();
                    self.cells.insert((medium, to + index), data);
                }
            }
            Effect::Free { first, count } => {
                (first..first + count).for_each(|cell| drop(self.cells.remove(&(medium, cell))));
            }
            Effect::SecureErase => self.cells.retain(|&(of, _), _| of != medium),
            Effect::Hold { .. } | Effect::Unhold { .. } | Effect::Begin { .. } | Effect::End { .. } => {}
        }
    }
}
