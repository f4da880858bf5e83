//! A drive in an image behind the server's trait: what clients are answered, and what its control socket does.

use std::path::{Path, PathBuf};

use drivelab_controller::FaultPlan;
use drivelab_drive::faults::plan_from_json;
use drivelab_image::upkeep::{check, smart};
use drivelab_image::{Image, ModelTexts};
use drivelab_nbd::{Control, DriveExport, Errno, Export, Request, RequestKind, ServeOptions};
use serde_json::{Value, json};

const MODEL: &str = "
    name = 'small'
    title = 'Small drive'
    user_capacity_bytes = 262144
    [flash]
    channel_count = 2
    dies_per_channel = 1
    planes_per_die = 1
    blocks_per_plane = 12
    pages_per_block = 8
    page_bytes = 4096
    read_ns = 50000
    program_ns = 250000
    erase_ns = 1500000
    bus_bytes_per_s = 40000000
    [ftl]
    map_unit_bytes = 4096
    [link]
    bytes_per_s = 250000000
    [write_buffer]
    size_bytes = 32768
";

fn image() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.drive");
    let mut texts = ModelTexts::default();
    texts.layers.push((MODEL.to_owned(), "small.toml".to_owned()));
    Image::create(&path, &texts, 7).unwrap();
    (folder, path)
}

/// A served drive without a server: requests one at a time, in no time.
struct Client(DriveExport);

impl Client {
    /// Its drive goes to rest, and lets go of its image; whether it did.
    fn rest(mut self) -> bool {
        self.0.rest().unwrap()
    }

    fn new(path: &Path, faults: FaultPlan) -> Self {
        let options = ServeOptions { faults, ..ServeOptions::default() };
        Self(DriveExport::power_on(path, &options).unwrap())
    }

    /// The answer; `None`: the power failed before.
    fn ask(
        &mut self,
        kind: RequestKind,
        offset: u64,
        length: u32,
        fua: bool,
    ) -> Option<Result<Vec<u8>, Errno>> {
        let data = vec![0x5A; if kind == RequestKind::Write { length as usize } else { 0 }];
        self.0.submit(0, Request { ticket: 9, kind, offset, length, fua, no_hole: false }, &data);
        let mut answer = None;
        while answer.is_none() {
            let event_ns = self.0.next_event()?;
            self.0.advance(event_ns, &mut |ticket, result| {
                assert_eq!(ticket, 9);
                answer = Some(result.map(<[u8]>::to_vec));
            });
        }
        answer
    }

    fn write(&mut self, offset: u64, length: u32) -> Option<Result<Vec<u8>, Errno>> {
        self.ask(RequestKind::Write, offset, length, false)
    }

    fn read(&mut self, offset: u64, length: u32) -> Result<Vec<u8>, Errno> {
        self.ask(RequestKind::Read, offset, length, false).unwrap()
    }

    fn told(&mut self, request: Value) -> Value {
        self.0.handle(request)
    }

    #[allow(clippy::needless_pass_by_value, reason = "json! makes values")]
    fn fault(&mut self, fault: Value) -> Value {
        self.told(json!({ "command": "fault", "fault": fault }))
    }

    fn smart(&mut self, key: &str) -> Value {
        self.told(json!({ "command": "smart" }))[key].clone()
    }
}

#[test]
fn failures_of_the_drive_are_errors_of_the_protocol() {
    let (_folder, path) = image();
    let mut client = Client::new(&path, FaultPlan::default());
    client.write(0, 65_536).unwrap().unwrap();
    assert_eq!(
        client.fault(json!({ "kind": "read-error", "offset_bytes": 4096, "length_bytes": 512 })),
        json!({ "ok": true })
    );
    assert_eq!(client.read(0, 8192), Err(Errno::Io), "a read that touches the sector fails");
    assert_eq!(client.read(0, 4096), Ok(vec![0x5A; 4096]));
    assert_eq!(client.read(4608, 4096), Ok(vec![0x5A; 4096]));
    assert_eq!(client.told(json!({ "command": "clear-faults" })), json!({ "ok": true }));
    assert_eq!(client.read(4096, 512), Ok(vec![0x5A; 512]));
    client.fault(json!({ "kind": "read-only" }));
    assert_eq!(client.write(0, 512), Some(Err(Errno::NotPermitted)));
    for kind in [RequestKind::Trim, RequestKind::WriteZeroes] {
        assert_eq!(client.ask(kind, 0, 8192, true), Some(Err(Errno::NotPermitted)), "{kind:?}");
    }
    assert_eq!(client.read(0, 512), Ok(vec![0x5A; 512]));
    client.ask(RequestKind::Flush, 0, 0, false).unwrap().unwrap();
    assert_eq!((client.smart("read_errors"), client.smart("read_only")), (json!(1), json!(true)));
    assert!(client.rest());
    assert_eq!(check(&path).unwrap().problems, [""; 0]);
}

