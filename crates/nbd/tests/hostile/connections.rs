//! Clients that connect and don't behave: wrong words, silence, too many of them, leaving in the middle.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use super::{Disk, MIB, Running, SOON, STALL, is_closed, patient};
use crate::client::*;
use drivelab_nbd::Limits;
use drivelab_nbd::protocol::{command, magic, option};

on_each_disk!(
    malformed_handshakes,
    half_a_message_and_silence,
    a_handshake_that_takes_too_long_is_ended,
    half_open_handshakes_never_lock_others_out,
    clients_beyond_the_cap_wait_until_a_place_is_free,
    disconnects_in_the_middle_of_a_write,
    who_has_asked_and_closed_its_side_is_still_answered,
    thousands_of_connections,
    one_byte_at_a_time,
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
