//! A drive under test: how it is made, and how it comes up again.

use std::sync::Arc;

use drivelab_controller::{Device, FlashShape};
use drivelab_drive::{Engine, Family, Model, Partition, build};

use drivelab_nand::view::MediumView;

use super::medium::Medium;
use super::oracle::{Class, Failure, Promises};

/// Sectors that hosts of disks like to write together.
const DISK_UNIT: u64 = 4;

/// A drive, and what its host knows of it.
pub struct Subject {
    pub model: Arc<Model>,
    pristine: Partition<Engine>,
    pub shapes: Vec<FlashShape>,
    /// Sectors that a trim frees only together; 0: trims have no effect.
    pub trim_unit: u64,
    pub promises: Promises,
    pub sectors: u64,
}

fn says(model: &Model, key: &str) -> bool {
    model.parameters().any(|(parameter, sourced)| parameter.key == key && sourced.value == true)
}

/// Whether it is true of a drive, or of all members of an array.
fn all_drives(model: &Model, holds: &impl Fn(&Model) -> bool) -> bool {
    if model.members().is_empty() {
        holds(model)
    } else {
        model.members().iter().all(|member| all_drives(member, holds))
    }
}

impl Subject {
    /// `None`: a drive that forgets everything with its power.
    pub fn new(model: Model, seed: u64) -> Option<Self> {
        let pristine = build::partitioned(&model, seed).ok()?;
        let shapes = pristine.device().flash_shapes();
        let trim_unit = pristine.device().trim_unit_sectors().map_or(0, u64::from);
        let has_capacitor = |model: &Model| says(model, "write_buffer.capacitor");
        let writes_through = |model: &Model| has_capacitor(model) || !says(model, "write_buffer.write_back");
        let promises = Promises {
            durable_writes: all_drives(&model, &writes_through),
            durable_trims: all_drives(&model, &has_capacitor),
        };
        let sectors = pristine.capacity_sectors();
        if pristine.device().forgets().is_some() {
            return None;
        }
        Some(Self { model: Arc::new(model), pristine, shapes, trim_unit, promises, sectors })
    }

    /// Sectors of a map unit; of a disk, what a host may take for one.
    pub fn unit(&self) -> u64 {
        if self.shapes[0].blocks == 0 { DISK_UNIT } else { u64::from(self.shapes[0].cell_bytes / 512) }
    }

    /// Whether it matters what is written.
    pub fn compresses(&self) -> bool {
        !all_drives(&self.model, &|model| model.family() != Family::CompressedMap)
    }

    /// A new drive.
    pub fn new_drive(&self) -> Option<Partition<Engine>> {
        let mut drive = self.pristine.clone();
        drive.device_mut().record_effects().ok()?;
        Some(drive)
    }

    pub fn new_media(&self) -> Vec<Medium> {
        let held_word_lines = self.held_word_lines();
        let new = |&shape| {
            let mut medium = Medium::new(shape);
            medium.held_word_lines = held_word_lines;
            medium
        };
        self.shapes.iter().map(new).collect()
    }

    /// Word lines behind one that have their first of two passes before its second; 0: there is one pass.
    fn held_word_lines(&self) -> u32 {
        let integer = |key: &str| {
            let mut parameters = self.model.parameters();
            let (_, sourced) = parameters.find(|(parameter, _)| parameter.key == key)?;
            sourced.value.as_u64()
        };
        match integer("flash.program_passes") {
            Some(2) => integer("flash.held_word_lines").unwrap_or(1) as u32,
            _ => 0,
        }
    }

    /// The drive that these media make.
    pub fn mount(&self, media: &[Medium]) -> Result<Partition<Engine>, Failure> {
        let mut drive = self.pristine.clone();
        let views: Vec<&dyn MediumView> = media.iter().map(|medium| medium as &dyn MediumView).collect();
        match drive.device_mut().mount(&views) {
            Ok(_) => Ok(drive),
            Err(text) => Err(Failure::new(Class::Unmountable, text)),
        }
    }
}
