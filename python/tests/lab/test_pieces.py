"""Ctrl-C within long calls, which are done in pieces; and that pieces change nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

import drivelab as dl
from drivelab.lab import pieces
from drivelab.lab import session as sessions

DRIVES = [
    ("intel-x25-m-g1-80gb", "1/128", 1000),
    ("micron-7450-pro-960gb", "1/64", 1000),
    ("intel-x25-v-40gb-raid0-x2", "1/64", 1000),
    ("ocz-apex-60gb", "1/64", 20),
    ("wd-velociraptor-300gb", None, 1000),
]
JOB = dl.Job(rw="randwrite", bs="4k", iodepth=32, io_size="64m", norandommap=True)
WORK = """
import sys
import numpy as np
import drivelab as dl

drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/64")
job = dl.Job(rw="randwrite", bs="4k", iodepth=32, runtime="100d", time_based=True)
session = drive.open()
if sys.argv[1] in ("advance", "finish"):
    places = np.random.default_rng(1).integers(0, drive.capacity_bytes // 4096, 4_000_000)
    session.submit("write", offset=places * 4096)
works = {
    "run": lambda: drive.run(job),
    "steps": lambda: next(iter(drive.steps(job, every="100d"))),
    "advance": lambda: session.advance("100d"),
    "finish": session.finish,
}
print("ready", flush=True)
try:
    works[sys.argv[1]]()
except KeyboardInterrupt:
    print("waiting", session.waiting, flush=True)
    raise
"""


@pytest.mark.parametrize("work", ["run", "steps", "advance", "finish"])
def test_ctrl_c_is_answered_within_a_long_call(work: str) -> None:
    words = [sys.executable, "-c", WORK, work]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:
            # Without pieces a hundred days pass first, or all that was handed over is done.
            assert process.wait(timeout=60) == -signal.SIGINT
            assert process.stderr.read().splitlines()[-1] == b"KeyboardInterrupt"
            word, waiting = process.stdout.read().split()
            assert word == b"waiting"
            assert (int(waiting) > 0) == (work in {"advance", "finish"})
        finally:
            process.kill()


def worked(model: str, scale: str | None, count: int) -> list[Any]:
    """What a program sees of a drive that it overloads, and lets rest."""
    drive = dl.Drive(model, scale=scale)
    session, choice = drive.open(), np.random.default_rng(1)
    seen: list[Any] = []
    for _ in range(2):
        places = choice.integers(0, drive.capacity_bytes // 8192, count) * 4096
        ops = choice.choice(["read", "write", "write", "trim", "flush"], count)
        session.submit(ops, places, choice.integers(1, 16, count) * 512)
        seen += [session.advance("1s"), session.now_ns, session.finish(), session.now_ns]
        later_ns = session.now_ns + np.arange(count) * 1_000_000
        session.submit("write", places, 4096, later_ns)
        seen += [session.finish(), session.now_ns]
        session.submit("write", places)
        seen += [session.finish(), session.now_ns, session.advance("2s"), session.counters]
    return seen


@pytest.mark.parametrize(("model", "scale", "count"), DRIVES)
def test_a_session_in_pieces_is_as_at_once(
    model: str, scale: str | None, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def set_to(piece_ns: int, least_ns: int) -> None:
        monkeypatch.setattr(pieces, "PIECE_NS", piece_ns)
        monkeypatch.setattr(sessions, "LEAST_PIECE_NS", least_ns)

    set_to(2**62, 2**62)
    whole = worked(model, scale, count)
    for piece_ns in (5_000_003, 250_000_000):
        set_to(piece_ns, 1000)
        found = worked(model, scale, count)
        for at_once, in_pieces in zip(whole, found, strict=True):
            same = at_once == in_pieces
            assert same if isinstance(same, bool) else at_once.equals(in_pieces)


def test_a_run_whose_steps_are_pieces_is_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128").prepare("filled")
    whole = drive.run(JOB, log=True)
    monkeypatch.setattr(pieces, "PIECE_NS", 1_000_003)
    steps = drive.steps(JOB, every="1h", log=True)
    (only,) = steps
    assert only.ios == 16384
    assert steps.result.requests.equals(whole.requests)
    assert steps.result.summary.equals(whole.summary)
    assert steps.result.series.equals(whole.series)


def test_who_goes_on_after_ctrl_c_has_the_rest_of_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128").prepare("filled")
    whole = [(step.time_s, step.ios) for step in drive.steps(JOB, every="500ms")]
    monkeypatch.setattr(pieces, "PIECE_NS", 50_000_000)
    steps = drive.steps(JOB, every="500ms")
    advance, calls = steps._run.advance, [0]

    def interrupted(*words: Any) -> bool:
        calls[0] += 1
        if calls[0] == 3:
            raise KeyboardInterrupt
        return advance(*words)

    monkeypatch.setattr(steps._run, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        steps.advance()
    assert [(step.time_s, step.ios) for step in steps] == whole
    assert len(whole) > 1


def test_pieces_of_a_very_long_time_are_not_many() -> None:
    ends = list(pieces.ends(5, 5 + 10**18))
    assert ends[-1] == 5 + 10**18
    assert len(ends) <= pieces.PIECES_MAX + 1
