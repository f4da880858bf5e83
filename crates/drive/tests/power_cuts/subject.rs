//! A drive under test: how it is made, and how it comes up again.

use std::sync::Arc;

use drivelab_controller::{Device, FlashShape};
use drivelab_drive::{Engine, Model, Partition, build};

use drivelab_nand::view::MediumView;

use crate::medium::Medium;
use crate::oracle::{Class, Failure, Promises};

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

impl Subject {
    /// `None`: a drive that forgets everything with its power.
    pub fn new(model: Model, seed: u64) -> Option<Self> {
        let pristine = build::partitioned(&model, seed).ok()?;
        let shapes = pristine.device().flash_shapes();
        let trim_unit = pristine.device().trim_unit_sectors().map_or(0, u64::from);
        let has_capacitor = says(&model, "write_buffer.capacitor");
        let durable_writes = has_capacitor || !says(&model, "write_buffer.write_back");
        let sectors = pristine.capacity_sectors();
        if pristine.device().forgets().is_some() {
            return None;
        }
        Some(Self {
            model: Arc::new(model),
            pristine,
            shapes,
            trim_unit,
            promises: Promises { durable_writes, durable_trims: has_capacitor },
            sectors,
        })
    }

    /// Sectors of a map unit.
    pub fn unit(&self) -> u64 {
        u64::from(self.shapes[0].cell_bytes / 512)
    }

    /// Whether it matters what is written.
    pub fn compresses(&self) -> bool {
        self.model.family() == drivelab_drive::Family::CompressedMap
    }

    /// A new drive.
    pub fn new_drive(&self) -> Option<Partition<Engine>> {
        let mut drive = self.pristine.clone();
        drive.device_mut().record_effects().ok()?;
        Some(drive)
    }

    pub fn new_media(&self) -> Vec<Medium> {
        self.shapes.iter().map(|&shape| Medium::new(shape)).collect()
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
