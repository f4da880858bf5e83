//! An open image: its media, its cells, its state.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drivelab_controller::{Device, Effects, FlashShape, PowerCut};
use drivelab_drive::{Drive, Model};
use drivelab_nand::Medium;
use drivelab_nand::view::MediumView;
use memmap2::MmapMut;

use crate::cells::Cells;
use crate::error::ImageError;
use crate::file::{self, Opened};
use crate::manifest::{Manifest, ModelTexts};
use crate::mapping::{Sharing, copy, map};
use crate::room::{FileRoom, Room, bytes_on_disk, free_bytes, holes_cost};
use crate::state::{State, StateSlots};
use crate::store::{HostData, Store, wipe};
use crate::store_error::StoreError;

/// What an image is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To be served, by one at a time.
    Serve,
    /// To be looked at: what is stored stays in memory and is forgotten.
    Look,
}

/// An image of a drive, locked as long as it is open.
#[derive(Debug)]
pub struct Image {
    path: PathBuf,
    file: File,
    manifest: Manifest,
    access: Access,
    slots: StateSlots,
    state: State,
    stores: Vec<Store<MmapMut, FileRoom>>,
    /// What a mount reads, where loads from the holes of a mapped file take space.
    copies: Vec<Medium<MmapMut>>,
    bytes_max: u64,
    /// Bytes that the file system had when it was last asked, less what was promised since.
    known_free_bytes: u64,
}

impl Image {
    /// Makes the image of a new drive.
    ///
    /// # Errors
    /// A model that can't be kept in an image, a file that is there already, or what the operating system says; nothing
    /// is left behind then.
    pub fn create(path: &Path, texts: &ModelTexts, seed: u64) -> Result<(), ImageError> {
        let refuse = |what: String| ImageError::Model { path: path.to_owned(), what };
        let model = texts.parse().map_err(refuse)?;
        let mut drive = Drive::new(Arc::clone(&model), seed).map_err(|error| refuse(error.to_string()))?;
        let media = drive.engine().flash_shapes();
        drive.record_effects().map_err(|reason| refuse(reason.to_owned()))?;
        let counters = drive.smart().as_object().cloned().unwrap_or_default();
        let state = State { is_clean: true, counters, ..State::default() };
        file::create(path, &Manifest::new(texts, &model, seed, drive.capacity_sectors(), media), &state)
    }

    /// Opens an image.
    ///
    /// # Errors
    /// [`ImageError`]; nothing has changed then.
    pub fn open(path: &Path, access: Access) -> Result<Self, ImageError> {
        let Opened { file, manifest, layout, state, slots } = file::open(path, access == Access::Look)?;
        let (mut stores, mut copies) = (Vec::with_capacity(manifest.media.len()), Vec::new());
        for (shape, &begins) in manifest.media.iter().zip(&layout.media) {
            stores.push(open_store(path, &file, shape, begins, access)?);
            if access == Access::Serve && holes_cost(&file) {
                let bytes = copy(&file, begins.0, shape.medium().bytes());
                copies.push(medium(path, shape, bytes.map_err(ImageError::io(path, "can't be read"))?)?);
            }
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            manifest,
            access,
            slots,
            state,
            stores,
            copies,
            bytes_max: u64::MAX,
            known_free_bytes: 0,
        })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What never changes about it.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What changes beside its flash.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Changes the state, whole or not at all.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn save(&mut self, state: State) -> Result<(), ImageError> {
        if self.access == Access::Serve {
            let write = ImageError::io(&self.path, "can't be written");
            self.slots.write(&self.file, &state).map_err(write)?;
        }
        self.state = state;
        Ok(())
    }

    /// The file may take at most so many bytes on disk from now on.
    pub fn limit(&mut self, bytes_max: u64) {
        self.bytes_max = bytes_max;
        self.known_free_bytes = 0;
        self.stores.iter_mut().for_each(|store| store.room_mut().limit(bytes_max));
    }

