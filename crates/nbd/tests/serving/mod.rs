//! The server as a whole: sockets and their files, clocks, the order of replies, the stop.
//!
//! `control_socket.rs` has the control socket, `standard_streams.rs` a server without sockets; `slow.rs` is the disk that
//! they serve.
#![allow(clippy::disallowed_methods, reason = "servers and clients here live in real time")]

mod control_socket;
mod slow;
mod standard_streams;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::client::*;
use drivelab_nbd::protocol::command;
use drivelab_nbd::{Clock, Error, Listen, Options, Server};
use slow::{MS, Slow, await_requests, bind, bind_to, negotiate, path, read_after, run};

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
