//! Clients that ask for more than anybody can give, or take no answers: memory stays bounded.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use super::{Disk, MIB, Running, SIZE, STALL, is_closed, patient};
use crate::client::*;
use drivelab_nbd::Limits;
use drivelab_nbd::protocol::{command, magic, option};

on_each_disk!(
    a_reader_that_never_reads,
    a_reader_that_pauses_gets_everything_in_the_end,
    many_that_never_read_cannot_take_all_memory,
    many_that_announce_large_writes_cannot_take_all_memory,
    requests_of_clients_that_have_left_count_until_they_are_done,
    oversized_writes_are_passed_over,
    a_pipeline_of_thousands_of_requests,
    replies_that_only_the_server_makes_are_bounded_too,
);

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
