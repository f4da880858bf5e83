//! Clients that do what no client should, of a disk in memory and of a drive in an image. After each, another is served
//! at once, and memory stays bounded.
#![allow(clippy::disallowed_methods, reason = "servers and clients here live in real time")]

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::client::*;
use drivelab_image::{Image, ModelTexts};
use drivelab_nbd::protocol::{command, magic, option};
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

on_each_disk!(
    malformed_handshakes,
    half_a_message_and_silence,
    a_handshake_that_takes_too_long_is_ended,
    half_open_handshakes_never_lock_others_out,
    clients_beyond_the_cap_wait_until_a_place_is_free,
    disconnects_in_the_middle_of_a_write,
    who_has_asked_and_closed_its_side_is_still_answered,
    a_reader_that_never_reads,
    a_reader_that_pauses_gets_everything_in_the_end,
    many_that_never_read_cannot_take_all_memory,
    many_that_announce_large_writes_cannot_take_all_memory,
    requests_of_clients_that_have_left_count_until_they_are_done,
    oversized_writes_are_passed_over,
    thousands_of_connections,
    a_pipeline_of_thousands_of_requests,
    one_byte_at_a_time,
    replies_that_only_the_server_makes_are_bounded_too,
);

fn malformed_handshakes(disk: Disk) {
    let server = Running::new(disk);
    for said in [
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![255; 100],
        [hello(), vec![0; 100]].concat(),
        [hello(), magic::OPTION.to_be_bytes().to_vec(), vec![255; 8]].concat(),
        [hello(), option(option::EXPORT_NAME, b"no such disk")].concat(),
        [handshake(true), vec![1; 28]].concat(),
    ] {
        let mut client = server.connect();
        client.write_all(&said).unwrap();
        assert!(is_closed(&mut client), "{said:?}");
        server.serves();
    }
}

fn half_a_message_and_silence(disk: Disk) {
    let server = Running::new(disk);
    let whole = [handshake(true), write(0, 1, 0, &vec![5; 100_000])].concat();
    let cuts = (0..whole.len()).step_by(37).take(8).chain([150, 170, 200, 50_000, whole.len() - 1]);
    let silent: Vec<_> = cuts
        .map(|cut| {
            let mut client = server.connect();
            client.write_all(&whole[..cut]).unwrap();
            client
        })
        .collect();
    server.serves();
    drop(silent);
    server.serves();
}

fn a_handshake_that_takes_too_long_is_ended(disk: Disk) {
    let server = Running::with(disk, Limits { handshake: STALL, ..patient() });
    let mut negotiated = server.negotiated();
    let mut silent = server.connect();
    let mut slow = server.connect();
    slow.write_all(&hello()).unwrap();
    let began = Instant::now();
    assert!(is_closed(&mut silent) && is_closed(&mut slow));
    assert!(began.elapsed() < SOON);
    negotiated.write_all(&command(command::FLUSH, 0, 1, 0, 0)).unwrap();
    negotiated.read_exact(&mut [0; 16]).unwrap();
}

fn half_open_handshakes_never_lock_others_out(disk: Disk) {
    let server = Running::with(disk, Limits { connections_max: 8, ..patient() });
    let mut silent: Vec<_> = (0..40).map(|_| server.connect()).collect();
    server.serves();
    server.serves();
    // The oldest had to go.
    assert!(is_closed(&mut silent[0]));
}

fn clients_beyond_the_cap_wait_until_a_place_is_free(disk: Disk) {
    let server = Running::with(disk, Limits { connections_max: 2, ..patient() });
    let (first, second) = (server.negotiated(), server.negotiated());
    let mut third = server.connect();
    third.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(third.read(&mut [0; 18]).is_err());
    drop(first);
    third.set_read_timeout(Some(SOON)).unwrap();
    third.read_exact(&mut [0; 18]).unwrap();
    drop(second);
}

