from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import drivelab as dl
from drivelab import cli
from drivelab.lab import workers
from drivelab.lab.running import measured

TRACES = Path(__file__).parents[1] / "traces"
ONE, TWO = TRACES / "wsrch-excerpt.trace", TRACES / "tpcc-excerpt.trace"
DRIVE = dl.Drive("intel-x25-m-g1-80gb", scale="1/64")
OPTIONS: dict[str, Any] = {"format": "mqsim", "out_of_range": "modulo"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, []),
        (
            {"pacing": "closed", "queue_depth": 4},
            ["--pacing", "closed", "--queue-depth", "4"],
        ),
        ({"pacing": "capped", "idle_cap": "1ms"}, ["--pacing", "capped", "--idle-cap", "1ms"]),
        ({"pacing": "capped", "idle_cap": 0}, ["--pacing", "capped", "--idle-cap", "0"]),
    ],
)
def test_a_trace_is_replayed_as_by_the_command(
    options: dict[str, Any], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    result = DRIVE.prepare("filled", progress=False).run(
        dl.Trace(TWO, **OPTIONS, **options), progress=False
    )
    command = ["replay", str(TWO), "--format", "mqsim", "--out-of-range", "modulo", *words]
    drive = ["--drive", "intel-x25-m-g1-80gb", "--scale", "1/64", "--state", "filled", "--json"]
    assert cli.run([*command, *drive]) == 0
    told = json.loads(capsys.readouterr().out)["replay"]
    assert result.totals["energy_j"] == told["energy_j"]
    assert result.totals["write_amplification"] == told["write_amplification"]
    for row in result.summary.rows(named=True):
        assert row["latency_mean_us"] == told[row["direction"]]["latency_us"]["mean"]
        assert row["latency_p99_us"] == told[row["direction"]]["latency_us"]["p99"]


def test_traces_are_an_axis_of_a_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = dl.Trace(ONE, **OPTIONS)
    grid = {"trace": [str(ONE), str(TWO)], "job.pacing": ["arrival", "closed"]}
    study = dl.sweep(DRIVE, grid, job=base, state="filled", progress=False, workers=2)
    assert study.frame().select("trace", "job.pacing").n_unique() == 4
    alone = measured(DRIVE.in_state("filled"), [dl.Trace(TWO, **OPTIONS, pacing="closed")])
    assert study[3].report == alone
    # A copy of the file elsewhere is the same trace: nothing is measured again.
    store = tmp_path / "study"
    dl.sweep(DRIVE, {"trace": [str(ONE)]}, job=base, store=store, workers=1, progress=False)
    other = tmp_path / ONE.name
    other.write_bytes(ONE.read_bytes())
    monkeypatch.setattr(workers.Worker, "start", lambda *_: pytest.fail("measured again"))
    again = dl.sweep(DRIVE, {"trace": [str(other)]}, job=base, store=store, progress=False)
    assert len(again) == 1


def told_by_the_command(
    capsys: pytest.CaptureFixture[str], words: list[str], *more: str
) -> dict[str, Any]:
    drive = ["--drive", "intel-x25-m-g1-80gb", "--scale", "1/64", "--state", "filled-random"]
    command = ["replay", str(TWO), "--format", "mqsim", "--out-of-range", "modulo", *words]
    assert cli.run([*command, *drive, *more, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"repeat": 3}, ["--repeat", "3"]),
        ({"until_steady": True, "repeat": 5}, ["--until-steady", "--repeat", "5"]),
    ],
)
def test_a_trace_goes_round_as_by_the_command(
    options: dict[str, Any], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    result = DRIVE.prepare("filled-random", progress=False).run(
        dl.Trace(TWO, **OPTIONS, **options), progress=False
    )
    told = told_by_the_command(capsys, words)["rounds"]
    assert result.report["rounds"] == told
    assert result.rounds.drop("round").rows(named=True) == told["each"]
    assert result.rounds["round"].to_list() == [*range(1, told["count"] + 1)]
    said = f"numbers are of the last of {told['count']} rounds; see rounds"
    assert said in result.notes
    assert f"note: {said}" in repr(result)
    once = DRIVE.run(dl.Trace(TWO, **OPTIONS, repeat=1), progress=False)
    assert not any("rounds" in note for note in once.notes)
    asked = options.get("until_steady", False)
    assert (result.steady is not None) == asked
    if result.steady is not None:
        assert result.steady["reached"] == told["steady"]
        assert any("not steady after" in note for note in result.notes) != told["steady"]


def test_rounds_are_an_axis_and_stay_in_the_store(tmp_path: Path) -> None:
    for _ in range(2):
        study = dl.sweep(
            DRIVE,
            {"job.repeat": [1, 3]},
            job=dl.Trace(TWO, **OPTIONS),
            state="filled",
            store=tmp_path,
            workers=1,
            progress=False,
        )
        assert study[1].rounds.height == 3
    with pytest.raises(dl.RequestError, match="nothing went round"):
        _ = study[0].rounds


def test_a_study_says_of_rounds_whether_they_were_steady() -> None:
    trace = dl.Trace(TWO, **OPTIONS, until_steady=True, repeat=4)
    study = dl.sweep(
        DRIVE, {"spare_ratio": [0.1, 0.2]}, job=trace, state="new", workers=1, progress=False
    )
    for result in study:
        # What is new has room for four rounds of it, and erases nothing.
        assert result.steady == {"metric": "write_amplification", "reached": False, "rounds": 4}
        assert "write_amplification was not steady after 4 rounds" in result.notes


def test_rounds_end_when_they_are_steady(tmp_path: Path) -> None:
    file = tmp_path / "rewrite.csv"
    rows = [f"{i},h,0,Write,{(i * 7919) % 20_000 * 65_536},65536,0" for i in range(10_000)]
    file.write_text("\n".join(rows) + "\n")
    trace = dl.Trace(
        file, pacing="closed", queue_depth=8, until_steady=True, repeat=40, out_of_range="modulo"
    )
    result = DRIVE.prepare("filled", progress=False).run(trace, progress=False)
    assert result.steady is not None
    assert result.steady["reached"] is True
    assert 4 <= result.steady["rounds"] == result.rounds.height < 40
    last = result.rounds["write_amplification"].to_list()[-4:]
    assert max(last) <= 1.04 * min(last)


def test_one_round_is_the_trace_as_it_is() -> None:
    assert dl.Trace(TWO, **OPTIONS, repeat=1) == dl.Trace(TWO, **OPTIONS)
    with pytest.raises(dl.RequestError, match="repeat = 1: with until_steady at least 4"):
        DRIVE.run(dl.Trace(TWO, **OPTIONS, repeat=1, until_steady=True), progress=False)


def test_every_request_of_a_trace_is_kept_as_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drive = DRIVE.prepare("filled-random", progress=False)
    trace = dl.Trace(TWO, **OPTIONS, repeat=2)
    kept = drive.run(trace, log=True, progress=False).requests
    assert kept.height == drive.run(trace, progress=False).summary["ios"].sum()
    command, script = tmp_path / "command.parquet", tmp_path / "script.parquet"
    told_by_the_command(capsys, ["--repeat", "2"], "--request-log", str(command))
    assert drive.run(trace, log=script, progress=False).requests.equals(kept)
    assert pl.read_parquet(script).equals(pl.read_parquet(command))


def test_a_drive_is_as_a_trace_left_it(tmp_path: Path) -> None:
    file = tmp_path / "x.trace"
    file.write_bytes(TWO.read_bytes())
    before = DRIVE.prepare("filled", progress=False)
    after = before.run(dl.Trace(file, **OPTIONS, repeat=2), keep=True, progress=False).drive
    written = after.counters["host_write_bytes"] - before.counters["host_write_bytes"]
    told = before.run(dl.Trace(TWO, **OPTIONS), progress=False).totals["host_write_bytes"]
    assert written == 2 * told
    # It goes on, travels, and is the same wherever the trace lies.
    job = dl.Job(rw="randwrite", bs="4k", io_size="1m")
    measured_now = after.run(job, progress=False).report
    again = pickle.loads(pickle.dumps(after))
    assert again.key == after.key
    assert again.run(job, progress=False).report == measured_now
    elsewhere = before.run(dl.Trace(TWO, **OPTIONS, repeat=2), keep=True, progress=False).drive
    assert elsewhere.key == after.key
    tests = [
        drive.measure("random-write-4k-qd3-sector", quick=True) for drive in (after, elsewhere)
    ]
    assert tests[0].values == tests[1].values
    after.save(tmp_path / "after.snapshot")
    assert dl.load(tmp_path / "after.snapshot", progress=False).key == after.key
    file.write_bytes(ONE.read_bytes())
    with pytest.raises(dl.RequestError, match="another file than the one"):
        dl.load(tmp_path / "after.snapshot", progress=False)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"until_steady": True, "repeat": 3}, "repeat = 3: with until_steady at least 4"),
        ({"repeat": 0}, "repeat = 0: allowed: whole numbers"),
        ({"repeat": 1.5}, "repeat = 1.5: allowed"),
        ({"until_steady": 1}, "until_steady = 1: allowed: True, False"),
    ],
)
def test_rounds_that_can_not_be_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(dl.RequestError) as caught:
        DRIVE.run(dl.Trace(TWO, **OPTIONS, **options), progress=False)
    assert told in str(caught.value)


