use super::*;

const TEXTS: [&str; 2] = [
    include_str!("../../../../models/flash/imft-50nm-mlc.toml"),
    include_str!("../../../../models/intel-x25-m-g1-80gb.toml"),
];

const NOTHING: Request = Request {
    time_ns: 0,
    lba: 0,
    sector_count: 0,
    tag: 0,
    op: 0,
    fua: 0,
    hint: 0,
    reserved: 0,
    queue: 0,
    compressible_permille: 0,
};

fn write(tag: u32, lba: u64, time_ns: Nanos) -> Request {
    Request { time_ns, lba, tag, sector_count: 8, op: 1, ..NOTHING }
}

#[test]
fn requests_that_found_no_room_are_taken_late() {
    let mut drive = Handle::open(&TEXTS, 1).unwrap();
    let depth = drive.queue_depth() as usize;
    let requests: Vec<_> = (0..3 * depth as u32).map(|tag| write(tag, u64::from(tag) * 8, 1000)).collect();
    let (mut taken, mut heard) = (0, 0);
    while heard < requests.len() {
        taken += drive.submit(&requests[taken..]);
        assert!(drive.error().is_empty(), "{:?}", drive.error());
        let done = drive.wait(Nanos::MAX, requests.len()).len();
        assert!(done > 0, "{heard} of {taken} requests done");
        drive.forget(done);
        heard += done;
    }
    assert_eq!(taken, requests.len());
}

#[test]
fn what_was_heard_of_takes_no_memory() {
    let mut drive = Handle::open(&TEXTS, 1).unwrap();
    for number in 0..100_000u32 {
        let time_ns = u64::from(number) * 1_000_000;
        assert_eq!(drive.submit(&[write(number, u64::from(number % 64) * 8, time_ns)]), 1);
        let done = drive.wait(drive.now_ns(), 256).len();
        drive.forget(done);
    }
    assert!(drive.done.capacity() < 64, "room for {} completions", drive.done.capacity());
}

#[test]
fn a_drive_that_waited_for_ever_still_takes_requests() {
    let mut drive = Handle::open(&TEXTS, 1).unwrap();
    assert!(drive.wait(Nanos::MAX - 1, 1).is_empty());
    assert_eq!(drive.now_ns(), LATEST);
    assert_eq!(drive.submit(&[write(1, 0, 0)]), 1, "{:?}", drive.error());
    assert!(drive.wait(Nanos::MAX, 0).is_empty());
    assert_eq!(drive.now_ns(), LATEST, "no time passes where nothing can be heard of");
}

#[test]
fn a_flush_is_of_no_place() {
    let mut drive = Handle::open(&TEXTS, 1).unwrap();
    for sector_count in [0, 123, u32::MAX] {
        assert_eq!(drive.submit(&[Request { op: 2, sector_count, ..write(1, u64::MAX, 0) }]), 1);
        assert_eq!(drive.wait(Nanos::MAX, 1)[0].sector_count, 0);
        drive.forget(1);
    }
}

