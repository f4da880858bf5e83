//! The control socket: what it tells, what it passes on, and whatever somebody says to it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use super::slow::{MS, Slow, negotiate, path, read_after, run};
use drivelab_nbd::{Clock, Listen, Options, Server};
use serde_json::{Value, json};

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
