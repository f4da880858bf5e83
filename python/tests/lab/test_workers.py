"""Workers that can't do what they are asked."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

import drivelab as dl
from drivelab.lab.workers import Worker
from drivelab.progress import TaskProgress

DRIVE = dl.Drive("intel-x25-m-g1-80gb", scale="1/64")
JOB = dl.Job(rw="randwrite", bs="4k", io_size="64k")


class Raising:
    """What raises as soon as another process takes it."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (f"raise {self.what}",)


@pytest.mark.parametrize("what", ["ValueError('no')", "OSError('no')", "SystemExit('no')"])
def test_a_worker_says_what_it_could_not_take(what: str) -> None:
    """Deaf or gone it would keep its sweep waiting for ever, or be blamed on memory."""
    one = Worker()
    one.start()
    try:
        assert one._channel is not None
        one._channel.send(Raising(what))
        with pytest.raises(dl.WorkError, match=what.replace("('no')", ": no")):
            _heard(one)
        # It can't measure this either, and lives on.
        one._channel.send((DRIVE, Raising.__name__, False))
        with pytest.raises(dl.RequestError, match="job = 'Raising': allowed"):
            _heard(one)
    finally:
        one.close()


def _heard(one: Worker) -> None:
    assert one._channel is not None
    assert one._channel.poll(30), "it says nothing"
    one._heard(TaskProgress(""))


STATE = """
import sys
import drivelab as dl

if sys.argv[0].endswith("worker.py"):
    raise ValueError("not here")

@dl.state(after="new")
def nothing(bench):
    "Nothing."
"""


def test_a_state_that_workers_cannot_import_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state_of_mine.py").write_text(STATE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    state = importlib.import_module("state_of_mine").nothing
    with pytest.raises(dl.RequestError, match=r'state_of_mine.py": .*ValueError: not here'):
        dl.sweep(DRIVE, {"job.iodepth": [1]}, job=JOB, state=state, workers=1, progress=False)
