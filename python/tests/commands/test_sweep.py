from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from drivelab import cli
from drivelab.errors import RequestError
from drivelab.lab import sweep_file
from drivelab.lab.workers import Worker

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "policies.toml"
SMALL = """
drive = "intel-x25-m-g1-80gb"
scale = "1/128"
state = "filled"
[set]
flash.pages_per_block = 128
[job]
rw = "randwrite"
bs = "4k"
io_size = "4m"
[grid]
job.iodepth = [1, 32]
"""


def test_a_file_is_measured_printed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, csv = tmp_path / "s.toml", tmp_path / "s.csv"
    file.write_text(SMALL, encoding="utf-8")
    words = ["sweep", str(file), "--store", str(tmp_path / "study"), "--csv", str(csv)]
    assert cli.run(words) == 0
    told = capsys.readouterr().out
    assert "job.iodepth" in told
    assert told.count("write ") == 2
    assert cli.run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["varied"] == ["job.iodepth"]
    assert [point["job.iodepth"] for point in found["points"]] == [1, 32]
    table = pl.read_csv(csv)
    assert table["iops"].to_list() == [point["iops"] for point in found["points"]]


def test_a_byte_order_mark_is_no_part_of_a_sweep(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SMALL, encoding="utf-8-sig")
    assert sweep_file.read(file).grid == {"job.iodepth": [1, 32]}


OWN = """
import drivelab as dl

@dl.state(order=7)
def scattered(bench):
    '''Writes a little at random.'''
    bench.run(dl.Job(rw="randwrite", bs="4k", iodepth=8, io_size="8m"))
"""


@pytest.mark.parametrize("where", ["state", "grid", "points"])
def test_states_of_one_s_own_come_by_plugin(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin, file = tmp_path / "own.py", tmp_path / "s.toml"
    plugin.write_text(OWN, encoding="utf-8")
    given = {
        "state": SMALL.replace('"filled"', '"scattered"'),
        "grid": SMALL.replace('state = "filled"\n', "") + 'state = ["new", "scattered"]\n',
        "points": SMALL.replace('state = "filled"\n', "").split("[grid]")[0]
        + '[[points]]\nstate = "new"\n[[points]]\nstate = "scattered"\n',
    }
    file.write_text(given[where], encoding="utf-8")
    assert cli.run(["sweep", str(file), "--plugin", str(plugin), "--json"]) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    assert {point["state"] for point in points} == (
        {"scattered"} if where == "state" else {"new", "scattered"}
    )
    assert cli.run(["sweep", str(file)]) == 2
    assert 'state "scattered" is unknown' in capsys.readouterr().err
    file.write_text(given[where].replace("scattered", "scatered"), encoding="utf-8")
    assert cli.run(["sweep", str(file), "--plugin", str(plugin)]) == 2
    assert 'state "scatered" is unknown; did you mean "scattered"?' in capsys.readouterr().err


def test_the_example_is_a_sweep() -> None:
    from drivelab.lab import sweep_file
    from drivelab.lab.axes import varied

    wanted = sweep_file.read(EXAMPLE)
    assert len(varied(wanted.grid, wanted.points).combinations) == 4


def test_samples_and_values_that_go_together(tmp_path: Path) -> None:
    import drivelab as dl
    from drivelab.lab.axes import varied

    file = tmp_path / "s.toml"
    drawn = "[samples]\ncount = 4\nseed = 9\n[samples.ranges]\nspare_ratio = [0.07, 0.5]\n"
    together = '"job.size, job.offset" = [["1m", 0], ["2m", "4m"]]\n'
    file.write_text(SMALL + together + drawn, encoding="utf-8")
    wanted = sweep_file.read(file)
    assert wanted.points == dl.samples({"spare_ratio": (0.07, 0.5)}, 4, seed=9)
    assert len(varied(wanted.grid, wanted.points).combinations) == 4 * 2 * 2
    file.write_text(SMALL + "[[points]]\nspare_ratio = 0.1\n[[points]]\nspare_ratio = 0.2\n")
    assert sweep_file.read(file).points == [{"spare_ratio": 0.1}, {"spare_ratio": 0.2}]


def test_notes_are_said_whatever_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SMALL, encoding="utf-8")
    for more in ([], ["--json"]):
        assert cli.run(["sweep", str(file), *more]) == 0
        out, err = capsys.readouterr()
        assert "at this scale: spare area of a die" in err
    assert json.loads(out)["notes"][0] in err


