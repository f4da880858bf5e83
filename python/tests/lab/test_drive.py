from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import drawn
import polars as pl
import pytest

import drivelab as dl
from drivelab import cli

NAME = "intel-x25-m-g1-80gb"
WRITES = dl.Job(rw="randwrite", bs="4k", iodepth=32, io_size="16m", name="w")


@pytest.fixture(scope="module")
def used() -> dl.Drive:
    return dl.Drive(NAME, scale="1/64", seed=3).prepare("used", progress=False)


@pytest.fixture(scope="module")
def result(used: dl.Drive) -> dl.Result:
    return used.run(WRITES, keep=True, progress=False)


@pytest.fixture(scope="module")
def cleaning(used: dl.Drive) -> dl.Result:
    """Writes for so long that the drive must clean."""
    more = {"io_size": "400m", "norandommap": True, "log_avg_msec": 500}
    return used.run(WRITES.with_options(**more), progress=False)


def test_a_run_gives_what_the_command_line_gives(
    result: dl.Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "w.fio"
    file.write_text("[w]\nrw=randwrite\nbs=4k\niodepth=32\nio_size=16m\n", encoding="utf-8")
    words = ["run", str(file), "--drive", NAME, "--scale", "1/64", "--state", "used"]
    assert cli.run([*words, "--seed", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (row,) = result.summary.rows(named=True)
    own = told["jobs"][0]["write"]
    assert row["iops"] == own["iops"]
    assert row["latency_mean_us"] == own["lat_ns"]["mean"] / 1000
    assert row["latency_p99_99_us"] == own["clat_ns"]["percentile"]["99.990000"] / 1000
    assert row["write_amplification"] == told["drivelab"]["write_amplification"]
    assert result.totals["erases"] == told["drivelab"]["erases"]


def test_a_run_leaves_the_drive_as_it_was(used: dl.Drive, result: dl.Result) -> None:
    assert used.run(WRITES, progress=False).report == result.report
    after = result.drive.run(WRITES, progress=False)
    assert after.report["start_ns"] == result.report["end_ns"]


def test_tables_agree_with_each_other(result: dl.Result) -> None:
    (row,) = result.summary.rows(named=True)
    assert result.latency["count"].sum() == row["ios"] == 4096
    assert result.latency["latency_us"].max() == row["latency_max_us"]
    assert result.latency["share"].to_list()[-1] == 1.0
    assert result.parts["mean_us"].sum() == pytest.approx(row["latency_mean_us"])
    series = result.series
    lengths = series["interval_s"]
    assert lengths.sum() == pytest.approx(series["time_s"][-1])
    assert (series["iops"] * lengths).sum() == pytest.approx(row["ios"])
    assert series["latency_max_us"].max() == row["latency_max_us"]
    assert set(result.metrics()) > {"iops", "write_amplification", "energy_j"}


def test_intervals_tell_what_the_drive_did_meanwhile(used: dl.Drive, cleaning: dl.Result) -> None:
    every = WRITES.with_options(log_avg_msec=50)
    series, totals = cleaning.series, cleaning.totals
    assert series.height > 20
    lengths = series["interval_s"]
    written = series["mib_per_s"] * lengths
    mean = (series["write_amplification"] * written).sum() / written.sum()
    # The host's bytes count as they come, throughput as they are done.
    assert mean == pytest.approx(totals["write_amplification"], rel=0.02)
    assert (series["latency_p99_us"] <= series["latency_max_us"]).all()
    assert series["latency_p99_us"].max() >= cleaning.summary["latency_p99_us"].item()
    assert series["queue_depth_mean"].max() <= 32
    assert series["cleaning_share"].max() > 0
    assert series["free_blocks"].null_count() == 0
    mixed = used.run(every.with_options(rw="randrw"), progress=False).series
    told = {d: mixed.filter(direction=d) for d in ("read", "write")}
    assert told["read"]["write_amplification"].null_count() == told["read"].height
    assert told["write"]["write_amplification"].drop_nulls().len() > 0
    pair = used.run(every, every.with_options(name="v"), progress=False).series
    assert (
        pair["free_blocks"].null_count() == pair["write_amplification"].null_count() == pair.height
    )


def test_tails_are_told_as_a_table_and_drawn(cleaning: dl.Result) -> None:
    tails, (row,) = cleaning.tails, cleaning.summary.rows(named=True)
    assert tails["share_of_requests"].unique(maintain_order=True).to_list() == [
        0.1,
        0.01,
        0.001,
        0.0001,
    ]
    each = tails.group_by("share_of_requests", maintain_order=True).agg(
        pl.col("mean_us").sum(), pl.col("latency_min_us", "requests").first()
    )
    # Whoever is among the slowest took as long as its shortest at least, the longest at most.
    assert (each["mean_us"] >= each["latency_min_us"]).all()
    assert each["mean_us"].max() <= row["latency_max_us"]
    assert each["requests"][0] >= 0.1 * row["ios"]
    drawn_values = {str(value) for bar in cleaning.plot.tails().rows() for value in bar.values()}
    # Named by how many they are.
    shares = (100 * requests / row["ios"] for requests in each["requests"])
    assert {"all", *(f"slowest {share:.2g} %" for share in shares)} <= drawn_values
    nothing = dl.Result(cleaning.report | {"jobs": []}, None, ())
    with pytest.raises(dl.RequestError, match="nothing tells what the slowest"):
        nothing.plot.tails()


def test_what_several_jobs_did_together_is_nobodys_own(used: dl.Drive) -> None:
    reads = dl.Job(rw="randread", bs="4k", io_size="4m", name="r")
    found = used.run(WRITES, WRITES.with_options(name="v"), reads, progress=False)
    rows = {row["job"]: row for row in found.summary.rows(named=True)}
    assert rows["w"]["write_amplification"] is None is rows["r"]["erases"]
    assert found.totals["write_amplification"] > 1
    with pytest.raises(dl.RequestError, match="3 directions"):
        found.metrics()


def test_a_pickled_drive_is_the_same_drive(result: dl.Result) -> None:
    copy = pickle.loads(pickle.dumps(result.drive))
    assert copy.key == result.drive.key
    assert copy.counters == result.drive.counters
    assert (
        copy.run(WRITES, progress=False).report == result.drive.run(WRITES, progress=False).report
    )


def test_keys_tell_drives_apart() -> None:
    drive = dl.Drive(NAME, scale="1/64")
    others = [
        drive,
        drive.with_seed(2),
        drive.with_parameters({"spare_ratio": 0.28}),
        drive.in_state("filled"),
        drive.in_state("used"),
        dl.Drive(NAME),
    ]
    assert len({other.key for other in others}) == len(others)
    assert dl.Drive(NAME, {"spare_ratio": 0.28}, scale="1/64").model.hash == others[2].model.hash


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: dl.Drive("intel-x25-n"), 'model "intel-x25-n" is unknown'),
        (lambda: dl.Drive(None), "model = None: allowed: a text"),
        (lambda: dl.Drive(NAME, {"flash.read_ns": "\udcff"}), r"flash.read_ns = \xff: allowed: te"),
        (lambda: dl.Job(iodepth=True), "iodepth = True: allowed: a number or a text"),
        (lambda: dl.Drive(NAME, {"spare_ratoi": 0.1}), "did you mean spare_ratio"),
        (lambda: dl.Drive(NAME, {"spare_ratio": None}), "spare_ratio = None"),
        (lambda: dl.Drive(NAME, ["spare_ratio"]), "parameters = ['spare_ratio']: allowed: names"),
        (lambda: dl.Drive(NAME, {5: 1}), "parameter = 5: allowed: a text"),
        (lambda: dl.Drive(NAME).with_parameters(3), "parameters = 3: allowed: names with values"),
        (lambda: dl.Drive(NAME, scale="1/64").open(fua="no"), "fua = 'no': allowed: True, False"),
        (lambda: dl.Drive(NAME).run(WRITES, log="requests"), 'log "requests": allowed: a name'),
        (lambda: dl.Drive(NAME).run(WRITES, log=1), "log = 1: allowed: True, False"),
        (lambda: dl.Drive(NAME).steps(WRITES, log="all"), "log = 'all': allowed: True, False"),
        (lambda: dl.Job(data=5), "data = 5: allowed: a text"),
        (lambda: dl.Drive(NAME, seed=-1), "seed = -1"),
        (lambda: dl.Drive(NAME, seed=True), "seed = True"),
        (lambda: dl.Drive(NAME, scale="64"), 'scale "64": expected 1/N'),
        (lambda: dl.Drive(NAME).prepare("usd"), 'state "usd" is unknown; did you mean "used"'),
        (lambda: dl.Drive(NAME, scale="1/64").run(), "at least one job"),
        (lambda: dl.Drive(NAME, scale="1/64").run(dl.Job(size="9g"), progress=False), "leave the"),
        (
            lambda: dl.Drive(NAME, {"spare_ratio": 0.07, "user_capacity_bytes": 60 * 10**9}),
            "spare_ratio = 0.07 and user_capacity_bytes = 60000000000: give one of them",
        ),
        (lambda: dl.Job(bs="4k", blocksize="8k"), "bs=4k and blocksize=8k: give one of them"),
        (lambda: dl.Job(rwmixread=20, rwmixwrite=50), "give one of them"),
        (lambda: dl.Job(bs="4q"), "bs=4q is not possible"),
        (lambda: dl.Job(bs=4095), "multiples of 512"),
        (lambda: dl.Job(iodeptth=3), 'did you mean "iodepth"'),
        (lambda: dl.Job(numjobs=2), "numjobs=2 is not possible"),
        (lambda: dl.Job(wait_for_previous=True), "wait_for_previous=1 is not possible"),
        (lambda: dl.Job(thinktime=5e-5), "in microseconds, as in fio; allowed: a text with a unit"),
        (lambda: dl.Job(thinktime=5e-5), 'thinktime="50us"'),
        (lambda: dl.Job(data="randm"), 'did you mean "random"'),
        (lambda: dl.Job(name=""), "name = '': allowed"),
        (lambda: dl.Job(bs=[1]), "a number or a text"),
        (lambda: dl.Drive(NAME, scale=64), 'scale = 64: expected a text 1/N, e.g. scale="1/64"'),
        (lambda: dl.Drive(NAME).prepare(None), "state = None"),
        (lambda: dl.Drive(NAME).run([WRITES]), "allowed: a drivelab.Job; several as run("),
        (lambda: WRITES.with_options(deth=1), 'job option "deth" is not supported'),
    ],
)
def test_what_cannot_be_is_refused_by_name(wrong: Any, told: str) -> None:
    with pytest.raises(dl.RequestError) as caught:
        wrong()
    assert told in str(caught.value)


