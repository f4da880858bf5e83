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