def test_a_disk_never_gets_steady_and_a_sweep_says_so_at_once() -> None:
    trace = dl.Trace(TWO, **OPTIONS, until_steady=True)
    with pytest.raises(dl.RequestError, match="until_steady: goes by write amplification"):
        dl.sweep(
            dl.Drive("intel-x25-m-g1-80gb"),
            {"model": ["intel-x25-m-g1-80gb", "wd-velociraptor-300gb"]},
            job=trace,
            progress=False,
            workers=1,
        )


def test_a_trace_travels_and_is_known_again(tmp_path: Path) -> None:
    file = tmp_path / "x.trace"
    file.write_bytes(ONE.read_bytes())
    kept = pickle.dumps(dl.Trace(file, **OPTIONS))
    assert pickle.loads(kept) == dl.Trace(ONE, **OPTIONS) != dl.Trace(TWO, **OPTIONS)
    file.write_bytes(TWO.read_bytes())
    with pytest.raises(dl.RequestError, match="another file than the one"):
        pickle.loads(kept)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"pacing": "arival"}, 'did you mean "arrival"'),
        ({"queue_depth": 3}, 'counts with pacing="closed" only'),
        ({"pacing": "capped", "idle_cap": "1q"}, "idle_cap = '1q': allowed"),
        ({"pacing": "capped", "idle_cap": ""}, "idle_cap = '': allowed"),
        ({"pacing": "closed", "queue_depth": 0}, "queue_depth = 0: allowed"),
        ({"format": "mqsin"}, 'did you mean "mqsim"'),
        ({"data": "zero"}, "zero"),
    ],
)
def test_wrong_options_are_refused_at_once(options: dict[str, Any], told: str) -> None:
    with pytest.raises(dl.RequestError) as caught:
        dl.Trace(ONE, **options)
    assert told in str(caught.value)