def test_the_drive_afterwards_must_be_asked_for(used: dl.Drive) -> None:
    found = used.run(dl.Job(rw="read", io_size="1m"), progress=False)
    with pytest.raises(dl.RequestError, match="keep=True"):
        _ = found.drive
    assert found.summary["write_amplification"].to_list() == [None]


def test_models_are_a_table() -> None:
    table = dl.models()
    assert table.height == 71
    assert NAME in table["name"].to_list()
    assert table.schema["user_capacity_bytes"] == pl.Int64


def test_the_command_line_loads_no_tables() -> None:
    """`import drivelab` costs nothing: commands of served drives start at once."""
    program = "import drivelab, drivelab.cli, sys; print('polars' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
    with pytest.raises(AttributeError, match="no attribute 'Driv'"):
        _ = dl.Driv
    assert set(dl.__all__) <= set(dir(dl))


def test_pictures_of_a_result(used: dl.Drive, result: dl.Result, tmp_path: Path) -> None:
    reads = dl.Job(rw="randread", bs="4k", iodepth=8, io_size="4m", name="r")
    both = used.run(WRITES, reads, progress=False)
    for name, chart in {
        "latency": both.plot.latency(),
        "series": both.plot.series("latency_max_us"),
        "parts": both.plot.parts(),
    }.items():
        assert chart.save(tmp_path / f"{name}.png").stat().st_size > 10_000
        assert len(chart.series) == (5 if name == "parts" else 2)
    alone = result.plot.series()
    ((name, _),) = {(row["s"], "") for row in alone.rows()}
    shown = [y for _, y in drawn.line(alone, name)]
    assert shown == pytest.approx(result.series["iops"].to_list()[: len(shown)], rel=1e-4)
    assert alone.series == ()
    with pytest.raises(dl.RequestError, match="requests: the run kept no log"):
        result.plot.heat()
    logged = used.run(WRITES, log=True, progress=False)
    heat = logged.plot.heat()
    assert sum(heat.columns["v"]) == logged.requests.height
    slowest_us = logged.requests["latency_ns"].max() / 1e3
    assert max(heat.columns["y"]) <= slowest_us <= max(heat.columns["y2"])
    assert heat.save(tmp_path / "heat.png").stat().st_size > 10_000
    with pytest.raises(dl.RequestError, match='"iosp" is not in series'):
        result.plot.series("iosp")