#[test]
fn faults_can_be_given_listed_and_cleared_while_a_drive_is_served() {
    let (_folder, path) = image();
    let plan = json!({ "seed": 5, "faults": [{ "kind": "lost-write", "at_command": 2 }] });
    let mut client = Client::new(&path, plan_from_json(&plan).unwrap());
    client.fault(json!({ "kind": "latency-spike", "duration_ns": 5_000_000, "count": 1 }));
    let more = json!({ "seed": 6, "faults": [{ "kind": "lying-flush" }, { "kind": "ignored-fua" }] });
    client.told(json!({ "command": "fault-plan", "plan": more }));
    for _ in 0..3 {
        client.write(0, 4096).unwrap().unwrap();
    }
    client.ask(RequestKind::Write, 0, 4096, true).unwrap().unwrap();
    client.ask(RequestKind::Flush, 0, 0, false).unwrap().unwrap();
    let told = client.told(json!({ "command": "faults" }));
    let list = told["faults"].as_array().unwrap();
    let pairs: Vec<_> = list
        .iter()
        .map(|fault| (fault["kind"].as_str().unwrap(), fault["happened"].as_u64().unwrap()))
        .collect();
    assert_eq!(pairs, [("lost-write", 1), ("latency-spike", 1), ("lying-flush", 1), ("ignored-fua", 1)]);
    assert_eq!(told["read_only"], false);
    assert!(told["flash_operations"].is_u64());
    client.told(json!({ "command": "clear-faults" }));
    assert_eq!(client.told(json!({ "command": "faults" }))["faults"], json!([]));
    for (key, count) in [("lost_writes", 1), ("latency_spikes", 1), ("lying_flushes", 1), ("ignored_fuas", 1)]
    {
        assert_eq!(client.smart(key), count, "{key}");
    }
}

#[test]
fn an_idle_drive_is_under_power_and_its_time_is_kept() {
    const IDLE_NS: u64 = 28_000_000_000;
    let (_folder, path) = image();
    let mut client = Client::new(&path, FaultPlan::default());
    let power_on_ns = |client: &mut Client| client.smart("power_on_ns").as_u64().unwrap();
    let begun_ns = power_on_ns(&mut client);
    // What a server does when it is asked something, or told to stop.
    client.0.advance(IDLE_NS, &mut |_, _| unreachable!("nothing was asked"));
    assert_eq!(power_on_ns(&mut client), begun_ns + IDLE_NS);
    client.0.advance(2 * IDLE_NS, &mut |_, _| unreachable!("nothing was asked"));
    assert!(client.rest());
    assert!(smart(&path).unwrap()["power_on_ns"].as_u64().unwrap() >= begun_ns + 2 * IDLE_NS);
}

/// What SMART says of whether a drive takes writes, and of its spare blocks.
fn health(told: &Value) -> [Value; 4] {
    ["read_only", "read_only_reason", "spare_blocks", "spare_blocks_new"].map(|key| told[key].clone())
}

#[test]
fn what_faults_made_of_a_drive_ends_with_its_power_in_smart_of_the_image_too() {
    let told_to = json!({ "faults": [{ "kind": "read-only" }] });
    let few_spare =
        json!({ "spare_blocks": 1, "faults": [{ "kind": "erase-failure", "probability": 1, "count": 1 }] });
    for (given, reason) in [(told_to, "fault"), (few_spare, "spare blocks used up")] {
        for is_cut in [false, true] {
            let (_folder, path) = image();
            let mut client = Client::new(&path, plan_from_json(&given).unwrap());
            while client.write(0, 65_536).unwrap().is_ok() {}
            assert_eq!(client.smart("read_only_reason"), reason);
            client.ask(RequestKind::Flush, 0, 0, false).unwrap().unwrap();
            if is_cut {
                drop(client);
            } else {
                assert!(client.rest());
            }
            let at_rest = health(&smart(&path).unwrap());
            assert_eq!(at_rest[..2], [json!(false), Value::Null], "{reason}");
            let mut client = Client::new(&path, FaultPlan::default());
            assert_eq!(at_rest, health(&client.told(json!({ "command": "smart" }))), "{reason}");
            client.write(0, 512).unwrap().unwrap();
        }
    }
}