def test_no_gap_at_all_is_another_cap_than_the_default(tmp_path: Path) -> None:
    file = tmp_path / "slow.csv"
    rows = [f"{10_000_000 * i},h,0,Write,{4096 * i},4096,0" for i in range(20)]
    file.write_text("\n".join(rows) + "\n")
    caps: list[Any] = [0, 5e-5, "50us", 0.1 * 3, "300ms", None, "25ms"]
    traces = [dl.Trace(file, pacing="capped", idle_cap=cap) for cap in caps]
    ends = [DRIVE.run(trace, progress=False).report["end_ns"] for trace in traces]
    said = "gaps between arrivals longer than 25 ms were cut to that (idle_cap)"
    assert said in DRIVE.run(traces[-1], progress=False).notes
    assert said not in DRIVE.run(dl.Trace(file), progress=False).notes
    assert ends[0] <= ends[1] == ends[2] < ends[5] == ends[6] < ends[3] == ends[4]


def test_what_a_trace_can_not_be_is_refused_before_anything_runs() -> None:
    with pytest.raises(dl.RequestError, match="can't be read"):
        dl.Trace("none.trace")
    with pytest.raises(dl.RequestError, match="path = 5: allowed"):
        dl.Trace(5)  # type: ignore[arg-type]
    trace = dl.Trace(ONE, format="mqsim")
    with pytest.raises(dl.RequestError, match=r"modulo.* \(out_of_range\)$"):
        DRIVE.run(trace, progress=False)
    for more, told in (
        ({"until": dl.Steady("iops")}, r"until = .*: of a trace ask for Trace\(..., until_steady"),
        ({"timeline": True}, "timeline = True: a trace has none"),
    ):
        with pytest.raises(dl.RequestError, match=told):
            DRIVE.run(trace, progress=False, **more)  # type: ignore[arg-type]
    with pytest.raises(dl.RequestError, match="runs alone"):
        DRIVE.run(trace, dl.Job(rw="read"), progress=False)
    with pytest.raises(dl.RequestError, match="drive"):
        dl.sweep(DRIVE, {"spare_ratio": [0.1]}, job=trace, progress=False)
    with pytest.raises(dl.RequestError, match="did you mean"):
        dl.sweep(DRIVE, {"job.pacin": ["closed"]}, job=trace, progress=False)


def test_a_sweep_counts_what_a_trace_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process reads it: two of them, where there is memory for one, are one."""
    from drivelab.lab import sweep

    trace = dl.Trace(TWO, **OPTIONS)
    trace.check(DRIVE.model)
    assert trace.memory_bytes >= 300 * (1 + 8 + 4 + 8)
    one = DRIVE.model.memory_bytes
    monkeypatch.setattr(sweep.schedule, "usual_memory_bytes", lambda: 2 * one)
    monkeypatch.setattr(sweep, "_processors", lambda: 2)
    point = sweep.Point({}, 0, DRIVE, trace)
    assert sweep._workers(None, [point], 0) == 2
    assert sweep._workers(None, [point], one) == 1
    # Where a second point starts from the drive, the first is measured on a copy of it.
    assert sweep._workers(None, [point, point], 0) == 1
