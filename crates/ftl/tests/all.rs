//! The tests of this crate from outside, in one program: each program compiles and links the engine once more.

mod compressed_map;
mod demand_map;
mod levelling;
mod locality;
mod merging;
mod one_plane;
mod oracle;
mod plain;
mod slc_cache;
mod superblocks;
