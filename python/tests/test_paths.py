"""Names that no file can have are refused by what they were given for, never by a system call."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small import MODEL_NAME, OVERRIDES, SETS

import drivelab as dl
from drivelab import cli, model, paths

LONG = "x" * 256
JOB = dl.Job(rw="randread", bs="4k", io_size="1m")
DRIVE = dl.Drive(MODEL_NAME, dict(OVERRIDES))


def run(**words: Any) -> dl.Result:
    return DRIVE.run(JOB, progress=False, **words)


PLACES: dict[str, tuple[str, Callable[[str], object]]] = {
    "model": (".toml", dl.Drive),
    "snapshot": ("", dl.load),
    "save()": (".snapshot", DRIVE.save),
    "log": (".parquet", lambda name: run(log=name)),
    "results": (".json", dl.read),
    "trace": ("", dl.Trace),
    "store": (
        "",
        lambda name: dl.sweep(DRIVE, {"job.iodepth": [1]}, job=JOB, store=name, progress=False),
    ),
}


def test_no_name_is_none_of_a_folder() -> None:
    with pytest.raises(dl.RequestError, match=r'^model "": allowed: the name of a file$'):
        model.load("")


@pytest.mark.parametrize("place", PLACES)
def test_scripts_are_told_which_name_no_file_can_have(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ending, use = PLACES[place]
    for name, told in (
        (LONG + ending, f"a name of {256 + len(ending)} bytes; allowed: 255 for each"),
        (f"{LONG}/a{ending}", "a name of 256 bytes; allowed: 255 for each file and folder"),
        (f"a\0b{ending}", f'{place} "a\\0b{ending}": allowed: names without a NUL character'),
        (f"a\ud800b{ending}", f'{place} "a\\ud800b{ending}": allowed: names without half a'),
    ):
        with pytest.raises(dl.RequestError) as caught:
            use(name)
        assert str(caught.value).startswith(place)
        assert told in str(caught.value)
        assert len(str(caught.value)) < 200
    assert not list(tmp_path.iterdir())


def test_charts_and_tables_are_refused_alike(tmp_path: Path) -> None:
    result = run()
    for ending in (".png", ".json"):
        with pytest.raises(dl.RequestError, match=r'save\(\) ".*": a name of'):
            result.plot.latency().save(tmp_path / (LONG + ending))
        with pytest.raises(dl.RequestError, match="NUL"):
            result.plot.latency().save(f"a\0b{ending}")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["show", LONG], 'model "xxx'),
        (["review", MODEL_NAME, *SETS, "--out", LONG], '--out "xxx'),
        (["review", MODEL_NAME, *SETS, "--plugin", LONG + ".py"], '--plugin "xxx'),
        (["review", MODEL_NAME, *SETS, "--database", LONG + ".duckdb"], '--database "xxx'),
        (["compare", LONG + ".json", LONG + ".json"], 'results "xxx'),
        (["run", "job.fio", "--drive", MODEL_NAME, "--request-log", LONG + ".parquet"], '-log "x'),
        (["run", "job.fio", "--drive", f"fio:{LONG}", "--size", "1m"], 'MODEL "xxx'),
        (["run", "logs.fio", "--drive", MODEL_NAME], 'job "j": log "xxx'),
        (["run", "nul.fio", "--drive", MODEL_NAME], 'job "j": log "a\\0b'),
        (["sweep", "sweep.toml", "--store", LONG], 'drivelab: --store "xxx'),
        (["convert", "trace.csv", "--out", LONG], '--out "xxx'),
        (["runs", LONG + ".duckdb"], 'results "xxx'),
        (["create", LONG, "--model", MODEL_NAME], 'IMAGE "xxx'),
        (["smart", LONG], 'IMAGE "xxx'),
        (["check", LONG], 'IMAGE "xxx'),
        (["fault", LONG, "power-cut", "at_operation=1"], 'IMAGE "xxx'),
    ],
)
def test_commands_refuse_them_in_one_line_before_any_work(
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.fio").write_text("[j]\nrw=read\nsize=1m\n")
    Path("logs.fio").write_text(f"[j]\nrw=read\nsize=1m\nwrite_lat_log={LONG}\n")
    Path("nul.fio").write_text("[j]\nrw=read\nsize=1m\nwrite_lat_log=a\0b\n")
    Path("trace.csv").write_text("1,h,0,Write,4096,4096,5\n")
    Path("sweep.toml").write_text(
        f'drive = "{MODEL_NAME}"\nscale = "1/64"\n[job]\nrw = "read"\nsize = "1m"\n'
        '[grid]\n"job.iodepth" = [1]\n'
    )
    there = sorted(tmp_path.iterdir())
    assert cli.run(words) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert told in said
    assert len(said) < 200
    assert sorted(tmp_path.iterdir()) == there


def test_bytes_count_not_letters() -> None:
    assert paths.checked("x", "ä" * 127) == Path("ä" * 127)
    with pytest.raises(dl.RequestError, match="a name of 256 bytes"):
        paths.checked("x", "ä" * 128)
    with pytest.raises(dl.RequestError, match="a path of 4100 bytes; allowed: 4095"):
        paths.checked("x", "abcd/" * 820)


def test_a_damaged_request_log_is_told_as_that(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    for damage in (lambda data: data[:-9], lambda data: b"x" * len(data), lambda data: b""):
        path.unlink(missing_ok=True)
        result = run(log=path)
        before = path.stat()
        data = damage(path.read_bytes())
        # In place, as a disk does it: what is written anew is told by its time.
        with path.open("r+b") as file:
            file.truncate()
            file.seek(0)
            file.write(data)
            file.truncate()
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        with pytest.raises(dl.RequestError, match=r"log\.parquet.: can't be read as the run has"):
            _ = result.requests