    /// Bytes that it takes on disk.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn bytes_on_disk(&self) -> Result<u64, ImageError> {
        bytes_on_disk(&self.file).map_err(ImageError::io(&self.path, "can't be measured"))
    }

    /// Whether so many bytes more can be promised to the host, and the drive can still go to rest. The file system is
    /// not asked every time; somebody else may fill it in between.
    pub fn has_room_for(&mut self, bytes: u64) -> bool {
        /// For the map's records of what is promised, and for steps that are not full.
        const MARGIN_BYTES: u64 = 16 << 20;
        let checkpoints = self.stores.iter().map(|store| store.medium().checkpoint_bytes());
        let reserve = MARGIN_BYTES + checkpoints.sum::<u64>();
        let bytes = bytes + self.stores.iter().map(|store| store.room().step_bytes()).max().unwrap_or(0);
        if self.known_free_bytes < bytes + reserve {
            let free = free_bytes(&self.file, self.bytes_max);
            // Asked again when half of it may be gone.
            self.known_free_bytes = reserve + free.saturating_sub(reserve) / 2;
            if free < bytes + reserve {
                return false;
            }
        }
        self.known_free_bytes = self.known_free_bytes.saturating_sub(bytes);
        true
    }

    /// The model that the image holds.
    ///
    /// # Errors
    /// [`ImageError::Model`]: this engine reads it no more, or makes another drive of it.
    pub fn model(&self) -> Result<Arc<Model>, ImageError> {
        let refuse = |what: String| ImageError::Model { path: self.path.clone(), what };
        let model = self.manifest.model.parse().map_err(refuse)?;
        let drive =
            Drive::new(Arc::clone(&model), self.manifest.seed).map_err(|error| refuse(error.to_string()))?;
        if drive.engine().flash_shapes() != self.manifest.media
            || drive.capacity_sectors() != self.manifest.sector_count
        {
            return Err(refuse(format!(
                "made by engine {}, which lays the flash of {} out differently",
                self.manifest.engine_version, self.manifest.model_name
            )));
        }
        Ok(model)
    }

    /// The media, as a mount reads them.
    #[must_use]
    pub fn media(&self) -> Vec<&dyn MediumView> {
        self.readable().map(|medium| medium as &dyn MediumView).collect()
    }

    /// The mount is over, and the media will change.
    pub(crate) fn forget_copies(&mut self) {
        self.copies = Vec::new();
    }

    /// The media, where they can be read all over.
    fn readable(&self) -> impl Iterator<Item = &Medium<MmapMut>> {
        let stored = if self.copies.is_empty() { &self.stores[..] } else { &[] };
        self.copies.iter().chain(stored.iter().map(Store::medium))
    }

    /// Medium and payload.
    #[must_use]
    pub fn stores(&self) -> &[Store<MmapMut, FileRoom>] {
        &self.stores
    }

    /// What is wrong with the parts of the media that recovery trusts.
    #[must_use]
    pub fn check_areas(&self) -> Vec<String> {
        self.faults(Medium::check_areas)
    }

    /// What is wrong with the media.
    #[must_use]
    pub fn check_media(&self) -> Vec<String> {
        self.faults(Medium::check)
    }

    fn faults(&self, check: impl Fn(&Medium<MmapMut>) -> Vec<String>) -> Vec<String> {
        let several = self.stores.len() > 1;
        let of_medium = |(index, medium): (usize, &Medium<MmapMut>)| {
            let lines = check(medium).into_iter();
            lines
                .map(|line| if several { format!("medium {index}: {line}") } else { line })
                .collect::<Vec<_>>()
        };
        self.readable().enumerate().flat_map(of_medium).collect()
    }

    /// Carries out effects on one medium, up to where the power fails if it does. Gives whether it has.
    ///
    /// # Errors
    /// [`ImageError::NoSpace`] or [`ImageError::Defect`] at the first effect that can't be carried out. Those behind it
    /// must not be either: it is a power cut.
    pub fn carry_out(
        &mut self,
        medium: usize,
        effects: &Effects,
        cut: Option<PowerCut>,
        host: &mut impl HostData,
    ) -> Result<bool, ImageError> {
        let store = &mut self.stores[medium];
        let carried = match cut {
            None => store.carry_out(effects, host).map(|()| false),
            Some(cut) => store.carry_out_until(cut, effects, host),
        };
        carried.map_err(|error| ImageError::store(&self.path, error))
    }

    /// The power fails: what has begun is torn.
    pub fn cut(&mut self) {
        for store in &mut self.stores {
            store.cut();
        }
    }

    /// Brings what was stored to the disk beneath.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn sync(&self) -> Result<(), ImageError> {
        self.file.sync_data().map_err(ImageError::io(&self.path, "can't be synchronised"))
    }
}

fn open_store(
    path: &Path,
    file: &File,
    shape: &FlashShape,
    begins: (u64, u64),
    access: Access,
) -> Result<Store<MmapMut, FileRoom>, ImageError> {
    let sharing = if access == Access::Serve { Sharing::Shared } else { Sharing::Private };
    let unmapped = ImageError::io(path, "can't be mapped");
    let part = |begin: u64, bytes: u64| {
        map(file, begin, bytes, sharing).map_err(ImageError::io(path, "can't be mapped"))
    };
    let (medium_bytes, payload_bytes) = (shape.medium().bytes(), shape.payload_bytes());
    let bytes = if access == Access::Look && holes_cost(file) {
        copy(file, begins.0, medium_bytes).map_err(unmapped)?
    } else {
        part(begins.0, medium_bytes)?
    };
    // Nobody who only looks loads from cells.
    let mut cells = Cells::new(part(begins.1, payload_bytes)?, shape.cell_bytes);
    let own = file.try_clone().map_err(ImageError::io(path, "can't be opened"))?;
    // Cells of a disk lie where its sectors do, those of flash side by side.
    let step_bytes = if shape.blocks == 0 { 16 << 10 } else { 256 << 10 };
    let mut room =
        FileRoom::new(own, step_bytes, (begins.0, medium_bytes), (begins.1, payload_bytes), u64::MAX);
    if access == Access::Serve {
        make_first_room(shape, &bytes, &mut cells, &mut room)
            .map_err(|error| ImageError::store(path, error))?;
    }
    Ok(Store::new(medium(path, shape, bytes)?, cells, room))
}

/// Room for what is loaded when a medium is opened; a secure erase that was cut goes on before anything is read.
fn make_first_room(
    shape: &FlashShape,
    bytes: &[u8],
    cells: &mut Cells<MmapMut>,
    room: &mut FileRoom,
) -> Result<(), StoreError> {
    // A shape that can't be is refused by the medium.
    for place in shape.medium().loaded_at_first().into_iter().flatten() {
        room.make_to_load(place)?;
    }
    if Medium::<MmapMut>::is_erasing(bytes) {
        room.make_to_load(0..bytes.len())?;
        wipe(cells, room)?;
    }
    Ok(())
}

fn medium(path: &Path, shape: &FlashShape, bytes: MmapMut) -> Result<Medium<MmapMut>, ImageError> {
    Medium::new(shape.medium(), bytes).map_err(|error| ImageError::damaged(path, error.to_string()))
}
