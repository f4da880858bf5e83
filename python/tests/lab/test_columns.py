from __future__ import annotations

import re
from pathlib import Path

import polars as pl

import drivelab as dl

PAGE = Path(__file__).parents[3] / "docs" / "columns.md"


def told() -> dict[str, list[str]]:
    """The columns of every table of the page, by its heading."""
    found = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        cells = re.findall(r"^\| (`.*?) \| ", text, flags=re.MULTILINE)
        found[heading] = re.findall(r"`([a-z0-9_]+)`( \.\.\. `[a-z]+`)?", " ".join(cells))
    return {
        heading: [name + ("..." if rest else "") for name, rest in names]
        for heading, names in found.items()
    }


def test_the_page_tells_of_every_column_in_order(tmp_path: Path) -> None:
    drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128").prepare("filled")
    job = dl.Job(rw="randrw", bs="4k", io_size="4m")
    result = drive.run(job, log=True, keep=True, timeline=True)
    trace = tmp_path / "a.csv"
    trace.write_text("0,host,0,Write,4096,4096,1000\n10000,host,0,Read,0,4096,1000\n")
    rounds = drive.run(dl.Trace(trace, repeat=2)).rounds
    study = dl.sweep(drive, {"job.iodepth": [1, 2]}, job=job, workers=1, progress=False)
    small = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
    varied = dl.vary(small, job, keys=["flash.program_ns"], workers=1)
    figure = dl.vary_figure(small, "AN-149", keys=["flash.program_ns"], quick=True, workers=1)
    inside = result.drive.inside()
    frames: dict[str, pl.DataFrame] = {
        **{
            f"result.{name}": getattr(result, name)
            for name in ("summary", "latency", "series", "parts", "tails", "requests")
        },
        "result.rounds": rounds,
        "result.timeline.operations": result.timeline.operations,
        "drive.inside().blocks": inside.blocks,
        "drive.inside().dies": inside.dies,
        "drive.datasheet().limits": drive.datasheet().limits,
        "drive.datasheet().parameters": drive.datasheet().parameters,
        "study.sensitivity()": study.sensitivity(),
        "dl.compare(...).frame()": dl.compare(result, result, force=True).frame(),
        "dl.vary(...).effects()": varied.effects("iops"),
        "dl.vary_figure(...).frame()": figure.frame(),
        "dl.models()": dl.models(),
    }
    page = told()
    first = page.pop("dl.vary(...).frame()")
    assert first == [*varied.frame().columns[: len(first) - 1], "direction..."]
    frame = study.frame()
    assert page.pop("study.frame()") == [
        *(name for name in frame.columns if name in ("direction", "repeat", "seed")),
        *("model", "state", "ios..."),
        *("duration_s", "unmapped_read_share", "energy_j", "read_errors", "refused_commands"),
    ]
    assert set(frame.columns) - {"job.iodepth", *result.summary.columns} == {
        *("repeat", "seed", "model", "state"),
        *("duration_s", "unmapped_read_share", "energy_j", "read_errors", "refused_commands"),
    }
    assert page == {heading: table.columns for heading, table in frames.items()}
