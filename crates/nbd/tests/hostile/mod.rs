//! Clients that do what no client should, of a disk in memory and of a drive in an image. After each, another is served
//! at once, and memory stays bounded.
//!
//! `connections.rs` has clients that don't behave, `floods.rs` those that ask for too much.
#![allow(clippy::disallowed_methods, reason = "servers and clients here live in real time")]

/// Each test on each disk.
macro_rules! on_each_disk {
    ($($test:ident),* $(,)?) => {
        mod memory {
            $(#[test] fn $test() { super::$test(super::Disk::Memory); })*
        }
        mod drive {
            $(#[test] fn $test() { super::$test(super::Disk::Drive); })*
        }
    };
}

mod connections;
mod floods;

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::client::*;
use drivelab_image::{Image, ModelTexts};
use drivelab_nbd::protocol::command;
use drivelab_nbd::{
    Clock, Control, DriveExport, Export, ExportInfo, Limits, Listen, MemoryExport, Options, ServeOptions,
    Server, StopHandle,
};
use serde_json::Value;

const SIZE: u64 = 64 << 20;
const MIB: u32 = 1 << 20;

/// What a server may use beyond its disk and what it had at its start.
const MEMORY_BYTES_MAX: u64 = 100 << 20;

/// What the clients of a test hold at the same time: they are threads of the same process.
const CLIENTS_BYTES_MAX: u64 = 64 << 20;

/// Without waiting for anybody: whoever has to wait for another client, waits for longer than this (`patient`).
const SOON: Duration = Duration::from_secs(60);

/// When a silent client is ended where a test waits for that: well-behaved ones on a busy machine are not so slow.
const STALL: Duration = Duration::from_secs(2);

/// Nobody is ended for being slow.
fn patient() -> Limits {
    let never = 10 * SOON;
    Limits { total_bytes_max: 80 << 20, handshake: never, stall: never, farewell: never, ..Limits::default() }
}

/// What is served.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Disk {
    Memory,
    Drive,
}

impl Disk {
    /// Resident bytes of it at most: those of the drive's file too, which is mapped, with spare area and flash state.
    fn bytes(self) -> u64 {
        if self == Self::Memory { SIZE } else { 2 * SIZE }
    }
}

const MODEL: &str = "
    name = 'small'
    title = 'Small drive'
    user_capacity_bytes = 67108864
    [flash]
    channel_count = 2
    dies_per_channel = 4
    planes_per_die = 1
    blocks_per_plane = 24
    pages_per_block = 128
    page_bytes = 4096
    read_ns = 50000
    program_ns = 250000
    erase_ns = 1500000
    bus_bytes_per_s = 40000000
    [ftl]
    map_unit_bytes = 4096
    [link]
    bytes_per_s = 250000000
    [write_buffer]
    size_bytes = 262144
";

/// A server in a thread of its own; stopped when dropped.
struct Running {
    disk: Disk,
    /// Holds image and socket.
    _folder: tempfile::TempDir,
    path: PathBuf,
    stop: StopHandle,
    thread: Option<JoinHandle<Value>>,
    memory_bytes: u64,
}

impl Running {
    fn with(disk: Disk, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        match disk {
            Disk::Memory => {
                Self::serve(disk, folder, MemoryExport::new(ExportInfo::new("disk", SIZE)), limits)
            }
            Disk::Drive => {
                let image = folder.path().join("a.drive");
                let mut texts = ModelTexts::default();
                texts.layers.push((MODEL.to_owned(), "small.toml".to_owned()));
                Image::create(&image, &texts, 7).unwrap();
                let options = ServeOptions { name: "disk".to_owned(), ..ServeOptions::default() };
                Self::serve(disk, folder, DriveExport::power_on(&image, &options).unwrap(), limits)
            }
        }
    }

    fn serve(
        disk: Disk,
        folder: tempfile::TempDir,
        export: impl Export + Control + Send + 'static,
        limits: Limits,
    ) -> Self {
        let path = folder.path().join("socket");
        let mut options = Options::new(Listen::Unix(path.clone()));
        options.clock = Clock::Instant;
        options.limits = limits;
        let mut server = Server::bind(export, options).unwrap();
        let stop = server.stop_handle();
        let thread = std::thread::spawn(move || {
            server.run().unwrap();
            server.statistics()
        });
        // The peak is counted from here on.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        Self { disk, _folder: folder, path, stop, thread: Some(thread), memory_bytes: status_bytes("VmRSS") }
    }

    fn new(disk: Disk) -> Self {
        Self::with(disk, patient())
    }

    fn connect(&self) -> UnixStream {
        let client = UnixStream::connect(&self.path).unwrap();
        client.set_read_timeout(Some(2 * SOON)).unwrap();
        client.set_write_timeout(Some(2 * SOON)).unwrap();
        client
    }

    /// A client after its handshake, whose answer it has read.
    fn negotiated(&self) -> UnixStream {
        let mut client = self.connect();
        client.write_all(&handshake(false)).unwrap();
        let mut answer = [0; 18 + 32 + 34 + 20];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(take_handshake(&mut &answer[..]).len(), 3);
        client
    }

    /// A well-behaved client writes, reads and leaves, without waiting for anybody.
    fn serves(&self) {
        let began = Instant::now();
        let mut client = self.negotiated();
        let data: Vec<u8> = (0..16_384u32).map(|byte| byte as u8).collect();
        client.write_all(&write(0, 1, 8192, &data)).unwrap();
        client.write_all(&command(command::READ, 0, 2, 8192, 16_384)).unwrap();
        let mut answer = vec![0; 16 + 16 + 16_384];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer[32..], data);
        client.write_all(&command(command::DISCONNECT, 0, 3, 0, 0)).unwrap();
        assert_eq!(client.read(&mut answer).unwrap(), 0);
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        let bytes = status_bytes("VmRSS").saturating_sub(self.memory_bytes);
        assert!(bytes < MEMORY_BYTES_MAX + self.disk.bytes(), "{bytes} bytes more than at the start");
    }

    fn stop(&mut self) -> Value {
        self.stop.stop();
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.stop.stop();
            let stopped = thread.join();
            assert!(stopped.is_ok() || std::thread::panicking());
        }
        if !std::thread::panicking() {
            assert!(!self.path.exists());
            let peak_bytes = status_bytes("VmHWM").saturating_sub(self.memory_bytes);
            let most = MEMORY_BYTES_MAX + CLIENTS_BYTES_MAX + self.disk.bytes();
            assert!(peak_bytes < most, "{peak_bytes} bytes at the peak more than at the start");
        }
    }
}

/// A size of this process: `VmRSS`, resident now; `VmHWM`, at its peak.
fn status_bytes(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// The server has closed the connection.
fn is_closed(client: &mut UnixStream) -> bool {
    let mut bytes = [0; 4096];
    loop {
        match client.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return true,
            Err(_) => return false,
        }
    }
}
