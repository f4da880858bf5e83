"""`--span`: nothing that is measured reaches beyond the first bytes of a drive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import documents
import duckdb
import polars as pl
import pytest
from small import MODEL_NAME, SETS

import drivelab as dl
from drivelab import cli, model, report
from drivelab.comparison import Source, compare, planning
from drivelab.quantities import MIB, SECTOR_BYTES
from drivelab.report.quantities import NBSP
from drivelab.targets import EngineTarget

SPAN = 128 * MIB
TESTS = (
    *("atto", "kdiskmark", "alignment", "resiliency-table", "iometer-database"),
    *("pts-write-saturation", "hdtach-write", "random-write-4k-qd3-sector", "as-ssd-read"),
)


@pytest.fixture
def reach(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Ends of all regions that the engine's drives are asked for, told at their own door."""
    found: list[int] = []
    run, replay = EngineTarget.run, EngineTarget.run_requests

    def asked(self: EngineTarget, jobs: Any, *rest: Any) -> Any:
        for job in jobs:
            span = self.capacity_bytes if job.span_bytes is None else job.span_bytes
            found.append(job.offset_bytes + span)
        return run(self, jobs, *rest)

    def replayed(self: EngineTarget, job: Any, requests: Any, *rest: Any) -> Any:
        ends = requests.lba.astype(int) + requests.sector_count
        found.append(int(ends.max(initial=0)) * SECTOR_BYTES)
        return replay(self, job, requests, *rest)

    monkeypatch.setattr(EngineTarget, "run", asked)
    monkeypatch.setattr(EngineTarget, "run_requests", replayed)
    return found


@pytest.mark.parametrize("test", TESTS)
def test_a_test_keeps_to_its_span(test: str, reach: list[int]) -> None:
    changed = dict(zip(SETS[1::2], SETS[1::2], strict=True))
    drive = dl.Drive(MODEL_NAME, dict(text.split("=") for text in changed))
    drive.measure(test, quick=True, span=SPAN, progress=False)
    assert 0 < max(reach) <= SPAN
    reach.clear()
    drive.measure(test, quick=True, span="256m", progress=False)
    assert max(reach) <= 2 * SPAN


def test_a_job_and_a_trace_keep_to_their_span(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "j.fio").write_text("[j]\nrw=randwrite\nbs=4k\nio_size=50%\n", encoding="utf-8")
    (tmp_path / "t.trace").write_text("0 0 0 8 0\n1000 0 1500000 8 1\n", encoding="utf-8")
    log = tmp_path / "log.parquet"
    drive = ["--drive", MODEL_NAME, *SETS, "--span", "128m", "--json", "--request-log", str(log)]
    assert cli.run(["run", str(tmp_path / "j.fio"), *drive]) == 0
    own = json.loads(capsys.readouterr().out)["drivelab"]
    assert own["span_bytes"] == SPAN
    assert "--span 128m" in own["command_line"]
    requests = pl.read_parquet(log)
    assert requests["length_bytes"].sum() == SPAN // 2, "a percentage is of what is used"
    ends = requests["offset_bytes"] + requests["length_bytes"]
    assert 0.9 * SPAN < ends.max() <= SPAN
    words = ["replay", str(tmp_path / "t.trace"), "--format", "mqsim", *drive]
    assert cli.run(words) == 2
    assert f"leaves the drive of {SPAN // SECTOR_BYTES} sectors" in capsys.readouterr().err
    assert cli.run([*words, "--out-of-range", "modulo"]) == 0
    assert json.loads(capsys.readouterr().out)["drivelab"]["span_bytes"] == SPAN
    assert pl.read_parquet(log)["offset_bytes"].max() < SPAN


