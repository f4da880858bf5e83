//! The server as a whole: sockets and their files, clocks, the order of replies, the stop, the control socket.
#![allow(clippy::disallowed_methods, reason = "servers and clients here live in real time")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::client::*;
use drivelab_nbd::protocol::command;
use drivelab_nbd::{
    Clock, Control, Error, Export, ExportInfo, Extent, Limits, Listen, MemoryExport, Options, Reply, Request,
    RequestKind, Server, StdioServer, StopHandle, control,
};
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

/// Every read takes as many milliseconds as its offset has sectors; everything else takes none.
struct Slow {
    disk: MemoryExport,
    /// When, and what.
    under_way: Vec<(u64, Request)>,
    /// How many have come so far.
    submitted: Arc<AtomicU32>,
}

impl Slow {
    fn new() -> Self {
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

fn path() -> PathBuf {
    static PATHS: AtomicU32 = AtomicU32::new(0);
    let name = format!("drivelab-serving-{}-{}", std::process::id(), PATHS.fetch_add(1, Ordering::Relaxed));
    std::env::temp_dir().join(name)
}

fn bind(listen: Listen, clock: Clock) -> Result<Server<Slow>, Error> {
    bind_to(Slow::new(), listen, clock)
}

/// A server that waits for replies for as long as they take.
fn bind_to(slow: Slow, listen: Listen, clock: Clock) -> Result<Server<Slow>, Error> {
    let limits = Limits { farewell: Duration::from_secs(1000), ..Limits::default() };
    Server::bind(slow, Options { clock, control: Some(path()), limits, ..Options::new(listen) })
}

fn run(mut server: Server<Slow>) -> (StopHandle, JoinHandle<Server<Slow>>) {
    let stop = server.stop_handle();
    let thread = std::thread::spawn(move || {
        server.run().unwrap();
        server
    });
    (stop, thread)
}

fn negotiate<S: Read + Write>(mut client: S) -> S {
    client.write_all(&handshake(false)).unwrap();
    let mut answer = [0; 18 + 32 + 34 + 20];
    client.read_exact(&mut answer).unwrap();
    take_handshake(&mut &answer[..]);
    client
}

/// Waits until the server has so many requests.
fn await_requests(submitted: &AtomicU32, count: u32) {
    while submitted.load(Ordering::SeqCst) < count {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reads so many sectors' milliseconds at once, and returns the cookies in the order of the replies.
fn read_after(client: &mut (impl Read + Write), sectors: &[u64]) -> Vec<u64> {
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

#[test]
fn replies_come_in_the_order_of_their_times() {
    for clock in [Clock::Real, Clock::Instant, Clock::Scaled(3.0)] {
        let path = path();
        let (stop, thread) = run(bind(Listen::Unix(path.clone()), clock).unwrap());
        let mut client = negotiate(UnixStream::connect(&path).unwrap());
        assert_eq!(read_after(&mut client, &[40, 0, 20, 60]), [0, 20, 40, 60], "{clock:?}");
        stop.stop();
        thread.join().unwrap();
    }
}

#[test]
fn time_passes_as_the_clock_says() {
    for (clock, ms) in
        [(Clock::Real, 200.0..260.0), (Clock::Scaled(4.0), 50.0..90.0), (Clock::Instant, 0.0..40.0)]
    {
        let path = path();
        let (stop, thread) = run(bind(Listen::Unix(path.clone()), clock).unwrap());
        let mut client = negotiate(UnixStream::connect(&path).unwrap());
        // The best of some: a busy machine is late, but nobody is early.
        let mut best = f64::INFINITY;
        for _ in 0..100 {
            let began = Instant::now();
            read_after(&mut client, &[200]);
            best = best.min(began.elapsed().as_secs_f64() * 1e3);
            if best < ms.end {
                break;
            }
        }
        assert!(ms.contains(&best), "{clock:?}: {best} ms");
        stop.stop();
        let statistics = thread.join().unwrap().statistics();
        let median_ns = statistics["requests"]["read"]["latency_ns"]["percentile"]["50"].as_u64().unwrap();
        assert!(median_ns >= 200 * MS, "{clock:?}: {median_ns}");
    }
}

#[test]
fn the_stop_waits_for_replies_and_removes_the_sockets() {
    let path = path();
    let slow = Slow::new();
    let submitted = slow.submitted.clone();
    let server = bind_to(slow, Listen::Unix(path.clone()), Clock::Real).unwrap();
    let (stop, thread) = run(server);
    let mut client = negotiate(UnixStream::connect(&path).unwrap());
    let mut idle = UnixStream::connect(&path).unwrap();
    client.write_all(&command(command::READ, 0, 1, 300 * 512, 512)).unwrap();
    await_requests(&submitted, 1);
    stop.stop();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    assert_eq!(answer.len(), 16 + 512);
    idle.read_to_end(&mut answer).unwrap();
    assert_eq!(thread.join().unwrap().into_export().under_way, []);
    assert!(!path.exists());
}

#[test]
fn the_second_stop_waits_for_nothing() {
    // Whether or not the server has heard of the first by then.
    for pause in [Duration::ZERO, Duration::from_millis(50)] {
        let path = path();
        let slow = Slow::new();
        let submitted = slow.submitted.clone();
        let (stop, thread) = run(bind_to(slow, Listen::Unix(path.clone()), Clock::Real).unwrap());
        let mut client = negotiate(UnixStream::connect(&path).unwrap());
        client.write_all(&command(command::READ, 0, 1, 600_000 * 512, 512)).unwrap();
        await_requests(&submitted, 1);
        let began = Instant::now();
        stop.stop();
        std::thread::sleep(pause);
        stop.stop();
        thread.join().unwrap();
        assert!(began.elapsed() < Duration::from_secs(200));
    }
}

#[test]
fn a_dead_servers_socket_is_replaced_and_a_live_ones_is_not() {
    let path = path();
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let server = bind(Listen::Unix(path.clone()), Clock::Instant).unwrap();
    let error = bind(Listen::Unix(path.clone()), Clock::Instant).err().unwrap();
    assert!(matches!(error, Error::InUse { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        format!("{}: a server is running here; stop it, or choose another socket", path.display())
    );
    let (stop, thread) = run(server);
    drop(negotiate(UnixStream::connect(&path).unwrap()));
    stop.stop();
    thread.join().unwrap();
    assert!(!path.exists());
}

#[test]
fn other_files_are_never_replaced() {
    let path = path();
    std::fs::write(&path, "dear data").unwrap();
    let error = bind(Listen::Unix(path.clone()), Clock::Instant).err().unwrap();
    assert!(matches!(error, Error::NotASocket { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"dear data");
    std::fs::remove_file(&path).unwrap();
    let nowhere = PathBuf::from("/nonexistent/socket");
    let error = bind(Listen::Unix(nowhere), Clock::Instant).err().unwrap().to_string();
    assert!(error.starts_with("listening on /nonexistent/socket: "), "{error}");
}

#[test]
fn another_servers_socket_in_the_same_place_stays() {
    let path = path();
    let server = bind(Listen::Unix(path.clone()), Clock::Instant).unwrap();
    std::fs::remove_file(&path).unwrap();
    let _other = UnixListener::bind(&path).unwrap();
    drop(server);
    assert!(path.exists());
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn tcp_serves_too_and_the_uri_says_where() {
    let server = bind("tcp:0".parse().unwrap(), Clock::Instant).unwrap();
    let uri = server.uris().remove(0);
    let (stop, thread) = run(server);
    let address = uri.strip_prefix("nbd://").and_then(|rest| rest.strip_suffix("/slow")).unwrap();
    let mut client = negotiate(TcpStream::connect(address).unwrap());
    assert_eq!(read_after(&mut client, &[3, 1]), [1, 3]);
    stop.stop();
    thread.join().unwrap();
}

/// A client of the control socket.
struct Controller(BufReader<UnixStream>);

impl Controller {
    fn connect(path: &PathBuf) -> Self {
        let socket = UnixStream::connect(path).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        Self(BufReader::new(socket))
    }

    fn say(&mut self, text: &str) -> Value {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
        self.hear()
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or(Value::Null)
    }
}

fn controlled() -> (PathBuf, PathBuf, JoinHandle<Server<Slow>>) {
    let (path, control) = (path(), self::path());
    let options = Options {
        clock: Clock::Instant,
        control: Some(control.clone()),
        ..Options::new(Listen::Unix(path.clone()))
    };
    let (_, thread) = run(Server::bind(Slow::new(), options).unwrap());
    (path, control, thread)
}

#[test]
fn the_control_socket_tells_statistics_passes_requests_on_and_stops() {
    let (path, control, thread) = controlled();
    assert_eq!(std::fs::metadata(&control).unwrap().permissions().mode() & 0o777, 0o600);
    let mut client = negotiate(UnixStream::connect(&path).unwrap());
    read_after(&mut client, &[5, 5, 7]);
    let mut controller = Controller::connect(&control);
    let told = controller.say("{\"command\": \"stats\"}\n");
    assert_eq!(told["ok"], true);
    assert_eq!(told["connections"], 1);
    assert_eq!(told["requests"]["read"]["count"], 3);
    assert_eq!(told["requests"]["read"]["bytes"], 1536);
    assert_eq!(told["requests"]["read"]["latency_ns"]["max"], 7 * MS);
    let said = controller.say("{\"command\": \"echo\", \"text\": \"ä\"}\n");
    assert_eq!(said, json!({"ok": true, "said": "ä"}));
    assert_eq!(controller.say("{\"command\": \"stop\"}\n"), json!({"ok": true}));
    thread.join().unwrap();
    assert!(!path.exists() && !control.exists());
}

#[test]
fn wrong_control_lines_are_refused_and_the_next_is_heard() {
    let (_, control, thread) = controlled();
    let mut controller = Controller::connect(&control);
    let nested = format!("{}\n", "[".repeat(10_000));
    for line in [
        "nonsense\n",
        "{}\n",
        "[1]\n",
        "{\"command\": 3}\n",
        "{\"command\": \"dance\"}\n",
        "\u{0}\n",
        &nested,
    ] {
        let answer = controller.say(line);
        assert_eq!(answer["ok"], false, "{line} {answer}");
        assert!(answer["error"].is_string());
    }
    let answers = controller.say("\n\r\n{\"command\": \"dance\"}\n{\"command\": \"echo\", \"text\": 1}\n");
    assert_eq!(answers["error"], "command: \"dance\" is not known here");
    assert_eq!(controller.hear()["said"], 1);
    // A request in pieces, and half a request of another client meanwhile.
    let mut other = Controller::connect(&control);
    other.0.get_mut().write_all(b"{\"comm").unwrap();
    controller.0.get_mut().write_all(b"{\"command\": \"echo\",").unwrap();
    assert_eq!(controller.say("\"text\": 2}\n")["said"], 2);
    // A line without end.
    other.0.get_mut().write_all(&[b'x'; 1 << 14].repeat(128)).unwrap();
    assert_eq!(other.hear()["error"], "line: longer than 2097152 bytes");
    // One that never reads.
    let mut greedy = Controller::connect(&control);
    greedy.0.get_mut().set_nonblocking(true).unwrap();
    while greedy.0.get_mut().write(b"{\"command\": \"stats\"}\n").is_ok() {}
    let crowd: Vec<_> = (0..200).map(|_| UnixStream::connect(&control).unwrap()).collect();
    assert_eq!(controller.say("{\"command\": \"echo\", \"text\": 3}\n")["said"], 3);
    drop(crowd);
    controller.say("{\"command\": \"stop\"}\n");
    thread.join().unwrap();
}

#[test]
fn options_out_of_bounds_are_refused_before_anything_is_opened() {
    let path = path();
    let error = bind(Listen::Unix(path.clone()), Clock::Scaled(0.0)).err().unwrap().to_string();
    assert_eq!(error, "clock: 0; a scale from 0.000001 to 1000000");
    assert!(!path.exists());
    let mut options = Options::new(Listen::Unix(path.clone()));
    options.limits.total_bytes_max = 1000;
    let error = Server::bind(Slow::new(), options).err().unwrap().to_string();
    assert_eq!(error, format!("total_bytes_max: 1000; at least {}", 66 << 20));
    assert!(!path.exists());
}

fn over_a_pair(clock: Clock, said: &[u8]) -> (Vec<u8>, Value) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let thread = std::thread::spawn(move || {
        let mut server = StdioServer::new(Slow::new(), clock, &drivelab_nbd::Limits::default()).unwrap();
        server.run(&theirs, &theirs).unwrap();
        server.statistics()
    });
    let mut writer = ours.try_clone().unwrap();
    let said = said.to_vec();
    let writing = std::thread::spawn(move || {
        writer.write_all(&said).unwrap();
        writer.shutdown(std::net::Shutdown::Write).unwrap();
    });
    let mut heard = Vec::new();
    (&ours).read_to_end(&mut heard).unwrap();
    writing.join().unwrap();
    (heard, thread.join().unwrap())
}

#[test]
fn standard_input_and_output_serve_one_client() {
    for clock in [Clock::Instant, Clock::Real] {
        let reads: Vec<u8> = [30, 10, 20]
            .iter()
            .flat_map(|&sector| command(command::READ, 0, sector, sector * 512, 512))
            .collect();
        let large = write(0, 1, 0, &vec![1; 5 << 20]);
        let back: Vec<u8> =
            (100..150).flat_map(|cookie| command(command::READ, 0, cookie, 0, 1 << 20)).collect();
        let (heard, statistics) = over_a_pair(clock, &[handshake(false), reads, large, back].concat());
        let mut heard = &heard[..];
        take_handshake(&mut heard);
        let data_bytes = |cookie| match cookie {
            1 => 0,
            100.. => 1 << 20,
            _ => 512,
        };
        let cookies: Vec<_> =
            std::iter::from_fn(|| take_reply(&mut heard, data_bytes)).map(|reply| reply.cookie()).collect();
        assert_eq!(cookies.len(), 54, "{clock:?}");
        let place = |wanted| cookies.iter().position(|&cookie| cookie == wanted).unwrap();
        assert!(place(10) < place(20) && place(20) < place(30), "{cookies:?}");
        assert_eq!(statistics["requests"]["read"]["count"], 53);
    }
}

#[test]
fn standard_input_that_breaks_off_ends_the_server() {
    let whole = [handshake(true), write(0, 1, 0, &[1; 4096])].concat();
    for length in [0, 3, 10, 60, whole.len() - 1, whole.len()] {
        over_a_pair(Clock::Real, &whole[..length]);
    }
}