fn disconnects_in_the_middle_of_a_write(disk: Disk) {
    let server = Running::new(disk);
    for length in [27, 28, 29, 5000, 300_000, 2_000_000] {
        for how in [Shutdown::Write, Shutdown::Both] {
            let mut client = server.negotiated();
            let whole = write(0, 1, 1 << 20, &vec![9; 3 << 20]);
            client.write_all(&whole[..length]).unwrap();
            client.shutdown(how).unwrap();
            server.serves();
        }
    }
    let mut client = server.negotiated();
    client.write_all(&command(command::READ, 0, 1, 1 << 20, 3 << 20)).unwrap();
    let mut answer = vec![0; 16 + (3 << 20)];
    client.read_exact(&mut answer).unwrap();
    assert!(answer[16..].iter().all(|&byte| byte == 0), "half a write was carried out");
}

fn who_has_asked_and_closed_its_side_is_still_answered(disk: Disk) {
    let server = Running::new(disk);
    let mut client = server.negotiated();
    client.write_all(&command(command::READ, 0, 1, 0, 4 * MIB)).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    assert_eq!(answer.len(), 16 + (4 << 20));
}

fn a_reader_that_never_reads(disk: Disk) {
    let server = Running::new(disk);
    for count in [1, 86, 1000] {
        let mut client = server.negotiated();
        let reads: Vec<u8> =
            (0..count).flat_map(|cookie| command(command::READ, 0, cookie, 0, MIB)).collect();
        client.write_all(&reads).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        server.serves();
        drop(client);
        server.serves();
    }
}

fn a_reader_that_pauses_gets_everything_in_the_end(disk: Disk) {
    let server = Running::new(disk);
    let mut client = server.negotiated();
    let reads: Vec<u8> = (0..100).flat_map(|cookie| command(command::READ, 0, cookie, 0, MIB)).collect();
    client.write_all(&reads).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let mut answer = vec![0; 16 + (1 << 20)];
    for _ in 0..100 {
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer[..4], magic::SIMPLE_REPLY.to_be_bytes());
    }
}

fn many_that_never_read_cannot_take_all_memory(disk: Disk) {
    let server = Running::with(disk, Limits { stall: STALL, ..patient() });
    let mut greedy: Vec<_> = (0..20).map(|_| server.negotiated()).collect();
    for client in &mut greedy {
        client.set_nonblocking(true).unwrap();
        let reads: Vec<u8> = (0..32).flat_map(|cookie| command(command::READ, 0, cookie, 0, MIB)).collect();
        client.write_all(&reads).unwrap();
    }
    server.serves();
    // A large request waits for its share until those who stall have been ended.
    let mut large = server.negotiated();
    large.write_all(&command(command::READ, 0, 1, 0, 32 * MIB)).unwrap();
    let mut answer = vec![0; 16 + (32 << 20)];
    large.read_exact(&mut answer).unwrap();
    server.serves();
}

fn many_that_announce_large_writes_cannot_take_all_memory(disk: Disk) {
    let server = Running::with(disk, Limits { stall: STALL, ..patient() });
    let mut greedy: Vec<_> = (0..8).map(|_| server.negotiated()).collect();
    for client in &mut greedy {
        client.write_all(&command(command::WRITE, 0, 1, 0, 32 * MIB)).unwrap();
        client.write_all(&[7; 4096]).unwrap();
    }
    server.serves();
    let mut large = server.negotiated();
    large.write_all(&write(0, 1, 32 << 20, &vec![8; 32 << 20])).unwrap();
    let mut answer = [0; 16];
    large.read_exact(&mut answer).unwrap();
    assert_eq!(answer[4..8], [0; 4]);
    server.serves();
}

fn requests_of_clients_that_have_left_count_until_they_are_done(disk: Disk) {
    let mut server = Running::new(disk);
    for _ in 0..60 {
        let mut client = server.negotiated();
        let reads: Vec<u8> = (0..86).flat_map(|cookie| command(command::READ, 0, cookie, 0, MIB)).collect();
        client.write_all(&reads).unwrap();
    }
    server.serves();
    let statistics = server.stop();
    assert_eq!(statistics["requests_pending"], 0);
    assert_eq!(statistics["shared_bytes"], 0);
}

