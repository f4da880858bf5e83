from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from drivelab.errors import RequestError
from drivelab.iolog import publish_iolog
from drivelab.progress import TaskProgress
from drivelab.traces import TraceFile, read_trace
from drivelab.workload import FLUSH, READ, TRIM, WRITE, Requests


def mixed() -> Requests:
    return Requests(
        np.array([READ, WRITE, FLUSH, TRIM, READ], dtype=np.uint8),
        np.array([8, 2048, 0, 64, 16], dtype=np.uint64),
        np.array([8, 256, 0, 128, 1], dtype=np.uint32),
        np.array([0, 0, 1_500, 2_000, 9_000_000], dtype=np.uint64),
    )


def test_what_was_written_is_what_is_read(tmp_path: Path) -> None:
    written = mixed()
    path = publish_iolog(tmp_path / "trace.iolog", written)
    found = read_trace(TraceFile(path), TaskProgress("reading"), 10**9)
    assert found.format == "iolog"
    for column in ("op", "lba", "sector_count"):
        assert getattr(found.requests, column).tolist() == getattr(written, column).tolist()
    assert found.requests.arrival_ns is not None
    assert found.requests.arrival_ns.tolist() == [0, 0, 1_000, 2_000, 9_000_000]
    assert [item.name for item in tmp_path.iterdir()] == ["trace.iolog"]


def test_nothing_is_written_of_what_an_iolog_cannot_say(tmp_path: Path) -> None:
    huge = Requests.of([(TRIM, 0, 2**23)])
    with pytest.raises(RequestError, match="4294967296 bytes: an iolog allows less"):
        publish_iolog(tmp_path / "trace.iolog", huge)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="ascii")
    with pytest.raises(RequestError, match="can't write there"):
        publish_iolog(tmp_path / "file" / "trace.iolog", mixed())
    with pytest.raises(RequestError, match="is a folder"):
        publish_iolog(tmp_path, mixed())


@pytest.mark.programs("fio")
def test_fio_replays_it(tmp_path: Path) -> None:
    path = publish_iolog(tmp_path / "trace.iolog", mixed())
    (tmp_path / "target").write_bytes(bytes(4 << 20))
    command = ["fio", "--name=replay", f"--read_iolog={path}", "--ioengine=psync"]
    command += [f"--replay_redirect={tmp_path / 'target'}", "--replay_no_stall=1", "--filesize=4m"]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, timeout=300)


def test_another_file_is_not_replaced_but_an_earlier_iolog_is(tmp_path: Path) -> None:
    requests = Requests.of([(WRITE, 0, 8)])
    trace = tmp_path / "trace.csv"
    trace.write_text("0,host,0,Read,0,4096,0\n", encoding="ascii")
    with pytest.raises(RequestError, match="another file, which would be lost"):
        publish_iolog(trace, requests)
    assert trace.read_text(encoding="ascii").startswith("0,host")
    out = tmp_path / "out.iolog"
    publish_iolog(out, requests)
    publish_iolog(out, requests)
