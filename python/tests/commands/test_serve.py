from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from served.stand_in import Engine

from drivelab import cli
from drivelab.served import server, session

SCRIPT = """
import sys
from served.stand_in import Engine
from drivelab import cli
from drivelab.served import image

class Slow(Engine):
    def serve_image(self, *arguments):
        found = super().serve_image(*arguments)
        if "slow" in arguments[0]:
            import time
            time.sleep(600)
        return found

image.engine = Slow()
sys.exit(cli.run(sys.argv[1:]))
"""


def interrupted_soon(engine: Engine, number: int = signal.SIGINT) -> None:
    """A signal once the drive is served; before, it would end the test."""

    def wait() -> None:
        while not engine.served:
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    threading.Thread(target=wait, daemon=True).start()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_says_where_and_how_and_what_was_done(
    engine: Engine, drive: Path, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    engine.facts["clean"] = False
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    interrupted_soon(engine, number)
    words = ["serve", str(drive), "--clock", "2", "--name", "x", "--read-only", "--sync"]
    assert cli.run(words) == 0
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
    printed = capsys.readouterr()
    assert printed.out == f"nbd+unix:///x?socket={drive}.sock\n"
    for text in (
        f"{drive}: Test drive, 1.0 GB, read-only",
        "2 s of the drive in 1 s",
        "power was cut before: the drive has rebuilt its map, in 250 ms of its own time",
        f"control: {drive}.control",
        f"nbdinfo 'nbd+unix:///x?socket={drive}.sock'",
        "--rw=randread",
        "stopping: commands are finished",
        "stopped: everything is in flash",
        "requests: 2 write, 3 write-zeroes; 1 of them failed; 0.",
        "write latency: mean 0.25 ms, longest 2 ms",
        "host wrote 1.0 GB, read 0 B; flash programmed 1.5 GB; write amplification 1.5",
    ):
        assert text in printed.err
    [(path, listen, clock, options)] = engine.served
    assert (path, listen, clock) == (str(drive), f"unix:{drive}.sock", "2.0")
    assert options == {
        "export_name": "x",
        "control": f"{drive}.control",
        "read_only": True,
        "sync": True,
        "record": None,
        "faults": None,
    }


def test_nothing_is_said_of_latencies_of_what_was_never_done() -> None:
    requests = {
        "read": {"count": 2, "errors": 1, "latency_ns": {"mean": 50_000, "max": 50_000}},
        "write": {"count": 3, "errors": 3, "latency_ns": {"mean": None, "max": None}},
    }
    request = server.Request(Path("my.drive"), None, None, "real", "")
    found = {"reason": "stopped", "wall_s": 1.0, "statistics": {"requests": requests}}
    told = "\n".join(session.lines(found, request))
    assert "requests: 2 read, 3 write; 4 of them failed" in told
    assert "read latency" in told
    assert "write latency" not in told


def test_the_command_beside_the_control_socket_is_as_a_shell_takes_it(
    engine: Engine, drive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = drive.parent / "with space \u00fc" / "my driv\u00e9.drive"
    image.parent.mkdir()
    image.write_bytes(drive.read_bytes())
    interrupted_soon(engine)
    assert cli.run(["serve", str(image), "--clock", "instant"]) == 0
    [line] = [line for line in capsys.readouterr().err.splitlines() if "control: " in line]
    command = line.partition(" (drivelab ")[2].removesuffix(")")
    assert shlex.split(command) == ["smart", str(image)]


def test_an_address_that_others_reach_is_warned_of(
    engine: Engine, drive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = drive.with_name("plan.toml")
    plan.write_text('seed = 3\n[[fault]]\nkind = "read-only"\n', encoding="utf-8")
    interrupted_soon(engine)
    assert cli.run(["serve", str(drive), "--listen", "0.0.0.0:0", "--faults", str(plan)]) == 0
    printed = capsys.readouterr()
    assert "NBD asks for no password here" in printed.err
    assert "faults: 1, seed 3" in printed.err
    assert engine.served[0][3]["faults"] == {"seed": 3, "faults": [{"kind": "read-only"}]}


def test_standard_output_belongs_to_the_session_with_stdio(
    engine: Engine, drive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted_soon(engine)
    assert cli.run(["serve", str(drive), "--stdio"]) == 0
    assert capsys.readouterr().out == ""
    assert engine.served[0][1] == "stdio"


def test_a_signal_that_another_thread_gets_is_heard(engine: Engine, drive: Path) -> None:
    served = engine.serve_image

    def interrupted(*arguments: Any) -> str:
        # Once the main thread waits, this doesn't wake it.
        time.sleep(0.5)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        return served(*arguments)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine, "serve_image", interrupted)
        watch = time.monotonic()
        assert cli.run(["serve", str(drive)]) == 0
    assert time.monotonic() - watch < 60


@pytest.mark.usefixtures("engine")
def test_what_can_not_be_served_is_refused(drive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        ([drive.with_name("none")], "no such file; `drivelab create"),
        ([drive.parent], "is not a file"),
        ([drive, "--stdio", "--listen", "10809"], "give one of them"),
        ([drive, "--listen", "nowhere"], "allowed: unix:PATH"),
        ([drive, "--listen", "192.0.2.1:80"], '--listen "192.0.2.1:80": can\'t listen there ('),
        ([drive, "--listen", "unix:/proc/x.sock"], '--listen "/proc/x.sock": can\'t write there'),
        ([drive, "--control", "/proc/x.sock"], '--control "/proc/x.sock": can\'t write there'),
        ([drive, "--clock", "fast"], "allowed: real, instant"),
        ([drive, "--control", drive], "is there already, and is no socket"),
        ([drive, "--name", "x" * 300], "at most 255 bytes"),
        ([drive, "--faults", "none.toml"], "can't read it"),
    ):
        assert cli.run(["serve", *map(str, words)]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "second", "status"), [("slow", signal.SIGINT, 130), ("quick", None, 0)]
)
def test_a_second_interrupt_ends_a_server_at_once(
    folder: Path, name: str, second: int | None, status: int
) -> None:
    path = folder / name
    path.write_text("{}", encoding="utf-8")
    tests = Path(__file__).resolve().parents[1]
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "serve", str(path)],
        env={**os.environ, "PYTHONPATH": str(tests)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("nbd+unix:")
            process.send_signal(signal.SIGINT)
            if second is not None:
                # Two signals at once would be one.
                assert process.stderr is not None
                while "stopping" not in process.stderr.readline():
                    pass
                # One that comes at once is the first, told twice.
                process.send_signal(second)
                time.sleep(2 * server.ONE_PRESS_S)
                assert process.poll() is None
                process.send_signal(second)
            _, errors = process.communicate(timeout=180)
        finally:
            process.kill()
    assert process.returncode == status
    assert ("stopped as by a power cut" in errors) == (second is not None)


@pytest.mark.parametrize(("p99_ns", "said"), [(50_000, False), (7_250_000, True)])
def test_a_clock_that_fell_behind_is_told(
    engine: Engine, drive: Path, capsys: pytest.CaptureFixture[str], p99_ns: int, said: bool
) -> None:
    engine.late_ns = {"mean": 300_000, "p99": p99_ns, "max": 90_000_000}
    interrupted_soon(engine)
    assert cli.run(["serve", str(drive)]) == 0
    told = capsys.readouterr().err
    assert ("the clock fell behind" in told) is said
    assert ("one in a hundred 7.25 ms or more, 90 ms at most" in told) is said
