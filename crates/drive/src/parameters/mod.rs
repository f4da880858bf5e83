//! Every parameter of a model: key, unit, range, default, meaning. One row each; the rest of the crate reads models
//! through these tables, so a key that is in none of them does not exist. Each family of drives has the tables that
//! apply to it (`Family::tables`).

mod compressed_map;
mod controller;
mod errors;
mod family;
mod flash;
mod hard_disk;
mod identity;
mod log;
mod merging;
mod nvme;
mod raid0;
mod row;
mod slc_cache;
mod word_lines;

pub(crate) use family::FAMILY_WORDS;
pub use family::Family;
pub(crate) use identity::SCALE_KEY;
pub(crate) use row::{BIT_ERRORS, CAPACITY_KEY, CELL_KEY};
pub use row::{Fallback, Kind, Parameter};

/// A section of at most so many keys is listed whole where none of them is like what was asked for.
const LISTED_MAX: usize = 12;

impl Family {
    /// Tables of the parameters that apply to the family, in the order in which people read them.
    #[must_use]
    pub fn tables(self) -> &'static [&'static [Parameter]] {
        match self {
            Self::PageMap => &[
                identity::IDENTITY,
                flash::CAPACITY,
                flash::FLASH,
                word_lines::WORD_LINES,
                slc_cache::SLC_CACHE,
                errors::ERRORS,
                log::PAGE_MAP,
                log::JOURNAL,
                log::CLEANING,
                controller::CONTROLLER,
                controller::PAGES,
                controller::DATA_PATH,
                log::SCHEDULING,
                word_lines::COMMANDS,
                nvme::NVME,
                nvme::HOST_MEMORY,
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

    /// The known key most like an unknown one, in its section first; of a small section all of them.
    #[must_use]
    pub fn nearest(self, key: &str) -> Option<String> {
        let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
        let distance = |known: &str| {
            // Who left out the end of a name, or put it in the plural, meant one that begins like that.
            if last(key).len() > 2 && last(known).starts_with(last(key).trim_end_matches('s')) {
                return 1;
            }
            strsim::damerau_levenshtein(key, known).min(strsim::damerau_levenshtein(&last(key), &last(known)))
        };
        let most = 2.max(last(key).len() / 3);
        let section_of = |known: &'static str| known.rsplit_once('.').map_or("", |(section, _)| section);
        let asked = key.rsplit_once('.').map_or("", |(section, _)| section);
        let all: Vec<&'static str> = self.parameters().map(|parameter| parameter.key).collect();
        let nearest = |keys: &[&'static str]| {
            let near = keys.iter().copied().filter(|known| distance(known) <= most);
            near.min_by_key(|&known| (distance(known), known)).map(str::to_owned)
        };
        let siblings: Vec<_> =
            all.iter().copied().filter(|&known| !asked.is_empty() && section_of(known) == asked).collect();
        let few = !siblings.is_empty() && siblings.len() <= LISTED_MAX;
        // Who names a section may mean it; a whole name is meant wherever it is.
        let elsewhere = all.iter().copied().find(|known| last(known) == last(key)).map(str::to_owned);
        let own = nearest(&siblings).or(elsewhere);
        own.or_else(|| few.then(|| format!("one of {}", siblings.join(", ")))).or_else(|| nearest(&all))
    }
}

/// Families to which a key applies.
#[must_use]
pub fn families_of(key: &str) -> Vec<Family> {
    Family::ALL.iter().copied().filter(|family| family.find(key).is_some()).collect()
}