fn oversized_writes_are_passed_over(disk: Disk) {
    let server = Running::new(disk);
    let mut client = server.negotiated();
    client.write_all(&command(command::WRITE, 0, 1, 0, 100 * MIB)).unwrap();
    let piece = vec![1; 1 << 20];
    for _ in 0..100 {
        client.write_all(&piece).unwrap();
    }
    let mut answer = [0; 16];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(answer[4..8], 22u32.to_be_bytes());
    let mut absurd = server.negotiated();
    absurd.write_all(&command(command::WRITE, 0, 1, 0, u32::MAX)).unwrap();
    assert!(is_closed(&mut absurd));
    server.serves();
}

fn thousands_of_connections(disk: Disk) {
    let server = Running::new(disk);
    let count = 3000;
    let mut clients: Vec<_> = (0..count).map(|_| server.negotiated()).collect();
    server.serves();
    for client in &mut clients {
        client.write_all(&command(command::READ, 0, 1, 0, 4096)).unwrap();
    }
    let mut answer = [0; 16 + 4096];
    for client in &mut clients {
        client.read_exact(&mut answer).unwrap();
    }
    drop(clients);
    server.serves();
}

fn a_pipeline_of_thousands_of_requests(disk: Disk) {
    let server = Running::new(disk);
    let mut client = server.negotiated();
    let count = 20_000u64;
    let requests: Vec<u8> = (0..count)
        .flat_map(|cookie| match cookie % 4 {
            0 => write(0, cookie, (cookie % 1000) * 512, &[cookie as u8; 512]),
            1 => command(command::FLUSH, 0, cookie, 0, 0),
            2 => command(command::TRIM, 0, cookie, 0, SIZE as u32),
            _ => command(command::WRITE_ZEROES, command::FLAG_NO_HOLE, cookie, 0, 4096),
        })
        .collect();
    let mut writer = client.try_clone().unwrap();
    let writing = std::thread::spawn(move || writer.write_all(&requests).unwrap());
    let mut seen = vec![false; count as usize];
    let mut answer = [0; 16];
    for _ in 0..count {
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer[4..8], [0; 4]);
        let cookie = u64::from_be_bytes(answer[8..].try_into().unwrap()) as usize;
        assert!(!std::mem::replace(&mut seen[cookie], true), "{cookie} was answered twice");
    }
    writing.join().unwrap();
    server.serves();
}

fn one_byte_at_a_time(disk: Disk) {
    let server = Running::new(disk);
    let mut client = server.connect();
    for byte in [handshake(false), write(0, 1, 0, &[7; 512])].concat() {
        client.write_all(&[byte]).unwrap();
    }
    let mut answer = [0; 18 + 32 + 34 + 20 + 16];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(answer[answer.len() - 8..], 1u64.to_be_bytes());
    server.serves();
}

fn replies_that_only_the_server_makes_are_bounded_too(disk: Disk) {
    let server = Running::new(disk);
    let mut haggler = server.connect();
    haggler.set_nonblocking(true).unwrap();
    let mut refused = server.negotiated();
    refused.set_nonblocking(true).unwrap();
    let mut curious = server.connect();
    curious.write_all(&handshake(true)).unwrap();
    curious.set_nonblocking(true).unwrap();
    haggler.write_all(&hello()).unwrap();
    let said = [
        (&mut haggler, option(option::INFO, &name_and_wishes("disk", &[1, 2, 3])).repeat(1000)),
        (&mut refused, command(command::READ, 0, 1, 1, 1).repeat(1000)),
        (&mut curious, command(command::BLOCK_STATUS, 0, 1, 0, SIZE as u32).repeat(1000)),
    ];
    for (client, said) in said {
        // Until neither side takes more: the server has stopped to read.
        let mut stuck = 0;
        while stuck < 20 {
            match client.write(&said) {
                Ok(bytes) if bytes == said.len() => stuck = 0,
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    stuck += 1;
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => panic!("{error}"),
            }
        }
        server.serves();
    }
}
