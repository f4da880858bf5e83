"""Equal drives share what was prepared, as long as one of them is there."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any

import pytest

import drivelab as dl
from drivelab.lab import prepared

NAME = "intel-x25-m-g1-80gb"
JOB = dl.Job(rw="randwrite", bs="4k", iodepth=32, io_size="4m")


def drive(**words: Any) -> dl.Drive:
    return dl.Drive(NAME, scale="1/128", **words)


def test_equal_drives_are_prepared_once() -> None:
    first = drive().prepare("filled")
    made = first.make()
    first.run(JOB)
    assert drive().prepare("filled").make() is made
    assert drive().in_state("filled").make() is made
    assert pickle.loads(pickle.dumps(first)).make() is made


def test_drives_that_differ_share_nothing(tmp_path: Path) -> None:
    made = drive().prepare("filled").make
    others = [
        drive(seed=2).prepare("filled"),
        drive(parameters={"spare_ratio": 0.2}).prepare("filled"),
        drive().prepare("new"),
        drive().prepare("filled").idle("1s"),
    ]
    assert all(other.make() is not made() for other in others)
    # Equal in every parameter, but results cite another title.
    path = tmp_path / "own.toml"
    path.write_text(
        f'base = "{NAME}"\nname = "{NAME}"\n'
        'title = { value = "Mine", source = "assumed: it is" }\n'
    )
    own = dl.Drive(path, scale="1/128").prepare("filled")
    assert own.make() is not made()
    assert own.make().model.title != made().model.title


def test_what_is_shared_gives_what_is_prepared_anew() -> None:
    first = drive().prepare("filled")
    first.run(JOB, keep=True)
    first.open().submit("write", [0, 4096])
    shared = drive().prepare("filled").run(JOB, log=True)
    tables = (shared.requests, shared.summary)
    del first, shared
    gc.collect()
    anew = drive().prepare("filled")
    expected = anew.run(JOB, log=True)
    assert tables[0].equals(expected.requests)
    assert tables[1].equals(expected.summary)
    shared = drive().prepare("filled").run(JOB, log=True)
    assert shared.requests.equals(expected.requests)
    assert shared.summary.equals(expected.summary)


def test_nothing_is_kept_once_the_last_drive_is_gone() -> None:
    found = drive(seed=77).prepare("filled")
    key = prepared._key(found)
    assert key in prepared._HELD
    del found
    gc.collect()
    assert key not in prepared._HELD


def test_a_state_of_ones_own_is_prepared_anew() -> None:
    shares = []

    @dl.state(after="new")
    def mine(bench: dl.Bench) -> None:
        """Some writes."""
        shares.append(bench.capacity_bytes)

    first, second = drive().prepare(mine), drive().prepare(mine)
    assert first.make() is not second.make()
    assert len(shares) == 2


@pytest.mark.parametrize("state", ["new", "filled"])
def test_the_same_drive_prepares_a_state_once(state: str) -> None:
    base = drive()
    assert base.prepare(state) is base.prepare(state)