def test_a_chart_of_what_nothing_tells_is_refused(used: dl.Drive) -> None:
    reads = used.run(dl.Job(rw="randread", bs="4k", io_size="4m"), progress=False)
    with pytest.raises(dl.RequestError, match="nothing tells the write_amplification"):
        reads.plot.series("write_amplification")
    mixed = used.run(dl.Job(rw="randrw", bs="4k", io_size="4m"), progress=False)
    # Two directions, one line, which needs no name.
    assert mixed.plot.series("write_amplification").series == ()
    assert len(mixed.plot.series("iops").series) == 2


def test_a_notebook_shows_the_table_and_the_notes(result: dl.Result) -> None:
    html = result._repr_html_()
    assert "write_amplification" in html
    assert result.notes
    assert all(f"note: {note.replace('&', '&amp;')}" in html for note in result.notes)


def test_time_passes_without_commands(result: dl.Result) -> None:
    rested = result.drive.idle("90s").idle(0.5)
    assert rested.now_s == pytest.approx(result.drive.now_s + 90.5)
    copy = pickle.loads(pickle.dumps(rested))
    assert (copy.key, copy.counters) == (rested.key, rested.counters)
    assert "used, jobs, idle, idle" in repr(rested)
    with pytest.raises(dl.RequestError, match="time = '5x': allowed"):
        result.drive.idle("5x")