def test_of_several_models_none_is_named_for_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who reads the JSON took every point for one of the drive that the file begins with."""
    file, names = tmp_path / "s.toml", ["intel-x25-m-g1-80gb", "intel-x25-m-g2-80gb"]
    text = SMALL.replace("job.iodepth = [1, 32]", f"model = {names}")
    file.write_text(text.replace("flash.pages_per_block = 128", ""), encoding="utf-8")
    assert cli.run(["sweep", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["model"] is None
    assert [point["model"] for point in found["points"]] == names
    file.write_text(SMALL, encoding="utf-8")
    assert cli.run(["sweep", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == names[0]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("drive =", "drvie =", 'key "drvie" is unknown; did you mean "drive"'),
        ("[job]", "[jobs]", 'did you mean "job"'),
        ("[job]", "[trace]\n[job]", '"job" and "trace": one of them is allowed'),
        (
            '[job]\nrw = "randwrite"\nbs = "4k"\nio_size = "4m"\n',
            "",
            "give a drivelab.Job",
        ),
        ("[grid]", "[grid]\ntrace = ['x']", "there is a job beside it; one of them"),
        ("[grid]", "[set2]", 'key "set2" is unknown'),
        ("job.iodepth = [1, 32]", "job.iodepth = 1", "allowed: a list of values"),
        ("job.iodepth = [1, 32]", "job.deth = [1]", 'job option "deth" is not supported'),
        ('io_size = "4m"', 'io_sizee = "4m"', 'did you mean "io_size"'),
        ('state = "filled"', 'state = "fild"', 'did you mean "filled"'),
        ('scale = "1/128"', "scale = 128", "scale = 128: expected a text 1/N"),
        ('scale = "1/128"', "seed = -1", "seed = -1: allowed"),
        ('scale = "1/128"', "repeats = 0", "repeats = 0: allowed"),
        ("pages_per_block", "pages_per_blok", "did you mean flash.pages_per_block"),
        ("[set]", "[set", "no TOML"),
        ('state = "filled"', "state = filled", "(at line 4, column 9): state = filled"),
        ("job.iodepth = [1, 32]", "job.iodepth = []", "job.iodepth: the list of values is empty"),
        (
            "job.iodepth = [1, 32]",
            "flash.channel_count = [0, 10]",
            "set for intel-x25-m-g1-80gb: flash.channel_count = 0: must be",
        ),
        ("[grid]\njob.iodepth = [1, 32]", "", "nothing is varied; needed is one of grid"),
        (
            "job.iodepth = [1, 32]",
            "",
            "nothing is varied; needed is one of grid, points, samples, w",
        ),
        ("[grid]", "[samples]\ncount = 2\n[grid]", 'samples: key "ranges" is missing'),
        ("[grid]", "[samples]\ncuont = 2\n[grid]", 'samples: key "cuont" is unknown; did you'),
        ("[grid]", "[points]\nstate = 1\n[grid]", "allowed: tables, [[points]]"),
        (
            "[set]",
            "seed = 5\n[[points]]\nseed = 1\n[set]",
            "seed = 5 and [[points]] seed: give one of them",
        ),
        (
            "job.iodepth = [1, 32]",
            'state = ["new"]',
            "state = 'filled' and [grid] state: give one of them",
        ),
        (
            "job.iodepth = [1, 32]",
            "flash.pages_per_block = [128]",
            "[set] flash.pages_per_block = 128 and [grid] flash.pages_per_block: give one of them",
        ),
        (
            "[grid]",
            "[[points]]\nflash.pages_per_block = 128\n[grid]",
            "[set] flash.pages_per_block = 128 and [[points]] flash.pages_per_block: give one",
        ),
        (
            "job.iodepth = [1, 32]",
            '"job.iodepth, job.bs" = [[1, "4k"]]',
            "[job] bs = '4k' and [grid] job.bs: give one of them",
        ),
        (
            "job.iodepth = [1, 32]",
            'job.blocksize = ["8k"]',
            "[job] bs = '4k' and [grid] job.blocksize: give one of them",
        ),
        (
            "job.iodepth = [1, 32]",
            "scale_divisor = [64]",
            "scale = '1/128' and [grid] scale_divisor: give one of them",
        ),
        (
            "flash.pages_per_block = 128",
            "spare_ratio = 0.1\n[samples]\ncount = 2\nranges = { user_capacity_bytes = [1, 2] }",
            "[set] spare_ratio = 0.1 and [samples.ranges] user_capacity_bytes: give one of them",
        ),
    ],
)
def test_a_wrong_file_is_refused_by_name(
    old: str, new: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SMALL.replace(old, new), encoding="utf-8")
    assert cli.run(["sweep", str(file)]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.startswith(f"drivelab: {file}: ")


def test_a_seed_beside_those_of_the_grid_is_refused(tmp_path: Path) -> None:
    """The grid's counted without a word."""
    file = tmp_path / "s.toml"
    file.write_text(f"seed = 5\n{SMALL}seed = [1]\n", encoding="utf-8")
    with pytest.raises(RequestError, match=r"seed = 5 and \[grid\] seed: give one of them"):
        sweep_file.read(file)


