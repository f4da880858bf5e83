//! A disk that takes its time, its server, and a client of it.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::client::*;
use drivelab_nbd::protocol::command;
use drivelab_nbd::{
    Clock, Control, Error, Export, ExportInfo, Extent, Limits, Listen, MemoryExport, Options, Reply, Request,
    RequestKind, Server, StopHandle, control,
};
use serde_json::{Value, json};

/// Nanoseconds of a millisecond.
pub const MS: u64 = 1_000_000;

/// Every read takes as many milliseconds as its offset has sectors; everything else takes none.
pub struct Slow {
    disk: MemoryExport,
    /// When, and what.
    pub under_way: Vec<(u64, Request)>,
    /// How many have come so far.
    pub submitted: Arc<AtomicU32>,
}

impl Slow {
    pub fn new() -> Self {
        let disk = MemoryExport::new(ExportInfo::new("slow", 1 << 30));
        Self { disk, under_way: Vec::new(), submitted: Arc::default() }
    }
}

impl Export for Slow {
    fn info(&self) -> &ExportInfo {
        self.disk.info()
    }

    fn submit(&mut self, now_ns: u64, request: Request, data: &[u8]) {
        self.submitted.fetch_add(1, Ordering::SeqCst);
        if request.kind == RequestKind::Read {
            self.under_way.push((now_ns + request.offset / 512 * MS, request));
        } else {
            self.disk.submit(now_ns, request, data);
        }
    }

    fn next_event(&mut self) -> Option<u64> {
        let reads = self.under_way.iter().map(|&(at_ns, _)| at_ns);
        reads.chain(self.disk.next_event()).min()
    }

    fn advance(&mut self, until_ns: u64, reply: &mut Reply<'_>) {
        self.under_way.sort_by_key(|&(at_ns, request)| (at_ns, request.ticket));
        let done = self.under_way.iter().take_while(|&&(at_ns, _)| at_ns <= until_ns).count();
        for (at_ns, request) in self.under_way.drain(..done) {
            self.disk.submit(at_ns, request, &[]);
        }
        self.disk.advance(until_ns, reply);
    }

    fn block_status(&mut self, offset: u64, length: u32, most: usize, extents: &mut Vec<Extent>) {
        self.disk.block_status(offset, length, most, extents);
    }
}

impl Control for Slow {
    fn handle(&mut self, request: Value) -> Value {
        if request["command"] == "echo" {
            control::done(json!({"said": request["text"]}))
        } else {
            control::unknown(&request)
        }
    }
}

/// A place for a socket.
pub fn path() -> PathBuf {
    static PATHS: AtomicU32 = AtomicU32::new(0);
    let name = format!("drivelab-serving-{}-{}", std::process::id(), PATHS.fetch_add(1, Ordering::Relaxed));
    std::env::temp_dir().join(name)
}

pub fn bind(listen: Listen, clock: Clock) -> Result<Server<Slow>, Error> {
    bind_to(Slow::new(), listen, clock)
}

/// A server that waits for replies for as long as they take.
pub fn bind_to(slow: Slow, listen: Listen, clock: Clock) -> Result<Server<Slow>, Error> {
    let limits = Limits { farewell: Duration::from_secs(1000), ..Limits::default() };
    Server::bind(slow, Options { clock, control: Some(path()), limits, ..Options::new(listen) })
}

/// Serves in a thread of its own.
pub fn run(mut server: Server<Slow>) -> (StopHandle, JoinHandle<Server<Slow>>) {
    let stop = server.stop_handle();
    let thread = std::thread::spawn(move || {
        server.run().unwrap();
        server
    });
    (stop, thread)
}

/// A client after its handshake.
pub fn negotiate<S: Read + Write>(mut client: S) -> S {
    client.write_all(&handshake(false)).unwrap();
    let mut answer = [0; 18 + 32 + 34 + 20];
    client.read_exact(&mut answer).unwrap();
    take_handshake(&mut &answer[..]);
    client
}

/// Waits until the server has so many requests.
pub fn await_requests(submitted: &AtomicU32, count: u32) {
    while submitted.load(Ordering::SeqCst) < count {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reads so many sectors' milliseconds at once, and returns the cookies in the order of the replies.
pub fn read_after(client: &mut (impl Read + Write), sectors: &[u64]) -> Vec<u64> {
    let reads: Vec<u8> =
        sectors.iter().flat_map(|&sector| command(command::READ, 0, sector, sector * 512, 512)).collect();
    client.write_all(&reads).unwrap();
    let mut answer = [0; 16 + 512];
    let mut next = || {
        client.read_exact(&mut answer).unwrap();
        u64::from_be_bytes(answer[8..16].try_into().unwrap())
    };
    sectors.iter().map(|_| next()).collect()
}
