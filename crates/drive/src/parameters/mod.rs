//! Every parameter of a model: key, unit, range, default, meaning. One row each; the rest of the crate reads models
//! through these tables, so a key that is in none of them does not exist. Each family of drives has the tables that
//! apply to it (`Family::tables`).

mod compressed_map;
mod controller;
mod flash;
mod hard_disk;
mod identity;
mod log;
mod merging;
mod raid0;

/// Type and range of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number from the first to the second.
    Integer(u64, u64),
    /// A real number from the first to the second.
    Real(f64, f64),
    /// true or false.
    Boolean,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Lower case letters, digits and hyphens.
    Name,
    /// Free text.
    Text,
    /// A list of texts, at least one.
    Names,
}

/// What a parameter is when a model does not say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fallback {
    /// The model must say.
    Required,
    /// Nothing; the parameter does not apply.
    Absent,
    /// A whole number.
    Integer(u64),
    /// true or false.
    Boolean(bool),
    /// A word.
    Word(&'static str),
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Key with its section.
    pub key: &'static str,
    /// Unit, or "" for counts and words.
    pub unit: &'static str,
    /// Type and range.
    pub kind: Kind,
    /// What it is when a model does not say.
    pub default: Fallback,
    /// Meaning.
    pub help: &'static str,
}

pub(crate) const fn row(
    key: &'static str,
    unit: &'static str,
    kind: Kind,
    default: Fallback,
    help: &'static str,
) -> Parameter {
    Parameter { key, unit, kind, default, help }
}

/// One second, for ranges.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;
/// One hour, for ranges.
pub(crate) const HOUR_NS: u64 = 3600 * SECOND_NS;
/// The most that 32 bits hold, for ranges.
pub(crate) const MOST: u64 = u32::MAX as u64;

use Kind::{Boolean, Choice, Integer, Name, Names, Real, Text};

/// Words of `family`, in the order of [`Family`].
pub(crate) const FAMILY_WORDS: &[&str] =
    &["page-map", "compressed-map", "hard-disk", "raid-0", "superblock-map", "log-block-map"];

/// What kind of drive a model describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Flash behind a page map, fine or coarse.
    PageMap,
    /// Flash behind a map that compresses and stores copies once.
    CompressedMap,
    /// Platters and heads.
    HardDisk,
    /// Strips over several drives.
    #[serde(rename = "raid-0")]
    Raid0,
    /// Flash behind a map of superblocks, one replacement at a time.
    SuperblockMap,
    /// Flash behind a map of superblocks, with log blocks.
    LogBlockMap,
}

impl Family {
    /// All families.
    pub const ALL: &[Self] = &[
        Self::PageMap,
        Self::CompressedMap,
        Self::HardDisk,
        Self::Raid0,
        Self::SuperblockMap,
        Self::LogBlockMap,
    ];

    /// The family of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let index = FAMILY_WORDS.iter().position(|known| *known == word)?;
        Self::ALL.get(index).copied()
    }

    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        FAMILY_WORDS[self as usize]
    }

    /// Tables of the parameters that apply to the family, in the order in which people read them.
    #[must_use]
    pub fn tables(self) -> &'static [&'static [Parameter]] {
        match self {
            Self::PageMap => &[
                identity::IDENTITY,
                flash::CAPACITY,
                flash::FLASH,
                log::PAGE_MAP,
                log::JOURNAL,
                log::CLEANING,
                controller::CONTROLLER,
                controller::PAGES,
                controller::DATA_PATH,
                log::SCHEDULING,
                controller::LINK,
                controller::WRITE_BUFFER,
                controller::POWER,
            ],
            Self::CompressedMap => &[
                identity::IDENTITY,
                flash::CAPACITY,
                flash::FLASH,
                compressed_map::COMPRESSED_MAP,
                log::JOURNAL,
                log::CLEANING,
                controller::CONTROLLER,
                controller::PAGES,
                controller::DATA_PATH,
                log::SCHEDULING,
                controller::LINK,
                controller::WRITE_BUFFER,
                controller::POWER,
            ],
            Self::SuperblockMap => &[
                identity::IDENTITY,
                flash::CAPACITY,
                flash::FLASH,
                merging::SUPERBLOCKS,
                controller::CONTROLLER,
                merging::PARTIAL_UNITS,
                controller::DATA_PATH,
                controller::LINK,
                controller::WRITE_BUFFER,
                merging::WRITE_BUFFER,
                controller::POWER,
            ],
            Self::LogBlockMap => &[
                identity::IDENTITY,
                flash::CAPACITY,
                flash::FLASH,
                merging::SUPERBLOCKS,
                merging::LOG_BLOCKS,
                controller::CONTROLLER,
                merging::PARTIAL_UNITS,
                controller::DATA_PATH,
                controller::LINK,
                controller::WRITE_BUFFER,
                merging::WRITE_BUFFER,
                controller::POWER,
            ],
            Self::HardDisk => &[
                identity::IDENTITY,
                hard_disk::CAPACITY,
                hard_disk::DISK,
                hard_disk::CACHES,
                controller::CONTROLLER,
                hard_disk::SCHEDULING,
                controller::LINK,
                hard_disk::POWER,
            ],
            Self::Raid0 => &[identity::IDENTITY, raid0::ARRAY, raid0::BRIDGE],
        }
    }

    /// Parameters that apply to the family.
    pub fn parameters(self) -> impl Iterator<Item = &'static Parameter> {
        self.tables().iter().flat_map(|table| table.iter())
    }

    /// The row of a key, if it applies to the family.
    #[must_use]
    pub fn find(self, key: &str) -> Option<&'static Parameter> {
        self.parameters().find(|parameter| parameter.key == key)
    }

    /// The known key most like an unknown one.
    #[must_use]
    pub fn nearest(self, key: &str) -> Option<String> {
        let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
        let distance = |known: &str| {
            strsim::damerau_levenshtein(key, known).min(strsim::damerau_levenshtein(&last(key), &last(known)))
        };
        let best = self.parameters().min_by_key(|parameter| (distance(parameter.key), parameter.key))?;
        (distance(best.key) <= 2.max(last(key).len() / 3)).then(|| best.key.to_owned())
    }
}

/// Families to which a key applies.
#[must_use]
pub fn families_of(key: &str) -> Vec<Family> {
    Family::ALL.iter().copied().filter(|family| family.find(key).is_some()).collect()
}

impl Kind {
    /// What is allowed, in words.
    #[must_use]
    pub fn allowed(&self) -> String {
        match self {
            Integer(least, most) => format!("must be a whole number from {least} to {most}"),
            Real(least, most) => format!("must be a number from {least} to {most}"),
            Boolean => "must be true or false".to_owned(),
            Choice(words) => format!("must be one of {}", words.join(", ")),
            Name => {
                "must be lower case letters, digits and hyphens, with a firmware after @ if it is a variant"
                    .to_owned()
            }
            Text => "must be text".to_owned(),
            Names => "must be a list of names, at least one".to_owned(),
        }
    }
}
