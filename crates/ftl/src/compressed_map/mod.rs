//! The compressing, deduplicating map: map units are compressed to fragments of a few granules, several fragments
//! share a flash page, and contents that exist more than once are stored once.
//!
//! The map gives the page of an LPN and the size of its fragment, or a shared fragment that it refers to. Which
//! fragments lie on a page is out-of-band data (`fragments`). Open blocks, victims, wear levelling and the journal are
//! those of every scheme with a log on each die (`crate::log`); valid data is measured in granules here.

mod config;
mod content;
mod duplicates;
mod durable;
mod entry;
mod fragments;
mod log;
mod map;
mod map_cache;
mod map_reads;
mod map_upkeep;
mod mapping;
mod mount;
mod moving;
mod records;
mod recount;
mod recovery;
mod source;

pub use config::CompressionConfig;
pub use map::CompressedMap;
