//! A server of one client, on standard input and output.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use super::slow::Slow;
use crate::client::*;
use drivelab_nbd::protocol::command;
use drivelab_nbd::{Clock, StdioServer};
use serde_json::Value;

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
