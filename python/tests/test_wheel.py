"""The wheel, installed into an environment of its own and used far from the source tree."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

import drivelab
from drivelab import _engine

PACKAGE = Path(drivelab.__file__).parent
ROOT = PACKAGE.parent.parent
REVIEW = ("intel-x25-m-g1-80gb", "--scale", "1/64", "--quick", "--tests", "four-corners")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing but the wheel and, as they lie here, what it depends on.

    Other packages are found through a path, which leaves drivelab out: here it is a link to the
    source tree, and such links are not followed from another environment.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    wheels = folder / "wheels"
    words = [
        str(Path(sys.executable).parent / "maturin"),
        "build",
        "--quiet",
        "--locked",
        "--offline",
        "--release",
    ]
    subprocess.run([*words, "--out", str(wheels)], cwd=ROOT, check=True, capture_output=True)
    [wheel] = wheels.glob("*.whl")
    home = folder / "environment"
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    words = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    environment = {**os.environ, "PIP_REQUIRE_VIRTUALENV": "0"}
    subprocess.run(
        [*words, "--no-deps", "--no-index", str(wheel)], check=True, env=environment, cwd=folder
    )
    [packages] = home.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run(
        [str(home / "bin" / words[0]), *words[1:]],
        cwd=home,
        env=kept,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_a_review_runs_from_the_wheel_alone(elsewhere: Path) -> None:
    place = run(elsewhere, "python", "-c", "import drivelab; print(drivelab.__file__)")
    assert Path(place.stdout.strip()).is_relative_to(elsewhere)
    done = run(elsewhere, "drivelab", "review", *REVIEW, "--out", "out")
    assert done.returncode == 0, done.stderr
    results = json.loads((elsewhere / "out" / "results.json").read_text(encoding="utf-8"))
    assert {test["id"] for test in results["tests"]} >= {"sequential-read-2m"}
    assert "Intel X25-M G1" in (elsewhere / "out" / "report.html").read_text(encoding="utf-8")
    version = run(elsewhere, "drivelab", "--version")
    assert (
        version.stdout
        == f"drivelab {metadata.version('drivelab')}, engine {_engine.engine_version()}\n"
    )


NOTEBOOK = """
import json, sys, nbformat, nbclient
cells = [
    "import drivelab as dl\\ndrive = dl.Drive('intel-x25-m-g1-80gb', scale='1/2').prepare('used')",
    "result = drive.run(dl.Job(rw='randwrite', bs='4k', iodepth=32, io_size='64m'))\\nresult",
    "result.plot.latency()",
    "result.summary.to_pandas().shape[0]",
]
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
nbclient.NotebookClient(notebook, timeout=900, startup_timeout=300, kernel_name="python3").execute()
print(json.dumps([cell["outputs"] for cell in notebook["cells"]]))
"""


@pytest.mark.slow
def test_a_notebook_shows_progress_tables_and_pictures(elsewhere: Path) -> None:
    done = run(elsewhere, "python", "-c", NOTEBOOK)
    assert done.returncode == 0, done.stderr[-2000:]
    preparing, table, chart, frame = json.loads(done.stdout)
    # One line in its place, however often it was written; nothing on standard error.
    [line] = preparing
    assert line["data"]["text/plain"].startswith("took about ")
    assert "write_amplification" in "".join(table[-1]["data"]["text/html"])
    [drawn] = chart
    assert any(kind.startswith("application/vnd.vegalite") for kind in drawn["data"])
    assert len(drawn["data"]["image/png"]) > 10_000
    assert frame[-1]["data"]["text/plain"] == "1"


DASK = """
from distributed import Client, LocalCluster
import drivelab as dl
def main():
    drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/128")
    job = dl.Job(rw="randwrite", bs="4k", io_size="16m")
    with LocalCluster(n_workers=1, dashboard_address=":0") as local, Client(local) as client:
        study = dl.sweep(drive, {"job.iodepth": [1, 4]}, job=job, executor=client, progress=False)
    print(study.frame().height, dl.__file__)
if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
def test_a_sweep_on_dask_runs_from_the_wheel(elsewhere: Path) -> None:
    (elsewhere / "sweep.py").write_text(DASK, encoding="utf-8")
    done = run(elsewhere, "python", "sweep.py")
    assert done.returncode == 0, done.stderr[-2000:]
    count, place = done.stdout.split()
    assert count == "2"
    assert Path(place).is_relative_to(elsewhere)


@pytest.mark.slow
def test_the_wheel_names_its_extras_and_what_they_bring(elsewhere: Path) -> None:
    words = "import importlib.metadata as m; print('\\n'.join(m.requires('drivelab')))"
    told = run(elsewhere, "python", "-c", words).stdout.splitlines()
    extras = [line.replace('"', "'") for line in told if "extra ==" in line]
    brought = {(re.split(r"[<>= ;]", line)[0], line.split("'")[1]) for line in extras}
    assert brought == {
        *((name, "notebook") for name in ("ipykernel", "pandas", "pyarrow")),
        *(("distributed", "dask"), ("xarray", "xarray")),
    }


@pytest.mark.slow
def test_every_file_of_the_package_is_in_the_wheel(elsewhere: Path) -> None:
    [installed] = elsewhere.glob("lib/python*/site-packages/drivelab")
    assert files(installed) == files(PACKAGE)


def files(folder: Path) -> set[str]:
    kept = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    # rglob doesn't follow links before Python 3.13; models are one in the source tree.
    kept |= {path.relative_to(folder) for path in (folder / "models").rglob("*.toml")}
    return {str(path) for path in kept if "__pycache__" not in path.parts}


def test_whatever_is_imported_is_declared() -> None:
    """Here are tools beside the dependencies; where the wheel is installed only these are."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {re.split(r"[<>=!~\[ ]", text)[0] for text in declared["dependencies"]}
    # A module may be called otherwise than what brings it.
    brought = metadata.packages_distributions()
    modules = {
        name
        for name, bringers in brought.items()
        if named & {b.replace("_", "-") for b in bringers}
    }
    known = {*sys.stdlib_module_names, "drivelab", *named, *modules}
    undeclared = {
        (str(path.relative_to(PACKAGE)), name)
        for path in PACKAGE.rglob("*.py")
        for name in imported(path)
        if name not in known and name not in OPTIONAL
    }
    assert undeclared == set()


OPTIONAL = {"distributed", "xarray"}
"""Modules of extras: what uses them says so where they are missing."""


def imported(path: Path) -> Iterator[str]:
    """Top-level names of the modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]
