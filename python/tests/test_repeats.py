"""Repeats with other seeds, from the command line to findings."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from statistics import fmean
from typing import Any

import documents
import duckdb
import pytest
from small import MODEL_NAME, SETS

from drivelab import cli, repeats
from drivelab.comparison import Source, compare
from drivelab.quantities import repeat_seeds
from drivelab.report.findings import findings
from drivelab.report.quantities import NBSP
from drivelab.report.reading import read

RANDOM = "random-write-4k-qd3-aligned"
WORDS = [MODEL_NAME, *SETS, "--tests", f"{RANDOM},spare-area", "--states", "new,used", "--quick"]
COUNT = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("repeated") / "out"
    assert cli.run(["review", *WORDS, "--repeat", str(COUNT), "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def document(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return found


def test_a_number_is_the_mean_of_reviews_with_those_seeds(
    document: dict[str, Any], tmp_path: Path
) -> None:
    seeds = document["drivelab"]["repeats"]["seeds"]
    assert seeds[0] == 1
    assert len(set(seeds)) == COUNT
    assert f"--repeat {COUNT}" in document["drivelab"]["command_line"]
    alone = []
    for seed in seeds:
        out = tmp_path / str(seed)
        assert cli.run(["review", *WORDS, "--seed", str(seed), "--out", str(out)]) == 0
        alone.append(json.loads((out / "results.json").read_text(encoding="utf-8"))["tests"])
    for index, test in enumerate(document["tests"]):
        parts = [tests[index] for tests in alone]
        if test["kind"] == "stream":
            rates = [part["mib_per_s"] for part in parts]
            assert test["repeats"]["mib_per_s"]["values"] == rates
            assert test["mib_per_s"] == pytest.approx(fmean(rates))
            # What belongs to one run is that of the first.
            assert test["series"] == parts[0]["series"]
            split = sum(test["split_mean_us"].values())
            assert split == pytest.approx(test["latency_us"]["mean"])
        for value in test["values"]:
            known = [
                next(v["value"] for v in part["values"] if v["name"] == value["name"])
                for part in parts
            ]
            assert test["repeats"][f"value:{value['name']}"]["values"] == known
            assert value["value"] == pytest.approx(fmean(known))


def test_the_interval_is_in_the_report_and_in_the_database(
    folder: Path, document: dict[str, Any]
) -> None:
    used = next(t for t in document["tests"] if (t["id"], t["state"]) == (RANDOM, "used"))
    found = used["repeats"]["mib_per_s"]
    assert found["low"] < found["mean"] < found["high"]
    html = (folder / "report.html").read_text(encoding="utf-8").replace(NBSP, " ")
    assert f"{used['mib_per_s']:.1f} ± " in html
    assert f"Numbers are means of {COUNT} repeats" in html
    with duckdb.connect(str(folder / "results.duckdb"), read_only=True) as base:
        rows = base.sql(
            "SELECT seed, value FROM repeats WHERE test = 'random-write-4k-qd3-aligned' "
            "AND state = 'used' AND number = 'mib_per_s' ORDER BY repeat_index"
        ).fetchall()
        ends = base.sql(
            "SELECT low, high FROM intervals WHERE test = 'random-write-4k-qd3-aligned' "
            "AND state = 'used' AND number = 'mib_per_s'"
        ).fetchall()
    seeds = document["drivelab"]["repeats"]["seeds"]
    assert rows == list(zip(seeds, found["values"], strict=True))
    assert ends == [(found["low"], found["high"])]


def test_one_repeat_is_the_review_without_them(tmp_path: Path) -> None:
    words = [MODEL_NAME, *SETS, "--tests", RANDOM, "--states", "new", "--quick"]
    pages = []
    for extra in ([], ["--repeat", "1"]):
        out = tmp_path / str(len(pages))
        assert cli.run(["review", *words, *extra, "--out", str(out)]) == 0
        found = json.loads((out / "results.json").read_text(encoding="utf-8"))
        for part in (found, *found["tests"], *found["states"]):
            part.pop("wall_s")
        pages.append(found)
    assert pages[0] == pages[1]
    assert "repeats" not in pages[0]["tests"][0]


def scattered(name: str, *rates: float) -> documents.Record:
    """A review whose one test was repeated with these results."""
    parts = [
        documents.review(documents.stream(name, "used", rate=rate)) | {"wall_s": 1.0, "figures": []}
        for rate in rates
    ]
    return repeats.merged(parts, repeat_seeds(1, len(rates)))


def said(*sides: documents.Record) -> list[str]:
    sources = [Source(str(index), side) for index, side in enumerate(sides)]
    return [item.sentence.replace(NBSP, " ") for item in compare(sources, "x").findings]


def test_a_difference_of_two_drives_within_the_interval_is_none() -> None:
    wide = scattered("a", 20.0, 25.0, 30.0)
    assert said(wide, scattered("b", 22.0, 29.0, 33.0)) == [
        "No test tells them apart by more than 2 %."
    ]
    assert any(
        "faster than Drive A" in line for line in said(wide, scattered("b", 36.0, 37.0, 38.0))
    )
    # As large a difference without repeats is a difference.
    alone = [
        documents.review(documents.stream(n, "used", rate=r)) for n, r in (("a", 25), ("b", 28))
    ]
    assert any("12 % faster than Drive A" in line for line in said(*alone))


def test_a_change_with_use_within_the_interval_is_none() -> None:
    def review(*used: float) -> dict[str, Any]:
        parts = []
        for rate in used:
            tests = [
                documents.stream("a", "new", rate=30.0),
                documents.stream("a", "used", rate=rate),
            ]
            parts.append(documents.review(*tests) | {"wall_s": 1.0, "figures": []})
        return repeats.merged(parts, repeat_seeds(1, len(used)))

    [first, *_] = findings(read(review(20.0, 27.0, 35.0)))
    assert first.figure == "none"
    assert "no differently, within the interval of the repeats, than new" in first.sentence
    [first, *_] = findings(read(review(20.0, 20.5, 21.0)))
    assert "32 % slower than new" in first.sentence.replace(NBSP, " ")
    assert "20.5 ± 1.2 MiB/s" in first.detail.replace(NBSP, " ")


def test_a_number_that_a_repeat_has_not_got_has_no_mean() -> None:
    parts = [
        documents.review(documents.compound("a")) | {"wall_s": 1.0, "figures": []} for _ in range(2)
    ]
    parts = copy.deepcopy(parts)
    parts[1]["tests"][0]["values"][0]["value"] = None
    found = repeats.merged(parts, repeat_seeds(1, 2))["tests"][0]
    assert found["values"][0]["value"] is None
    assert "value:write" not in found["repeats"]
    assert found["notes"][-1:] == ["Largest write: no mean, 1 of 2 repeats have it (20)"]
    # Nor if it is the first one that lacks it.
    found = repeats.merged(parts[::-1], repeat_seeds(1, 2))["tests"][0]
    assert found["values"][0]["value"] is None
    assert found["notes"][-1:] == ["Largest write: no mean, 1 of 2 repeats have it (20)"]


def test_clones_of_a_job_have_each_their_own_means(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job, lab = tmp_path / "j.fio", tmp_path / "lab.duckdb"
    job.write_text(
        "[j]\nrw=randwrite\nbs=4k\nsize=20m\nnumjobs=2\n[j]\nrw=randread\nbs=64k\nsize=9m\n",
        encoding="utf-8",
    )
    words = ["run", str(job), "--drive", MODEL_NAME, *SETS, "--state", "used"]
    words += ["--database", str(lab), "--repeat", "2"]
    assert cli.run([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = [
        (row["index"], row["direction"], row["numbers"]["iops"])
        for row in document["drivelab"]["repeats"]["jobs"]
    ]
    assert [item[:2] for item in found] == [(0, "write"), (1, "write"), (2, "read")]
    for index, direction, numbers in found:
        assert numbers["values"][0] == document["jobs"][index][direction]["iops"]
    means = [numbers["mean"] for _, _, numbers in found]
    assert len(set(means)) == 3

    assert cli.run(words) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    shown = [line for line in lines if line[:1] == ["j"]]
    assert len(shown) == 3
    for line, mean in zip(shown, means, strict=True):
        assert any(word.replace(",", "") == f"{mean:.0f}" for word in line), (line, mean)

    with duckdb.connect(str(lab), read_only=True) as base:
        stored = base.sql(
            "SELECT job, direction, mean FROM intervals WHERE number = 'iops' AND run_id = 1 "
            "ORDER BY job"
        ).fetchall()
    named = list(zip(("j", "j #2", "j #3"), ("write", "write", "read"), means, strict=True))
    assert stored == named

    words = ["compare", f"{lab}:1", f"{lab}:2", "--out", str(tmp_path / "out"), "--json"]
    assert cli.run(words) == 0
    tests = json.loads(capsys.readouterr().out)["tests"]
    compared = {
        test["id"]: metric["values"]
        for test in tests
        for metric in test["metrics"]
        if metric["name"] == "iops"
    }
    assert compared == {f"run {test} {way}": [mean, mean] for test, way, mean in named}


def test_a_job_file_is_repeated_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job, lab = tmp_path / "j.fio", tmp_path / "lab.duckdb"
    job.write_text("[j]\nrw=randwrite\nbs=4k\niodepth=8\nsize=300m\n", encoding="utf-8")
    common = ["run", str(job), "--drive", MODEL_NAME, *SETS, "--state", "used"]
    assert cli.run([*common, "--repeat", "3", "--json", "--database", str(lab)]) == 0
    own = json.loads(capsys.readouterr().out)["drivelab"]
    [row] = own["repeats"]["jobs"]
    assert (row["job"], row["direction"]) == ("j", "write")
    values = row["numbers"]["iops"]["values"]
    assert len(set(values)) == 3
    second = str(own["repeats"]["seeds"][1])
    assert cli.run([*common, "--seed", second, "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert alone["jobs"][0]["write"]["iops"] == values[1]
    assert cli.run([*common, "--repeat", "2"]) == 0
    assert " ± " in capsys.readouterr().out
    slower = ["--set", "flash.program_ns=1800000", "--repeat", "3", "--database", str(lab)]
    assert cli.run([*common, *slower]) == 0
    capsys.readouterr()
    words = ["compare", f"{lab}:1", f"{lab}:2", "--out", str(tmp_path / "out"), "--json"]
    assert cli.run(words) == 0
    [test] = json.loads(capsys.readouterr().out)["tests"]
    metric = next(item for item in test["metrics"] if item["name"] == "iops")
    assert metric["repeats"][0] == values
    assert metric["differs"] == [False, True]