def test_what_lay_on_a_shelf_is_older_and_made_again_the_same() -> None:
    on = {"flash.bit_errors": True, "flash.initial_cycles": 20_000, "flash.retention_hours": 1}
    drive = dl.Drive(NAME, on, scale="1/64").prepare("filled", progress=False)
    job = dl.Job(rw="randread", bs="4k", io_size="8m")
    shelved = drive.age("365d")
    assert shelved.now_s == drive.now_s
    assert shelved.history[-1] == {"age_ns": 365 * 86_400 * 10**9}
    fresh, old = (each.run(job, keep=True, progress=False) for each in (drive, shelved))
    assert fresh.drive.counters["read_errors"] == 0 < old.drive.counters["read_errors"]
    copy = pickle.loads(pickle.dumps(shelved))
    assert copy.run(job, keep=True, progress=False).drive.counters == old.drive.counters
    with pytest.raises(dl.RequestError, match="a hundred years"):
        drive.age("40000d")
    for name, switch in [(NAME, "flash"), ("intel-x25-v-40gb-raid0-x2", "member.flash")]:
        with pytest.raises(dl.RequestError, match=rf"no effect.*{switch}.bit_errors = true"):
            dl.Drive(name, scale="1/64").age("365d")
    with pytest.raises(
        dl.RequestError, match=r"no effect on wd-.*: only bits of page maps go wrong"
    ):
        dl.Drive("wd-velociraptor-300gb").age("365d")
    with pytest.raises(dl.RequestError, match="scale = '1/64' beside scale_divisor = 3: give one"):
        dl.Drive(NAME, {"scale_divisor": 3}, scale="1/64")
    with pytest.raises(dl.RequestError, match=r"scale_divisor = 60000 \(--scale 1/60000\)"):
        dl.Drive(NAME, scale="1/60000")


