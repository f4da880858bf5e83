//! A process that may open no more files: clients wait, the server doesn't spin, and goes on when some have closed.
#![allow(clippy::disallowed_methods, reason = "servers and clients here live in real time")]

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use drivelab_nbd::{Clock, ExportInfo, Listen, MemoryExport, Options, Server};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// Milliseconds of processor time of this process.
fn processor_ms() -> i64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

// The only test of its program, because the limit is the whole process's.
#[test]
fn clients_wait_for_files() {
    let path = std::env::temp_dir().join(format!("drivelab-files-{}", std::process::id()));
    setrlimit(Resource::Nofile, Rlimit { current: Some(120), maximum: Some(120) }).unwrap();
    let options = Options { clock: Clock::Instant, ..Options::new(Listen::Unix(path.clone())) };
    let mut server = Server::bind(MemoryExport::new(ExportInfo::new("", 1 << 20)), options).unwrap();
    let stop = server.stop_handle();
    let thread = std::thread::spawn(move || server.run().unwrap());
    // Clients and server share the limit: one after the other can't be accepted any more.
    let mut clients = Vec::new();
    while let Ok(client) = UnixStream::connect(&path) {
        client.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        clients.push(client);
    }
    let before = processor_ms();
    std::thread::sleep(Duration::from_secs(1));
    let used = processor_ms() - before;
    assert!(used < 300, "{used} ms of processor time in one second");
    let mut last = clients.pop().unwrap();
    clients.truncate(5);
    last.read_exact(&mut [0; 18]).unwrap();
    stop.stop();
    thread.join().unwrap();
}