def test_a_review_says_its_span_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["review", MODEL_NAME, *SETS, "--quick", "--states", "used", "--out", str(out)]
    tests = "random-write-4k-qd3-sector,hdtach-write"
    assert cli.run([*words, "--span", "128m", "--tests", tests, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["drivelab"]["span_bytes"] == SPAN
    assert {test["id"]: test["span_bytes"] for test in document["tests"]} == {
        "random-write-4k-qd3-sector": SPAN,
        "hdtach-write": SPAN,
    }
    # What was published is of whole drives.
    assert document["figures"] == []
    # The state is that of the whole drive, as without a span.
    [state] = document["states"]
    assert state["host_write_bytes"] > 800e6
    html = (out / "report.html").read_text(encoding="utf-8").replace(NBSP, " ")
    assert "first 128 MiB of each drive" in html
    with duckdb.connect(str(out / "results.duckdb"), read_only=True) as found:
        assert found.execute("SELECT span_bytes FROM runs").fetchall() == [(SPAN,)]
    # Repeated by its own command line, a span is a part of it.
    assert "--span 128m" in document["drivelab"]["command_line"]


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ("2q", '--span "2q": expected'),
        ("", '--span "": expected'),
        ("0", '--span "0": allowed: multiples of 512 bytes from 512 on, e.g. 2g'),
        ("1000", '--span "1000": allowed: multiples of 512'),
        ("-1m", '--span "-1m": expected'),
        ("2g", f"--span 2147483648: {MODEL_NAME} has 999997440 bytes (1000.0 MB); allowed: up to"),
        ("8m", "--span 8388608: too small for a review; allowed: from 16777216 bytes on"),
    ],
)
def test_a_span_that_cannot_be_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], span: str, words: str
) -> None:
    out = tmp_path / "out"
    assert cli.run(["review", MODEL_NAME, *SETS, "--span", span, "--out", str(out)]) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert not out.exists()


def test_a_span_is_spelt_right_and_studies_have_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["review", MODEL_NAME, "--spam", "2g"]) == 2
    assert "--span" in capsys.readouterr().err
    assert cli.run(["review", MODEL_NAME, "--span", "2g", "--tests", "fill-level"]) == 2
    assert '"fill-level": fills the whole drive' in capsys.readouterr().err
    with pytest.raises(dl.RequestError, match=r"span = 1\.5: allowed: multiples of 512"):
        dl.Drive(MODEL_NAME).measure("atto", span=1.5)  # type: ignore[arg-type]


def test_unlike_spans_are_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    review = documents.review(
        documents.stream("a", span_bytes=8 * 2**30), documents.stream("b", span_bytes=2**30)
    )
    with pytest.raises(dl.RequestError, match=r"[Ss]pans differ"):
        compare([Source("review", review)], "drivelab compare review")
    (tmp_path / "j.fio").write_text("[j]\nrw=randwrite\nbs=4k\nio_size=1m\n", encoding="utf-8")
    base = tmp_path / "lab.duckdb"
    common = ["run", str(tmp_path / "j.fio"), "--drive", MODEL_NAME, *SETS, "--database", str(base)]
    assert cli.run(common) == 0
    assert cli.run([*common, "--span", "128m"]) == 0
    capsys.readouterr()
    words = ["compare", f"{base}:1", f"{base}:2", "--out", str(tmp_path / "out")]
    assert cli.run(words) == 2
    assert "span_bytes=134217728" in capsys.readouterr().err


@pytest.mark.programs("fio")
def test_a_file_is_untouched_beyond_the_span(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a file system says of the file's blocks is dumber than anything that drivelab says."""
    path = tmp_path / "drive"
    path.touch()
    words = ["review", f"fio:{path}", "--size", "256m", "--span", "16m", "--buffered", "--quick"]
    words += ["--states", "new", "--out", str(tmp_path / "o")]
    # It needs 64 MiB.
    assert cli.run([*words, "--tests", "kdiskmark"]) == 2
    assert "larger than the span (16777216 bytes)" in capsys.readouterr().err
    assert cli.run([*words, "--tests", "as-ssd-write", "--plan"]) == 0
    assert "--span: tests keep to the first 16.8 MB" in capsys.readouterr().out
    assert cli.run([*words, "--tests", "as-ssd-write,hdtach-write"]) == 0
    assert path.stat().st_size == 256 * MIB
    assert 0 < path.stat().st_blocks * 512 <= 16 * MIB + 2**16


def test_a_report_without_a_span_says_nothing_of_it() -> None:
    html = report.render(documents.review(documents.stream("a", "new")))
    assert "--span" not in html


def test_what_a_span_leaves_out_is_left_out_for_the_reason_that_holds() -> None:
    said: list[str] = []
    drive = model.load("intel-x25-m-g1-80gb")
    names = [(test, "new") for test in ("fill-level", "kdiskmark", "as-ssd-write")]
    found = planning.same_measurements(drive, names, said.append, span_bytes=16 * MIB)
    assert [item.procedure.id for item in found] == ["as-ssd-write"]
    assert said == [
        f"{drive.name}: left out, as they fill the whole drive, which --span bounds: fill-level",
        f"{drive.name}: left out, as they use more than the span: kdiskmark",
    ]
    small = dl.Drive(MODEL_NAME)
    with pytest.raises(dl.RequestError, match="what it uses is larger than the span \\(16777216"):
        small.measure("kdiskmark", span="16m", progress=False)