/// By hearing of one event after the other a host misses no completion, and never lets time pass by one.
#[test]
fn a_host_that_goes_from_event_to_event_hears_of_each_when_it_happens() {
    let mut drive = Handle::open(&TEXTS, 1).unwrap();
    assert_eq!(drive.next_ns(), Nanos::MAX);
    assert_eq!(drive.submit(&[write(1, 0, 1000), write(2, 64, 2000)]), 2);
    let mut heard = Vec::new();
    loop {
        let next_ns = drive.next_ns();
        if next_ns == Nanos::MAX {
            break;
        }
        let done = drive.wait(next_ns, 1);
        assert!(done.iter().all(|done| done.completed_ns == next_ns));
        heard.extend_from_slice(done);
        let count = done.len();
        drive.forget(count);
    }
    assert_eq!(heard.iter().map(|done| done.tag).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn what_is_handed_over_after_the_end_of_time_is_refused_by_the_drives_clock() {
    let mut drive = Handle::open(&TEXTS, 1).unwrap();
    assert_eq!(drive.submit(&[write(1, 0, LATEST)]), 1);
    assert_eq!(drive.next_ns(), Nanos::MAX, "a wait until then would go to the latest time, again and again");
    assert_eq!(drive.wait(Nanos::MAX, 1).len(), 1);
    drive.forget(1);
    assert!(drive.now_ns() > LATEST);
    assert_eq!(drive.submit(&[write(2, 0, 0)]), 0);
    assert!(drive.error().to_str().unwrap().starts_with("the drive has reached 4611"), "{:?}", drive.error());
}

#[test]
fn of_a_refused_request_nothing_has_happened() {
    let mut drive = Handle::open(&TEXTS, 1).unwrap();
    let end = drive.capacity_sectors();
    for request in [
        write(1, end, 5_000_000),
        write(2, 0, Nanos::MAX),
        Request { op: 9, ..write(3, 0, 7) },
        Request { reserved: 1, ..write(3, 0, 7) },
        Request { compressible_permille: 1001, ..write(3, 0, 7) },
    ] {
        assert_eq!(drive.submit(&[request]), 0);
        assert!(!drive.error().is_empty());
        assert_eq!(drive.now_ns(), 0, "{:?}", drive.error());
    }
    assert_eq!(drive.submit(&[write(4, 0, 5_000_000)]), 1);
}

/// Units of 4 KiB that are written all over a drive, by requests that `shape` makes of plain ones.
fn written(texts: &[&str], count: u32, shape: impl Fn(Request) -> Request) -> (Handle, Vec<Completion>) {
    let mut drive = Handle::open(texts, 1).unwrap();
    assert!(drive.set_queue_classes(&[2, 0]));
    let mut heard = Vec::new();
    let mut hear = |drive: &mut Handle| {
        let done = drive.wait(Nanos::MAX, 64);
        heard.extend_from_slice(done);
        let count = done.len();
        drive.forget(count);
    };
    for tag in 0..count {
        let request = shape(write(tag, u64::from(tag) * 8, 0));
        while drive.submit(&[request]) == 0 {
            assert!(drive.error().is_empty(), "{:?}", drive.error());
            hear(&mut drive);
        }
    }
    while drive.drive.engine().outstanding() > 0 {
        hear(&mut drive);
    }
    (drive, heard)
}

#[test]
fn a_drive_that_compresses_is_told_what_that_saves() {
    let texts = [
        include_str!("../../../../models/flash/imft-34nm-mlc.toml"),
        include_str!("../../../../models/corsair-force-f100-100gb.toml"),
        "scale_divisor = 16",
    ];
    let programmed = |compressible_permille| {
        let (drive, _) = written(&texts, 20_000, |plain| Request { compressible_permille, ..plain });
        drive.drive.counters()["program_bytes_host"].as_u64().unwrap()
    };
    assert!(programmed(900) < programmed(0) / 3);
}

#[test]
fn an_urgent_queue_comes_before_the_others() {
    let texts = [
        include_str!("../../../drive/examples/small.toml"),
        "[controller]\nqueue_depth = 8\nwrite_firmware_ns = 10000\n\
         [nvme]\nqueue_count = 2\narbitration = \"weighted-round-robin\"",
    ];
    let place = |queue| {
        let (_, heard) =
            written(&texts, 30, |plain| Request { queue: if plain.tag == 29 { queue } else { 0 }, ..plain });
        heard.iter().position(|done| done.tag == 29).unwrap()
    };
    assert!(place(1) < place(0), "{} and {}", place(1), place(0));
}

#[test]
fn what_only_an_idle_drive_takes_is_refused_with_requests_inside() {
    let mut drive = Handle::open(&TEXTS, 1).unwrap();
    assert_eq!(drive.submit(&[write(1, 0, 0)]), 1);
    assert!(!drive.secure_erase() && drive.error().to_str().unwrap().starts_with("1 requests are inside"));
    assert!(!drive.set_queue_classes(&[0]));
    drive.wait(Nanos::MAX, 1);
    drive.forget(1);
    assert!(!drive.set_queue_classes(&[0, 4]));
    assert_eq!(drive.error().to_str(), Ok("the class of queue 1 is 4; it must be 0 to 3"));
    assert!(drive.secure_erase() && drive.error().is_empty());
}
