//! Public trace formats: a few lines of each, their traps, compression, options, and files that are broken.

use std::io::Write;

use drivelab_workload::trace::UNKNOWN_NS;
use drivelab_workload::{
    ArrivalEvent, Format, Progress, ReadOptions, TimeUnit, Trace, WorkloadError, read_trace,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

const SYSTOR17: &str = "Timestamp,Response,IOType,LUN,Offset,Size\n\
    1455592841.120461000,0.000806000,R,0,899056122368,131072\n\
    1455592841.120961500,0.001250000,W,3,4096,8192\n\
    1455592841.130000000,,W,0,4096,8192\n\
    1455592841.140000000,0.5,,0,4096,8192\n";
const ALIBABA: &str = "419,W,8792731648,16384,1577808144360767\n\
    725,R,59110326272,360448,1577808144360813\n";
const TENCENT: &str = "1538323200,12910952,128,0,1063\n\
    1538323200,6338688,8,1,1627\n\
    1538323201,1904106400,384,0,1360\n";
const FIU: &str = "89966263485475 4892 httpd 21168424 8 W 6 0 a91dd1a5d5c6c5a4d4a4b6a8f7c7d2e1\n\
    89966263486475 20782 kjournald 2 283193184 8 R 6 0 56f11b711d91a065a2b6458eca924523\n";
const BLKPARSE: &str = "\
  8,0    3        1     0.000000000   697  A   W 223490 + 8 <- (8,1) 223427
  8,0    3        2     0.000001829   697  Q   W 223490 + 8 [kjournald]
  8,0    3        3     0.000002829   697  G   W 223490 + 8 [kjournald]
  8,0    3        4     0.000003000   697  P   N [kjournald]
  8,0    3        5     0.000004000   697  Q   W 223498 + 8 [kjournald]
  8,0    3        6     0.000004100   697  M   W 223498 + 8 [kjournald]
  8,0    3        7     0.000005000   697  U   N [kjournald] 1
  8,0    3        8     0.000012345   697  D   W 223490 + 16 [kjournald]
  8,0    1        1     0.000020000   701  Q  RS 64 + 256 [cp -r]
  8,0    1        2     0.000021000   701  D  RS 64 + 256 [cp -r]
  8,0    3        9     0.001012345     0  C   W 223490 + 16 [0]
  8,0    1        3     0.002021000     0  C  RS 64 + 256 [0]
  8,0    1        4     0.003000000   701  Q FWS [jbd2/sda1-8]
  8,0    1        5     0.003500000   701  Q FWFS 800 + 8 [jbd2/sda1-8]
  8,0    1        6     0.004000000   701  Q   D 1000 + 2048 [fstrim]
  8,0    1        7     0.004100000   701  D   R 36 (12 00 00 00 24 00 ..) [smartd]
  8,0    1        0     0.004200000     0  m   N cfq701 slice expired t=0
  8,0    1        8     0.004300000     0 UT   N [swapper] 1
  8,0    1        9     0.004400000   701  C   R (12 00 00 00 24 00 ..) [0]
259,3    1       10     0.004500000   701  X   R 64 / 128 [cp]
CPU1 (8,0):
 Reads Queued:           1,      128KiB\t Writes Queued:           2,        8KiB
Total (8,0):
Throughput (R/W): 1KiB/s / 1KiB/s
Events (8,0): 17 entries
Skips: 0 forward (0 -   0.0%)
";
const MQSIM: &str = "938513000 4 264719034 16 0\n938828000 3 197570570 8 1\n";
const MSR: &str = "128166372003061629,usr,0,Read,7014609920,24576,41286\n";
const IOLOG: &str = "fio version 3 iolog\n7 f add\n7 f open\n10 f read 4096 4096\n40 f close\n";
const SAMPLES: [(&str, Format); 8] = [
    (MQSIM, Format::Mqsim),
    (MSR, Format::Msr),
    (SYSTOR17, Format::Systor17),
    (ALIBABA, Format::Alibaba),
    (TENCENT, Format::Tencent),
    (FIU, Format::Fiu),
    (BLKPARSE, Format::Blkparse),
    (IOLOG, Format::Iolog),
];

fn read_as(text: &str, options: &ReadOptions) -> Result<Trace, WorkloadError> {
    Trace::read(text.as_bytes(), "t", options)
}

fn read(text: &str) -> Result<Trace, WorkloadError> {
    read_as(text, &ReadOptions::default())
}

fn rows(trace: &Trace) -> Vec<(u8, u64, u32, u64)> {
    let columns = trace.op.iter().zip(&trace.lba).zip(&trace.sector_count).zip(&trace.arrival_ns);
    columns.map(|(((&op, &lba), &sectors), &arrival_ns)| (op, lba, sectors, arrival_ns)).collect()
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn systor17_has_seconds_and_drops_what_got_no_response() {
    let trace = read(SYSTOR17).unwrap();
    assert_eq!(trace.format, Format::Systor17);
    assert_eq!(rows(&trace), [(0, 1_755_968_989, 256, 0), (1, 8, 16, 500_500)]);
    assert_eq!(trace.response_ns, [806_000, 1_250_000]);
    assert_eq!((trace.dropped_count, trace.device_names.join(" ")), (2, "0 3".to_owned()));
    for (lun, dropped_count) in [("0", 2), ("3", 0)] {
        let options = ReadOptions { device: Some(lun.to_owned()), ..ReadOptions::default() };
        assert_eq!(read_as(SYSTOR17, &options).unwrap().dropped_count, dropped_count);
    }
}

#[test]
fn alibaba_has_microseconds_and_bytes() {
    let trace = read(ALIBABA).unwrap();
    assert_eq!(trace.format, Format::Alibaba);
    assert_eq!(rows(&trace), [(1, 17_173_304, 32, 0), (0, 115_449_856, 704, 46_000)]);
    assert_eq!(trace.device_names, ["419", "725"]);
    assert_eq!(trace.response_ns, [UNKNOWN_NS; 2]);
    let headed = format!("{}\r\n{ALIBABA}", Format::Alibaba.layout());
    assert_eq!(rows(&read(&headed).unwrap()), rows(&trace));
}

#[test]
fn tencent_zero_is_a_read() {
    let trace = read(TENCENT).unwrap();
    assert_eq!(trace.format, Format::Tencent);
    let second = 1_000_000_000;
    assert_eq!(
        rows(&trace),
        [(0, 12_910_952, 128, 0), (1, 6_338_688, 8, 0), (0, 1_904_106_400, 384, second)]
    );
}

#[test]
fn fiu_allows_spaces_in_the_names_of_processes() {
    let trace = read(FIU).unwrap();
    assert_eq!(trace.format, Format::Fiu);
    assert_eq!(rows(&trace), [(1, 21_168_424, 8, 0), (0, 283_193_184, 8, 1000)]);
    assert_eq!(trace.device_names, ["6:0"]);
}

#[test]
fn blkparse_counts_a_request_once_and_knows_its_response() {
    let trace = read(BLKPARSE).unwrap();
    assert_eq!(trace.format, Format::Blkparse);
    let found = rows(&trace);
    assert_eq!(found[..3], [(1, 223_490, 8, 0), (1, 223_498, 8, 2171), (0, 64, 256, 18_171)]);
    // A flush without data, a write with one before it, a discard.
    let ops: Vec<_> = found[3..].iter().map(|row| (row.0, row.1, row.2)).collect();
    assert_eq!(ops, [(2, 0, 0), (2, 0, 0), (1, 800, 8), (3, 1000, 2048)]);
    assert_eq!(trace.response_ns[..3], [1_000_000, UNKNOWN_NS, 2_000_000]);
    let options = ReadOptions { arrival_event: Some(ArrivalEvent::Issued), ..ReadOptions::default() };
    let issued = read_as(BLKPARSE, &options).unwrap();
    assert_eq!(rows(&issued), [(1, 223_490, 16, 0), (0, 64, 256, 8655)]);
    assert_eq!((issued.response_ns[1], issued.dropped_count), (2_000_000, 1));
    let dispatched = "8,0 0 1 0.5 9 D W 8 + 8 [x]\n";
    let message = read(dispatched).unwrap_err().to_string();
    assert!(message.contains("choose D as arrival"), "{message}");
}

#[test]
fn the_unit_of_times_is_an_option_of_one_format() {
    let unit = |unit| ReadOptions { time_unit: Some(unit), ..ReadOptions::default() };
    let text = "0.5 0 0 8 1\n2.75 0 8 8 0\n";
    let arrival = |options: &ReadOptions| read_as(text, options).unwrap().arrival_ns[1];
    assert_eq!(arrival(&unit(TimeUnit::Millisecond)), 2_250_000);
    assert_eq!(arrival(&unit(TimeUnit::Second)), 2_250_000_000);
    assert_eq!(
        read_as("1000 0 0 8 1\n9999 0 0 8 1\n", &unit(TimeUnit::Picosecond)).unwrap().arrival_ns,
        [0, 8]
    );
    let message = read(text).unwrap_err().to_string();
    assert!(message.contains("line 1: arrival = '0.5': must be a whole number of ns"), "{message}");
    let message = read_as(MSR, &unit(TimeUnit::Second)).unwrap_err().to_string();
    assert!(
        message.contains("time_unit = s: has a meaning in the format mqsim only; this is msr"),
        "{message}"
    );
    let options = ReadOptions { arrival_event: Some(ArrivalEvent::Queued), ..ReadOptions::default() };
    assert!(read_as(MQSIM, &options).unwrap_err().to_string().contains("arrival_event = Q"));
    assert!(TimeUnit::from_name("m").unwrap_err().to_string().contains("ps, ns, us, ms or s"));
    assert!(ArrivalEvent::from_name("C").unwrap_err().to_string().contains("must be Q"));
}

#[test]
fn every_sample_is_recognised_and_may_be_compressed() {
    for (text, format) in SAMPLES {
        let plain = read(text).unwrap();
        assert_eq!(plain.format, format);
        let marked = format!("\u{feff}{text}");
        assert_eq!(rows(&read(&marked).unwrap()), rows(&plain));
        // Two members, as `cat a.gz b.gz` makes them.
        let (first, second) = text.split_at(text.find('\n').unwrap() + 1);
        let bytes = [compressed(first), compressed(second)].concat();
        let unpacked = Trace::read(&bytes[..], "t.gz", &ReadOptions::default()).unwrap();
        assert_eq!(rows(&unpacked), rows(&plain));
    }
}

#[test]
fn broken_files_are_named_with_the_place() {
    let whole = compressed(&TENCENT.repeat(1000));
    let cut =
        Trace::read(&whole[..whole.len() / 2], "t.gz", &ReadOptions::default()).unwrap_err().to_string();
    assert!(cut.starts_with("can't read t.gz: after line "), "{cut}");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 8].fill(0x55);
    let error = Trace::read(&damaged[..], "t.gz", &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("t.gz"), "{error}");
    let archive =
        Trace::read(&b"2018-10-01-01\0\0\0\x000644\0"[..], "t", &ReadOptions::default()).unwrap_err();
    assert!(archive.to_string().contains("line 1: the line has NUL bytes"), "{archive}");
    let folder = read_trace(&std::env::temp_dir(), &ReadOptions::default(), &Progress::new()).unwrap_err();
    assert!(matches!(folder, WorkloadError::Unreadable { .. }), "{folder}");
}

#[test]
fn wrong_lines_are_named_with_number_value_and_what_is_allowed() {
    for (text, parts) in [
        (format!("{SYSTOR17}1.5,0.1,X,0,0,512\n"), ["line 6: IOType = 'X'", "R, W or blank"]),
        (format!("{SYSTOR17}1.5.5,0.1,R,0,0,512\n"), ["line 6: Timestamp = '1.5.5'", "number of s"]),
        (format!("{SYSTOR17}1.5,-1,R,0,0,512\n"), ["line 6: Response = '-1'", "without sign"]),
        (format!("{SYSTOR17}99999999999999,0.1,R,0,0,512\n"), ["Timestamp = '9999", "less than 2^64 ns"]),
        (format!("{ALIBABA}1,T,0,512,5\n"), ["line 3: opcode = 'T'", "R or W"]),
        (format!("{ALIBABA}1,R,1,512,5\n"), ["line 3: offset = 1", "multiple of 512"]),
        (format!("{ALIBABA}1,R,0,512\n"), ["line 3: 4 columns", "must be 5, device_id"]),
        (format!("{TENCENT}1538323201,0,8,2,1\n"), ["line 4: IOType = '2'", "0 (read) or 1 (write)"]),
        (format!("{TENCENT}1538323201,0,0,1,1\n"), ["line 4: 0 sectors", "1 to"]),
        (format!("{FIU}1 2 p 8 8 X 6 0 ab\n"), ["line 3: R/W = 'X'", "R or W"]),
        (format!("{FIU}1 2 p 8 8 R 6 0 xyz\n"), ["line 3: md5 = 'xyz'", "hexadecimal"]),
        (format!("{FIU}1 2 p 8 8 R\n"), ["line 3: 6 columns", "must be 9, ts pid"]),
        ("8,0 3 1 0.1 9 Q W 22\n".to_owned(), ["line 1: '22' after RWBS", "sector + sectors"]),
        ("8,0 3 1 0.1 9 Q W 22 + 8\n".to_owned(), ["line 1: '22 + 8' after RWBS", "[process]"]),
        ("8,0 3 1 0.1\n".to_owned(), ["line 1: 4 columns", "at least 7"]),
        ("8,0 3 1 0.1 9 Z W 22 + 8 [x]\n".to_owned(), ["line 1: action = 'Z'", "Q, D or C"]),
        ("8,0 3 1 0.1 9 Q X 22 + 8 [x]\n".to_owned(), ["line 1: RWBS = 'X'", "must have R, W"]),
        ("8,0 3 1 0.1 9 Q WX 22 + 8 [x]\n".to_owned(), ["line 1: RWBS = 'WX'", "'X' must be one of F"]),
        ("8,0 3 1 0.1 9 Q W 22 + 8 [x]\nhello\n".to_owned(), ["line 2: device = 'hello'", "major,minor"]),
        ("8,0 3 1 0.1 9 P N [x]\n".to_owned(), ["line 1: the file has no requests", "at least one"]),
        (format!("{}\n", Format::Tencent.layout()), ["line 1: the file has no requests", "at least one"]),
    ] {
        let message = read(&text).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
}

#[test]
fn a_long_list_of_devices_is_cut_short() {
    let text = (0..100).map(|volume| format!("1,0,8,0,{volume}\n")).collect::<Vec<_>>().concat();
    let options = ReadOptions { device: Some("x".to_owned()), ..ReadOptions::default() };
    let message = read_as(&text, &options).unwrap_err().to_string();
    assert!(message.ends_with("18, 19 and 80 more"), "{message}");
    let options = ReadOptions { device: Some("99".to_owned()), ..ReadOptions::default() };
    assert_eq!(read_as(&text, &options).unwrap().len(), 1);
}

#[test]
fn reading_can_be_cancelled() {
    let progress = Progress::new();
    progress.cancel();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let error = read_trace(&path, &ReadOptions::default(), &progress).unwrap_err();
    assert_eq!(error, WorkloadError::Cancelled);
}

/// What a damaged copy may have in place of some bytes.
fn damage() -> impl Strategy<Value = (usize, u8)> {
    let likely = prop::sample::select(b"0123456789 ,.-+\n\rRWDF[]\0\xff".to_vec());
    (any::<usize>(), prop_oneof![likely, any::<u8>()])
}

fn check(bytes: &[u8], options: &ReadOptions) -> Result<(), TestCaseError> {
    match Trace::read(bytes, "t", options) {
        Ok(trace) => {
            prop_assert!(!trace.is_empty());
            prop_assert!(trace.arrival_ns.is_sorted() && trace.arrival_ns[0] == 0);
            trace.requests().validate(u64::MAX / 512, true).unwrap();
        }
        Err(error) => {
            let message = error.to_string();
            prop_assert!(message.len() < 1000, "{}", message);
            let placed = message.starts_with("t, line ") || message.starts_with("can't read t: ");
            prop_assert!(placed && !message.contains(char::is_control), "{:?}", message);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in std::iter::once(None).chain(Format::ALL.into_iter().map(Some)) {
            check(&bytes, &ReadOptions { format, ..ReadOptions::default() })?;
        }
    }

    #[test]
    fn a_damaged_copy_is_read_or_refused(
        sample in 0..SAMPLES.len(),
        changes in prop::collection::vec(damage(), 0..4),
        cut in any::<prop::sample::Index>(),
        forced: bool,
        zipped: bool,
    ) {
        let (text, format) = SAMPLES[sample];
        let mut bytes = if zipped { compressed(text) } else { text.as_bytes().to_vec() };
        for (place, byte) in changes {
            let place = place % bytes.len();
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        check(&bytes, &ReadOptions { format: forced.then_some(format), ..ReadOptions::default() })?;
    }

    #[test]
    fn numbers_at_their_limits_are_read_or_refused(
        sample in 0..SAMPLES.len(),
        value in prop::sample::select(vec![0, 1, 511, 512, u64::MAX / 512, u64::MAX / 100, u64::MAX - 1, u64::MAX]),
        column in 0usize..12,
    ) {
        let (text, format) = SAMPLES[sample];
        let last = text.lines().rfind(|line| line.contains(|c: char| c.is_ascii_digit())).unwrap();
        let mut number = 0;
        let changed: String = last.split_inclusive([',', ' ', '.']).map(|part| {
            let end = part.len() - usize::from(part.ends_with([',', ' ', '.']));
            number += 1;
            if number == column + 1 && part[..end].bytes().all(|byte| byte.is_ascii_digit()) {
                format!("{value}{}", &part[end..])
            } else {
                part.to_owned()
            }
        }).collect();
        let bytes = format!("{text}{changed}\n");
        check(bytes.as_bytes(), &ReadOptions { format: Some(format), ..ReadOptions::default() })?;
    }
}
