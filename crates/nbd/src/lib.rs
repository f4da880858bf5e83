//! Network Block Device server: an [`Export`] of any kind behind the protocol that operating systems speak.
//!
//! [`export`] is the seam: what a server asks of whatever it serves. [`MemoryExport`] is one without a drive behind it.

mod client;
mod clock;
mod commands;
mod connection;
mod connections;
pub mod control;
mod control_socket;
mod conversation;
mod drive_control;
pub mod drive_export;
mod error;
pub mod export;
pub mod fuzz;
mod handshake;
mod latencies;
mod limits;
mod listener;
pub mod memory;
mod pending;
mod poller;
pub mod protocol;
mod recording;
mod reply;
mod server;
mod service;
mod session;
mod statistics;
mod stdio;
mod stop;
mod table;
mod watching;

pub use clock::Clock;
pub use control::Control;
pub use conversation::Conversation;
pub use drive_export::{DriveExport, ServeOptions};
pub use error::Error;
pub use export::{Errno, Export, ExportInfo, Extent, Reply, Request, RequestKind, Ticket};
pub use limits::Limits;
pub use listener::{Listen, PORT};
pub use memory::MemoryExport;
pub use recording::Recorder;
pub use server::{Options, Server};
pub use stdio::StdioServer;
pub use stop::StopHandle;
