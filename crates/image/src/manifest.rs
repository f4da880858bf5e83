//! What never changes about an image: which drive it is, and how its file is cut.

use std::sync::Arc;

use drivelab_controller::FlashShape;
use drivelab_drive::{ENGINE_VERSION, Layer, Model};
use drivelab_nand::SECTOR_BYTES;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::header::{Header, PAGE_BYTES};
use crate::state::SLOT_BYTES;

/// The format that is written, and the newest that is read.
pub const FORMAT_VERSION: u32 = 1;

/// Most media in an image: members of an array.
const MEDIA_MAX: usize = 1024;
/// Largest cell: a map unit is at most a block.
const CELL_BYTES_MAX: u32 = 1 << 30;

/// The texts that a model is parsed from, so that an image needs no model files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelTexts {
    /// Text and origin of each layer, the base first.
    pub layers: Vec<(String, String)>,
    /// Keys and values of the command line.
    pub overrides: Vec<(String, String)>,
    /// Of an array: its members.
    pub members: Vec<ModelTexts>,
}

impl ModelTexts {
    /// Parses the model.
    ///
    /// # Errors
    /// The engine's message.
    pub fn parse(&self) -> Result<Arc<Model>, String> {
        let members = self.members.iter().map(Self::parse).collect::<Result<Vec<_>, _>>()?;
        let layers: Vec<_> = self.layers.iter().map(|(text, origin)| Layer { text, origin }).collect();
        let model = Model::parse_array(&layers, &self.overrides, &members);
        model.map(Arc::new).map_err(|error| in_one_line(&error.to_string()))
    }
}

/// Mistakes in TOML come with a drawing of their place.
fn in_one_line(message: &str) -> String {
    let says = |line: &&str| line.chars().any(char::is_alphanumeric);
    message.lines().map(str::trim).filter(says).collect::<Vec<_>>().join("; ")
}

/// Who a drive is. Both follow from seed and model: the same two make the same image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// As 8-4-4-4-12 hexadecimal digits.
    pub uuid: String,
    /// At most 20 letters and digits, as an ATA drive's.
    pub serial: String,
}

impl Identity {
    fn new(seed: u64, model_hash: &str) -> Self {
        let hash = xxh3_128_with_seed(model_hash.as_bytes(), seed);
        // Version 8 (custom), variant 1.
        let uuid = hash & !(0xF << 76 | 0x3 << 62) | 0x8 << 76 | 0x2 << 62;
        let part = |low: u32, digits: u32| uuid >> low & ((1 << (4 * digits)) - 1);
        Self {
            uuid: format!(
                "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                part(96, 8),
                part(80, 4),
                part(64, 4),
                part(48, 4),
                part(0, 12)
            ),
            serial: format!("DL{:016X}", hash as u64),
        }
    }
}

/// Why a shape is none that a drive can have.
fn validate(shape: &FlashShape) -> Result<(), String> {
    shape.medium().validate().map_err(|error| error.to_string())?;
    let is_whole = shape.cell_bytes.is_multiple_of(SECTOR_BYTES);
    if !is_whole || shape.cell_bytes == 0 || shape.cell_bytes > CELL_BYTES_MAX || shape.cells == 0 {
        return Err(format!("{} cells of {} bytes", shape.cells, shape.cell_bytes));
    }
    Ok(())
}

/// What never changes about an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the engine that made it.
    pub engine_version: String,
    /// Who the drive is.
    pub identity: Identity,
    /// Decides everything that is random inside the drive.
    pub seed: u64,
    /// Name of the model.
    pub model_name: String,
    /// Hash of the model as the engine that made the image read it.
    pub model_hash: String,
    /// Size as the host sees it.
    pub sector_count: u64,
    /// Every medium.
    pub media: Vec<FlashShape>,
    /// The model.
    pub model: ModelTexts,
}

/// Where the parts of a file begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileLayout {
    pub(crate) state: u64,
    /// Begin of medium and payload.
    pub(crate) media: Vec<(u64, u64)>,
    pub(crate) file_bytes: u64,
}

impl Manifest {
    /// The manifest of a new image.
    pub(crate) fn new(
        texts: &ModelTexts,
        model: &Model,
        seed: u64,
        sector_count: u64,
        media: Vec<FlashShape>,
    ) -> Self {
        let model_hash = model.hash();
        Self {
            engine_version: ENGINE_VERSION.to_owned(),
            identity: Identity::new(seed, &model_hash),
            seed,
            model_name: model.name().to_owned(),
            model_hash,
            sector_count,
            media,
            model: texts.clone(),
        }
    }

    /// The text in the file, and the header before it.
    pub(crate) fn encode(&self) -> Result<(Header, Vec<u8>), String> {
        let text = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        let manifest_bytes = text.len() as u64;
        let header = Header {
            version: FORMAT_VERSION,
            manifest_bytes,
            manifest_check: xxhash_rust::xxh3::xxh3_64(&text),
            file_bytes: self.layout(manifest_bytes)?.file_bytes,
        };
        Ok((header, text))
    }

    /// Reads the text that a header speaks of.
    pub(crate) fn decode(header: &Header, text: &[u8]) -> Result<(Self, FileLayout), String> {
        if xxhash_rust::xxh3::xxh3_64(text) != header.manifest_check {
            return Err("the checksum of its manifest doesn't fit".into());
        }
        let manifest: Self =
            serde_json::from_slice(text).map_err(|error| format!("its manifest: {error}"))?;
        let layout = manifest.layout(header.manifest_bytes)?;
        if layout.file_bytes != header.file_bytes {
            return Err(format!(
                "its header says {} bytes, its manifest {}",
                header.file_bytes, layout.file_bytes
            ));
        }
        Ok((manifest, layout))
    }

    /// Cuts the file: header, manifest, state, media, payloads.
    fn layout(&self, manifest_bytes: u64) -> Result<FileLayout, String> {
        if self.media.is_empty() || self.media.len() > MEDIA_MAX {
            return Err(format!("{} media", self.media.len()));
        }
        let state = PAGE_BYTES + manifest_bytes.next_multiple_of(PAGE_BYTES);
        let mut end = state + 2 * SLOT_BYTES;
        let mut place = |bytes: u64| {
            let begin = end;
            end = bytes.checked_next_multiple_of(PAGE_BYTES).and_then(|bytes| begin.checked_add(bytes))?;
            i64::try_from(end).is_ok().then_some(begin)
        };
        let mut begins = Vec::with_capacity(self.media.len());
        for shape in &self.media {
            validate(shape)?;
            begins.push(place(shape.medium().bytes()).ok_or("media that no file can hold")?);
        }
        let mut media = Vec::with_capacity(self.media.len());
        for (begin, shape) in begins.into_iter().zip(&self.media) {
            media.push((begin, place(shape.payload_bytes()).ok_or("cells that no file can hold")?));
        }
        Ok(FileLayout { state, media, file_bytes: end })
    }
}