#[test]
fn a_drive_at_rest_tells_what_it_did_whoever_took_its_images_place() {
    let (_folder, path) = image();
    let mut client = Client::new(&path, FaultPlan::default());
    client.write(0, 65_536).unwrap().unwrap();
    let before = client.0.facts();
    std::fs::rename(&path, path.with_extension("moved")).unwrap();
    assert!(client.0.rest().unwrap());
    let after = client.0.facts();
    assert_eq!(after["clean"], true);
    assert_eq!(after["host_write_bytes"], 65_536);
    assert!(after["program_bytes_log"].as_u64() > before["program_bytes_log"].as_u64(), "its checkpoint");
    assert_eq!(client.0.next_event(), None, "nothing is done without power");
}

#[test]
fn what_a_drive_cannot_do_is_refused_in_one_line() {
    let (_folder, path) = image();
    let mut client = Client::new(&path, FaultPlan::default());
    let wrong = [
        (json!({ "command": "fault" }), "null"),
        (json!({ "command": "fault", "fault": { "kind": "flood" } }), "unknown variant `flood`"),
        (json!({ "command": "fault", "fault": { "kind": "read-error", "at_operation": 1 } }), "at_operation"),
        (
            json!({ "command": "fault", "fault": { "kind": "lost-write", "offset_bytes": 1 << 20 } }),
            "offset_bytes = 1048576: must be less than the drive's capacity, 262144 bytes",
        ),
        (
            json!({ "command": "fault", "fault": { "kind": "misdirected-write", "distance_bytes": -(1 << 20) } }),
            "distance_bytes = -1048576: must be less than the drive's capacity, 262144 bytes",
        ),
        (json!({ "command": "fault-plan", "plan": { "sed": 1 } }), "unknown field `sed`"),
        (
            json!({ "command": "fault-plan", "plan": { "spare_blocks": 999 } }),
            "spare_blocks = 999: must be at most",
        ),
        (json!({ "command": "melt" }), "\"melt\" is not known here"),
    ];
    for (request, words) in wrong {
        let answer = client.told(request.clone());
        let error = answer["error"].as_str().unwrap();
        assert!(
            answer["ok"] == false && error.contains(words) && !error.contains('\n'),
            "{request}: {answer}"
        );
    }
    let answer = client.fault(json!({ "kind": "lost-write", "offset_bytes": 1 << 20 }));
    assert!(
        answer["error"].as_str().unwrap().starts_with("offset_bytes = "),
        "a fault on its own has no number"
    );
    assert_eq!(client.told(json!({ "command": "faults" }))["faults"], json!([]));
}

#[test]
fn a_power_cut_ends_everything_and_the_flushed_data_is_there() {
    for given in ["by command", "by a fault", "by a plan"] {
        let (_folder, path) = image();
        let planned =
            plan_from_json(&json!({ "faults": [{ "kind": "power-cut", "at_operation": 12 }] })).unwrap();
        let mut client =
            Client::new(&path, if given == "by a plan" { planned } else { FaultPlan::default() });
        client.write(0, 4096).unwrap().unwrap();
        client.ask(RequestKind::Flush, 0, 0, false).unwrap().unwrap();
        match given {
            "by command" => drop(client.told(json!({ "command": "power-cut" }))),
            "by a fault" => drop(client.fault(json!({ "kind": "power-cut" }))),
            _ => while client.write(8192, 65_536).is_some() {},
        }
        assert!(client.0.power_was_cut() && client.0.next_event().is_none(), "{given}");
        assert_eq!(client.write(0, 512), None, "nobody answers");
        assert!(!client.rest());
        let mut client = Client::new(&path, FaultPlan::default());
        assert_eq!(client.read(0, 4096), Ok(vec![0x5A; 4096]));
        assert_eq!(client.smart("unsafe_shutdowns"), 1, "{given}");
    }
}