def test_jobs_of_one_name_are_told_apart(used: dl.Drive) -> None:
    found = used.run(WRITES, WRITES, progress=False)
    assert found.summary["job"].to_list() == ["w", "w #2"]
    assert len(found.plot.parts().rows()) == 10


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy as np

    assert dl.Drive(NAME, seed=np.int64(3)).key == dl.Drive(NAME, seed=3).key


def test_what_must_be_known_is_said(used: dl.Drive) -> None:
    found = dl.Drive(NAME, scale="1/64").run(dl.Job(rw="randread", io_size="1m"), progress=False)
    assert any("not mapped" in note for note in found.notes)
    assert any(note.startswith("at this scale: ") for note in found.notes)
    assert "note: " in repr(found)
    assert used.model.title == "Intel X25-M G1 80 GB (1/64)"
    assert used.model.identity["price_usd_per_gib_user"] is None


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: dl.test(grup="mine"), 'test(): grup= is unknown; did you mean "group"? There are'),
        (lambda: dl.state(aftr="used"), 'state(): aftr= is unknown; did you mean "after"?'),
        (lambda: dl.Drive(NAME, scal="1/64"), 'Drive(): scal= is unknown; did you mean "scale"?'),
        (
            lambda: dl.sweep(dl.Drive(NAME), stat="used"),
            'sweep(): stat= is unknown; did you mean "',
        ),
        (lambda: dl.Drive(NAME).run(WRITES, kep=True), "Drive.run(): kep= is unknown; did you"),
        (lambda: dl.Drive(NAME).measure("atto", quik=True), 'did you mean "quick"?'),
        (lambda: dl.Job(rw="read", iodpth=4), '"iodpth" is not supported; did you mean "iodepth"?'),
    ],
)
def test_a_keyword_that_there_is_not_is_refused_as_an_option_is(wrong: Any, told: str) -> None:
    with pytest.raises(dl.RequestError) as caught:
        wrong()
    assert told in str(caught.value)


def test_whatever_is_called_in_a_script_refuses_unknown_keywords() -> None:
    """A slip in any of them is told by name, with what was meant."""
    made = [dl.Drive, dl.Job, dl.Steady, dl.Trace]
    done = [dl.compare, dl.load, dl.samples, dl.state, dl.sweep, dl.test, dl.vary, dl.vary_figure]
    drive = dl.Drive(NAME)
    own = [drive.prepare, drive.run, drive.steps, drive.open, drive.measure]
    for call in (*made, *done, *own):
        with pytest.raises(dl.RequestError, match="seeed"):
            call(seeed=1)


def test_who_draws_the_places_of_an_earlier_job_is_told() -> None:
    drive = dl.Drive("intel-x25-m-g2-80gb", scale="1/64")
    writes = dl.Job(rw="randwrite", bs="4k", io_size="4m")
    after = drive.run(writes, keep=True, progress=False).drive
    said = 'job "job": its random numbers are those of an earlier job'
    for job, expected in (
        (dl.Job(rw="randread", bs="4k", io_size="1m"), True),
        (dl.Job(rw="randread", bs="4k", io_size="1m", name="reads"), False),
        (dl.Job(rw="randread", bs="4k", io_size="1m", randseed=2), False),
        (dl.Job(rw="read", bs="4k", io_size="1m"), False),
    ):
        notes = after.run(job, progress=False).notes
        assert any(note.startswith(said) for note in notes) is expected
    same = after.run(dl.Job(rw="randread", bs="4k", io_size="4m"), progress=False)
    assert same.totals["unmapped_read_share"] == 0.0, "it reads what was written"


def test_reads_that_failed_stand_beside_their_rates() -> None:
    settings = {"flash.bit_errors": True, "flash.initial_cycles": 12_000}
    worn = dl.Drive("samsung-980-pro-1tb", settings, scale="1/64").prepare("filled")
    result = worn.run(dl.Job(rw="randread", bs="4k", io_size="1m"), progress=False)
    assert result.totals["read_errors"] > 0
    job = dl.Job(rw="randread", bs="4k", io_size="1m")
    study = dl.sweep(worn, {"job.iodepth": [1]}, job=job, progress=False)
    assert study.frame()["read_errors"].to_list() == [result.totals["read_errors"]]
