"""What dies did when: as tables, and as a trace that others open."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small import MODEL_NAME, SETS

import drivelab as dl
from drivelab import cli, counters
from drivelab.lab import timeline as timelines

JOB = dl.Job(rw="randrw", bs="4k", iodepth=16, io_size="128m", norandommap=True, name='a "job"')
PAGE_BYTES = 4096
"""Of the X25-M."""


@pytest.fixture(scope="module")
def filled() -> dl.Drive:
    return dl.Drive(MODEL_NAME, scale="1/128").prepare("used", progress=False)


@pytest.fixture(scope="module")
def result(filled: dl.Drive) -> dl.Result:
    return filled.run(JOB, timeline=True, log=True, keep=True, progress=False)


def events(path: Path, phase: str) -> list[dict[str, Any]]:
    found = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return [event for event in found if event["ph"] == phase]


def test_it_changes_nothing_of_what_is_measured(filled: dl.Drive, result: dl.Result) -> None:
    plain = filled.run(JOB, keep=True, progress=False)
    assert result.report == plain.report
    assert result.drive.counters == plain.drive.counters
    with pytest.raises(dl.RequestError, match="timeline=True"):
        _ = plain.timeline
    only = filled.run(JOB, timeline=True, progress=False)
    assert only.timeline.operations.equals(result.timeline.operations)
    with pytest.raises(dl.RequestError, match="log=True"):
        _ = only.requests


def test_operations_are_what_the_drive_counted(filled: dl.Drive, result: dl.Result) -> None:
    operations = result.timeline.operations
    assert result.timeline.left_out == 0
    used: dict[str, Any] = counters.spent(filled.counters, result.drive.counters)
    done = Counter(operations["work"].cast(pl.String))
    assert done["program"] * PAGE_BYTES == counters.program_bytes(used)
    assert done["erase"] == counters.erase_count(used) > 0
    before, after = filled.inside().dies, result.drive.inside().dies
    busy = operations.group_by("die").agg((pl.col("end_ns") - pl.col("begin_ns")).sum())
    for column, factor in (("worked_s", 1e9), ("reserved_us", 1e3)):
        before = before.with_columns(pl.col(column) * factor)
        after = after.with_columns(pl.col(column) * factor)
    took = (after["worked_s"] + after["reserved_us"]) - (before["worked_s"] + before["reserved_us"])
    assert busy.sort("die")["end_ns"].to_list() == pytest.approx(took.to_list(), abs=10)


def test_no_die_and_no_channel_does_two_things_at_once(result: dl.Result) -> None:
    operations = result.timeline.operations
    for track, begin, end in (
        ("die", "begin_ns", "end_ns"),
        ("channel", "bus_begin_ns", "bus_end_ns"),
    ):
        rows = operations.filter(pl.col(end) > pl.col(begin)).sort(track, begin)
        before = pl.col(end).shift(1).over(track)
        assert rows.filter(pl.col(begin) < before).is_empty(), track
    assert (operations["bus_begin_ns"] >= operations["begin_ns"]).all()
    assert (operations["bus_end_ns"] <= operations["end_ns"]).all()


def test_the_trace_has_a_slice_for_everything(result: dl.Result, tmp_path: Path) -> None:
    path = result.timeline.write(tmp_path / "trace.json")
    operations, requests = result.timeline.operations, result.timeline.requests
    assert requests.equals(result.requests)
    slices = events(path, "X")
    dies = [event for event in slices if event["pid"] == timelines.DIES]
    assert len(dies) == operations.height
    # To the nanosecond.
    first, row = dies[0], operations.row(0, named=True)
    assert round(first["ts"] * 1000) == row["begin_ns"]
    assert round(first["dur"] * 1000) == row["end_ns"] - row["begin_ns"]
    assert first["name"] == row["work"]
    assert first["tid"] == row["die"] + 1
    moved = operations.filter(pl.col("work").cast(pl.String) != "erase").height
    assert len(slices) == operations.height + moved
    names = Counter(event["name"] for event in dies)
    cleaned = operations.filter(pl.col("is_cleaning") & (pl.col("work").cast(pl.String) == "erase"))
    assert names["erase (cleaning)"] == cleaned.height > 0
    begun, ended = events(path, "b"), events(path, "e")
    assert len(begun) == len(ended) == requests.height
    for opening, closing, one in zip(begun, ended, requests.iter_rows(named=True), strict=True):
        assert opening["cat"] == 'a "job"'
        assert (opening["id"], opening["name"]) == (closing["id"], closing["name"])
        assert round((closing["ts"] - opening["ts"]) * 1000) == one["latency_ns"]
    tracks = [e["args"]["name"] for e in events(path, "M") if e["name"] == "thread_name"]
    assert "die 0 (channel 0)" in tracks
    assert "channel 3" in tracks


@pytest.mark.parametrize("name", ["skhynix-gold-p31-1tb", "micron-7450-pro-960gb"])
def test_slices_of_a_track_lie_within_each_other_or_apart(name: str, tmp_path: Path) -> None:
    """Also of dies that read on several planes at once, and suspend programs for reads: the format
    knows no others."""
    drive = dl.Drive(name, scale="1/64").prepare("filled", progress=False)
    jobs = [
        dl.Job(rw=rw, bs="4k", iodepth=depth, io_size="8m", norandommap=True)
        for rw, depth in (("randread", 16), ("randwrite", 4))
    ]
    timeline = drive.run(*jobs, timeline=True, progress=False).timeline
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = {}
    slices = events(timeline.write(tmp_path / "t.json"), "X")
    for event in slices:
        begin = round(event["ts"] * 1000)
        end = begin + round(event["dur"] * 1000)
        tracks.setdefault((event["pid"], event["tid"]), []).append((begin, -end))
    assert sum(event["pid"] == timelines.DIES for event in slices) == timeline.operations.height
    assert any(tid > 1_000_000 for _, tid in tracks), "no die read on two planes at once"
    for found in tracks.values():
        ends: list[int] = []
        for begin, end in sorted(found):
            while ends and ends[-1] <= begin:
                ends.pop()
            assert not ends or -end <= ends[-1]
            ends.append(-end)


def test_a_window_is_a_part_of_the_whole(filled: dl.Drive, result: dl.Result) -> None:
    found = filled.run(JOB, timeline="50ms:80ms", progress=False).timeline
    whole = result.timeline.operations
    begin = pl.col("begin_ns")
    part = whole.filter((begin >= 50 * 10**6) & (begin < 80 * 10**6))
    assert found.operations.equals(part)
    assert not part.is_empty()
    assert found.requests["issued_ns"].max() < 80 * 10**6  # type: ignore[operator]
    assert found.requests["completed_ns"].min() > 50 * 10**6  # type: ignore[operator]
    ramped = JOB.with_options(ramp_time="100ms", time_based=True, runtime="200ms", io_size=None)
    late = filled.run(ramped, timeline="20ms", progress=False).timeline.operations
    assert late["begin_ns"].min() >= 100 * 10**6  # type: ignore[operator]
    assert late["begin_ns"].max() < 120 * 10**6  # type: ignore[operator]


def test_an_empty_window_is_said_and_still_a_trace(filled: dl.Drive, tmp_path: Path) -> None:
    found = filled.run(JOB, timeline="1h:2h", progress=False)
    assert any("no operation of a die began" in note for note in found.notes)
    assert events(found.timeline.write(tmp_path / "t.json"), "X") == []
    with pytest.raises(dl.RequestError, match=r't\.txt": allowed: a name that ends in \.json'):
        found.timeline.write(tmp_path / "t.txt")


def test_what_finds_no_room_is_said(
    filled: dl.Drive, monkeypatch: pytest.MonkeyPatch, result: dl.Result
) -> None:
    monkeypatch.setattr(timelines, "OPERATIONS_MAX", 100)
    found = filled.run(JOB, timeline=True, progress=False)
    whole = result.timeline.operations
    assert found.timeline.operations.equals(whole.head(100))
    assert f"the first 100 of {whole.height} operations" in " ".join(found.notes)
    assert found.timeline.requests.height < result.requests.height


def test_the_command_line_writes_the_same(tmp_path: Path) -> None:
    job = tmp_path / "job.fio"
    text = "[fill]\nrw=write\nbs=128k\nsize=8m\n[a]\nstonewall\nrw=randread\nbs=4k\nsize=1m\n"
    job.write_text(text, encoding="utf-8")
    path = tmp_path / "t.json"
    words = ["run", str(job), "--drive", MODEL_NAME, *SETS]
    assert cli.run([*words, "--timeline", str(path)]) == 0
    assert {event["cat"] for event in events(path, "b")} == {"a"}
    assert len(events(path, "b")) == 256
    reads = [event for event in events(path, "X") if event["pid"] == timelines.DIES]
    assert sum(event["name"] == "read" for event in reads) == 256
    assert cli.run([*words, "--timeline", str(path), "--timeline-window", "10ms"]) == 0
    assert 0 < len(events(path, "b")) < 256
    path.write_text("kept")
    assert cli.run([*words, "--timeline", str(path)]) == 2
    assert path.read_text() == "kept"


@pytest.mark.parametrize(
    ("drive", "words", "told"),
    [
        (
            MODEL_NAME,
            ("--timeline", "t.pftrace"),
            '"t.pftrace": allowed: a name that ends in .json',
        ),
        (MODEL_NAME, ("--timeline", "nowhere/t.json"), "nowhere"),
        (MODEL_NAME, ("--timeline-window", "2s"), "--timeline only"),
        (MODEL_NAME, ("--timeline", "t.json", "--timeline-window", "2"), None),
        (MODEL_NAME, ("--timeline", "t.json", "--timeline-window", "3s:2s"), "before the other"),
        (MODEL_NAME, ("--timeline", "t.json", "--timeline-window", "x"), "--timeline-window"),
        ("wd-velociraptor-300gb", ("--timeline", "t.json"), "no dies"),
    ],
)
def test_what_can_not_be_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    drive: str,
    words: tuple[str, ...],
    told: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.fio").write_text("[a]\nrw=randread\nbs=4k\nsize=1m\n", encoding="utf-8")
    status = cli.run(["run", "job.fio", "--drive", drive, *words])
    error = capsys.readouterr().err
    assert status == (0 if told is None else 2)
    if told is not None:
        assert told in error
        assert list(tmp_path.iterdir()) == [tmp_path / "job.fio"]
