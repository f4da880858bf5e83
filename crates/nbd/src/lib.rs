//! Network Block Device server: an [`Export`] of any kind behind the protocol that operating systems speak.
//!
//! [`export`] is the seam: what a server asks of whatever it serves. [`MemoryExport`] is one without a drive behind it.

pub mod control;
pub mod export;
pub mod memory;

pub use control::Control;
pub use export::{Errno, Export, ExportInfo, Extent, Reply, Request, RequestKind, Ticket};
pub use memory::MemoryExport;
