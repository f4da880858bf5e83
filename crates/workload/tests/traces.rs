//! Trace formats: small golden inputs, wrong lines, larger devices.

use std::path::Path;

use drivelab_workload::{Beyond, Format, Progress, ReadOptions, Trace, WorkloadError, read_trace};
use proptest::prelude::*;

fn read(text: &str) -> Result<Trace, WorkloadError> {
    Trace::read(text.as_bytes(), "t", &ReadOptions::default())
}

fn read_device(text: &str, device: &str) -> Result<Trace, WorkloadError> {
    let options = ReadOptions { device: Some(device.to_owned()), ..ReadOptions::default() };
    Trace::read(text.as_bytes(), "t", &options)
}

fn as_format(format: Option<Format>) -> ReadOptions {
    ReadOptions { format, ..ReadOptions::default() }
}

fn rows(trace: &Trace) -> Vec<(u8, u64, u32, u64)> {
    let columns = trace.op.iter().zip(&trace.lba).zip(&trace.sector_count).zip(&trace.arrival_ns);
    columns.map(|(((&op, &lba), &sectors), &arrival_ns)| (op, lba, sectors, arrival_ns)).collect()
}

#[test]
fn mqsim_zero_is_a_write() {
    let trace = read("938513000 4 264719034 16 0\r\n\n938828000 3 197570570 8 1\n").unwrap();
    assert_eq!(trace.format, Format::Mqsim);
    assert_eq!(rows(&trace), [(1, 264_719_034, 16, 0), (0, 197_570_570, 8, 315_000)]);
    assert_eq!(trace.device_names, ["4", "3"]);
}

#[test]
fn msr_ticks_are_rebased_and_sorted() {
    let text = "128166372003061629,usr,0,Read,7014609920,24576,41286\n\
                128166372002061629,usr,1,Write,4096,512,100\n\
                128166372016382155,usr,0,Write,1317441536,8192,1963\n";
    let trace = read(text).unwrap();
    assert_eq!(trace.format, Format::Msr);
    assert_eq!(
        rows(&trace),
        [(1, 8, 1, 0), (0, 13_700_410, 48, 100_000_000), (1, 2_573_128, 16, 1_432_052_600)]
    );
    assert_eq!(trace.device_names, ["usr.0", "usr.1"]);
    assert_eq!(trace.reordered_count, 1);
    let one = read_device(text, "usr.0").unwrap();
    assert_eq!(rows(&one), [(0, 13_700_410, 48, 0), (1, 2_573_128, 16, 1_332_052_600)]);
    let message = read_device(text, "usr.7").unwrap_err().to_string();
    assert!(message.contains("usr.7") && message.contains("usr.0, usr.1"), "{message}");
}

#[test]
fn iolog_2_waits_until_milliseconds_after_the_start() {
    let text = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 4096 8192\n/dev/a wait 5 0\n\
                /dev/a read 0 512\n/dev/a sync 0 0\n/dev/a wait 3 0\n/dev/a datasync\n/dev/a trim 512 512\n\
                /dev/a close\n";
    let trace = read(text).unwrap();
    assert_eq!(trace.format, Format::Iolog);
    let later = 5_000_000;
    assert_eq!(
        rows(&trace),
        [(1, 8, 16, 0), (0, 0, 1, later), (2, 0, 0, later), (2, 0, 0, later), (3, 1, 1, later)]
    );
}

#[test]
fn iolog_3_has_microseconds() {
    let text = "fio version 3 iolog\n7 f add\n7 f open\n10 f read 4096 4096\n35 f write 0 4096\n40 f close\n";
    assert_eq!(rows(&read(text).unwrap()), [(0, 8, 8, 0), (1, 0, 8, 25_000)]);
}