def test_places_for_tables_are_checked_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Worker, "start", lambda *_: pytest.fail("something ran"))
    file = tmp_path / "s.toml"
    file.write_text(SMALL, encoding="utf-8")
    for csv in ("/proc/x.csv", str(tmp_path / "no" / "x.csv"), str(tmp_path)):
        assert cli.run(["sweep", str(file), "--csv", csv]) == 2
        assert f'--csv "{csv}": ' in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


def test_notes_on_several_models_name_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.toml"
    text = SMALL.replace("job.iodepth = [1, 32]", 'model = ["intel-x25-m-g2-80gb"]')
    text = text.replace("[set]\nflash.pages_per_block = 128\n", "")
    file.write_text(text, encoding="utf-8")
    assert cli.run(["sweep", str(file)]) == 0
    said = capsys.readouterr().err
    assert "at this scale: spare area of a die" in said
    assert "intel-x25-m-g1-80gb" not in said


@pytest.mark.parametrize(("option", "value"), [("--memory", "4g"), ("--workers", "2")])
def test_what_a_cluster_counts_itself_is_refused_by_its_option(
    option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SMALL, encoding="utf-8")
    words = ["sweep", str(file), option, value, "--scheduler", "tcp://127.0.0.1:1"]
    assert cli.run(words) == 2
    [line] = capsys.readouterr().err.splitlines()
    told = "a cluster counts its own; allowed: without --scheduler"
    assert line == f'drivelab: {option} "{value}": {told}'


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--shard", "3"], '--shard = "3": allowed: K/N, part K of N'),
        (["--shard", "3/2"], '--shard = "3/2": allowed: K/N, part K of N with K from 1 to N'),
        (["--store", "x.csv"], '--store "x.csv": it keeps the results of a sweep'),
        (["--shard", "1/9"], '--shard = "1/9": the sweep has 2 points'),
        (["--scheduler", "x"], '--scheduler "x": allowed: an address'),
    ],
    ids=lambda value: value[1].replace("/", "-") if isinstance(value, list) else "told",
)
def test_a_place_that_can_not_be_is_refused_by_its_option(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SMALL, encoding="utf-8")
    assert cli.run(["sweep", str(file), *words]) == 2
    assert capsys.readouterr().err.startswith(f"drivelab: {told}")


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["sweep", str(tmp_path / "none.toml")]) == 2
    assert "can't be read: No such file" in capsys.readouterr().err