#[test]
fn wrong_lines_are_named_with_number_value_and_what_is_allowed() {
    let good = "1 0 0 8 1\n";
    let iolog = "fio version 2 iolog\n";
    let msr = "1,h,0,Read,0,512,0\n";
    for (text, parts) in [
        (format!("{good}1 0 0 8\n"), ["t, line 2: 4 columns", "must be 5"]),
        (format!("{good}1 0 x 8 1\n"), ["line 2: lba = 'x'", "whole number"]),
        (format!("{good}\n1 0 -5 8 1\n"), ["line 3: lba = '-5'", "whole number"]),
        (format!("{good}1 0 +5 8 1\n"), ["lba = '+5'", "whole number"]),
        (format!("{good}1 0 99999999999999999999 8 1\n"), ["lba = '99999999999999999999'", "to 1844"]),
        (format!("{good}1 0 36028797018963967 8 1\n"), ["first sector = 36028797018963967", "at most"]),
        (format!("{good}1 0 0 0 1\n"), ["line 2: 0 sectors", "1 to"]),
        (format!("{good}1 0 0 4294967296 1\n"), ["4294967296 sectors", "1 to"]),
        (format!("{good}1 0 0 8 2\n"), ["line 2: type = '2'", "0 (write) or 1 (read)"]),
        (format!("{msr}1,h,0,Trim,0,512,0\n"), ["line 2: Type = 'Trim'", "Read or Write"]),
        (format!("{msr}1,h,0,Read,0,100,0\n"), ["length = 100", "multiple of 512"]),
        (
            format!("{msr}1844674407370955162,h,0,Read,0,512,0\n"),
            ["Timestamp = '1844", "to 184467440737095516"],
        ),
        (format!("{msr}1,h,0,Read,0,512\n"), ["line 2: 6 columns", "must be 7"]),
        ("fio version 4 iolog\n".to_owned(), ["fio version 4", "fio version 2 iolog"]),
        (format!("{iolog}f jump 0 512\n"), ["line 2: action = 'jump'", "read, write, trim"]),
        (format!("{iolog}f read 0\n"), ["line 2: 1 columns after read", "must be 2"]),
        (format!("{iolog}f wait 99999999999999\n"), ["wait = '99999999999999'", "to 18446744073709"]),
        ("fio version 3 iolog\n1 f wait 5 0\n".to_owned(), ["action = 'wait'", "datasync"]),
        ("fio version 3 iolog\nx f read 0 512\n".to_owned(), ["timestamp = 'x'", "whole number"]),
        (String::new(), ["line 1: the file has no requests", "at least one"]),
        (format!("{iolog}f add\n"), ["line 2: the file has no requests", "at least one"]),
        ("hello\n".to_owned(), ["line 1: 'hello' fits no known format", "mqsim"]),
        ("x".repeat(5000), ["line 1: the line is longer than 4096", "text"]),
    ] {
        let message = read(&text).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
    }
    let error = Trace::read(&b"1 0 0 8 1\n\xff\xfe\n"[..], "t", &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("line 2: the line is not UTF-8"), "{error}");
    let error =
        read_trace(Path::new("/nonexistent/trace"), &ReadOptions::default(), &Progress::new()).unwrap_err();
    assert!(error.to_string().starts_with("can't read /nonexistent/trace: "), "{error}");
    assert!(
        Format::from_name("blk")
            .unwrap_err()
            .to_string()
            .contains("blk: must be one of mqsim, msr, systor17")
    );
}

#[test]
fn a_format_that_is_given_is_not_guessed() {
    let error = Trace::read(&b"1 0 0 8 1\n"[..], "t", &as_format(Some(Format::Msr))).unwrap_err();
    assert!(error.to_string().contains("must be 7"), "{error}");
}

#[test]
fn offsets_beyond_the_drive() {
    let trace = read("0 0 1000003 16 0\n1 0 5 8 1\n2 0 1000011 8 1\n3 1 5 8 1\n").unwrap();
    let message = trace.clone().fit(1000, Beyond::Reject).unwrap_err().to_string();
    assert!(message.contains("lba[0] = 1000003") && message.contains("compact"), "{message}");
    assert_eq!(trace.clone().fit(1 << 20, Beyond::Reject).unwrap(), trace);
    let wrapped = trace.clone().fit(1000, Beyond::Modulo).unwrap();
    assert_eq!(wrapped.lba, [3, 5, 11, 5]);
    // Device 0 touches 0..16 and 1000000..1000024, device 1 touches 0..16.
    let compact = trace.clone().fit(1000, Beyond::Compact).unwrap();
    assert_eq!(compact.lba, [19, 5, 27, 45]);
    let message = trace.fit(50, Beyond::Compact).unwrap_err().to_string();
    assert!(message.contains("= 53") && message.contains("50"), "{message}");
}

proptest! {
    #[test]
    fn fitted_requests_fit_and_keep_their_alignment(
        requests in proptest::collection::vec((0u64..1 << 40, 1u32..200, 0u32..3), 1..100),
        capacity in 200u64..5000,
    ) {
        let lines: Vec<String> = requests
            .iter()
            .enumerate()
            .map(|(time, (lba, count, device))| format!("{time} {device} {lba} {count} 0"))
            .collect();
        let trace = read(&lines.join("\n")).unwrap();
        let wrapped = trace.clone().fit(capacity * 8, Beyond::Modulo).unwrap();
        wrapped.requests().validate(capacity * 8, true).unwrap();
        let compact = trace.clone().fit(1 << 30, Beyond::Compact).unwrap();
        for other in [&wrapped, &compact] {
            prop_assert!(trace.lba.iter().zip(&other.lba).all(|(old, new)| old % 8 == new % 8));
        }
        // Distances within touched ranges stay: two requests overlap after if and only if they did before.
        for one in 0..trace.len() {
            for two in 0..one {
                let overlap = |lba: &[u64]| {
                    lba[one] < lba[two] + u64::from(trace.sector_count[two])
                        && lba[two] < lba[one] + u64::from(trace.sector_count[one])
                };
                let before = trace.device[one] == trace.device[two] && overlap(&trace.lba);
                prop_assert_eq!(before, overlap(&compact.lba));
            }
        }
    }
}

/// Excerpts of real traces in `MQSim`'s format, or those of the folder that `DRIVELAB_TRACES` names, can be read.
#[test]
fn real_traces() {
    let excerpts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/tests/traces").to_string();
    let folder = std::env::var("DRIVELAB_TRACES").unwrap_or(excerpts);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let paths: Vec<_> = files.filter(|path| path.extension().is_some_and(|of| of == "trace")).collect();
    assert!(!paths.is_empty());
    for path in paths {
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        let trace = read_trace(&path, &ReadOptions::default(), &Progress::new()).unwrap();
        assert_eq!((trace.len(), trace.arrival_ns[0]), (lines, 0), "{}", path.display());
        assert!(trace.arrival_ns.is_sorted());
        trace.fit(156_301_488, Beyond::Compact).unwrap();
    }
}
