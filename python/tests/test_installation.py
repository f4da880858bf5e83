from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from drivelab import _engine, cli, installation
from drivelab.errors import WorkError

MAKEFILE = Path(__file__).resolve().parents[2] / "Makefile"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree, as far as it is looked at, whose engine is newer than its sources."""
    package = tmp_path / "python" / "drivelab"
    package.mkdir(parents=True)
    stub = Path(installation.PACKAGE / "_engine.pyi").read_text(encoding="utf-8")
    (package / "_engine.pyi").write_text(stub, encoding="utf-8")
    source = tmp_path / "crates" / "sim" / "src" / "lib.rs"
    source.parent.mkdir(parents=True)
    source.touch()
    engine = package / "_engine.abi3.so"
    engine.touch()
    os.utime(source, (1, 1))
    monkeypatch.setattr(installation, "PACKAGE", package)
    monkeypatch.setattr(_engine, "__file__", str(engine))
    return tmp_path


def test_an_engine_as_new_as_its_package_is_no_problem(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert installation.stale_engine() is None
    assert cli.run(["--version"]) == 0
    version = _engine.engine_version()
    assert capsys.readouterr().out == f"drivelab {version}, engine {version}\n"


def test_an_engine_without_a_function_is_older(tree: Path) -> None:
    stub = tree / "python" / "drivelab" / "_engine.pyi"
    with stub.open("a", encoding="utf-8") as file:
        file.write("\ndef fly(height_m: float) -> None: ...\n")
    problem = installation.stale_engine()
    assert problem is not None
    assert "it has no fly" in problem
    assert "make setup" in problem


def test_sources_that_changed_since_are_named(tree: Path) -> None:
    later = time.monotonic() + 4e9
    os.utime(tree / "crates" / "sim" / "src" / "lib.rs", (later, later))
    problem = installation.stale_engine()
    assert problem is not None
    assert "crates/sim/src/lib.rs has changed" in problem


def test_another_version_is_older(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_engine, "engine_version", lambda: "0.0.1")
    problem = installation.stale_engine()
    assert problem is not None
    assert "version 0.0.1" in problem


@pytest.mark.parametrize(
    "error",
    [WorkError("job: unknown field `until`, expected one of"), AttributeError("has no inside")],
)
def test_what_fails_for_an_old_engine_says_make_setup_in_one_line(
    error: Exception,
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(*_: object) -> None:
        raise error

    from drivelab import model

    monkeypatch.setattr(model, "load", fails)
    monkeypatch.setattr(_engine, "engine_version", lambda: "0.0.1")
    assert cli.run(["show", "hypothetical"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "make setup" in said


def test_an_engine_that_is_not_there_is_told_in_one_line() -> None:
    code = (
        "import sys; sys.modules['drivelab._engine'] = None\n"
        "from drivelab import cli; sys.exit(cli.run(['show', 'hypothetical']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "drivelab: the engine can't be loaded; `make setup` builds it\n"


def test_other_failures_are_left_as_they_are(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_engine, "engine_version", lambda: "0.0.1")
    assert cli.run(["show", "hypothetical", "--set", "x=1"]) == 2
    assert "make setup" not in capsys.readouterr().err


def test_a_folder_may_have_blanks_in_its_name(tmp_path: Path) -> None:
    """pip takes several constraint files in one variable, with blanks between them."""
    place = tmp_path / "my lab"
    place.mkdir()
    shutil.copy(MAKEFILE, place)
    show = "show: ; @echo $$PIP_CONSTRAINT"
    done = subprocess.run(
        ["make", "--silent", f"--eval={show}", "show"], cwd=place, capture_output=True, text=True
    )
    assert done.stdout == f"{(place / 'requirements.lock').as_uri()}\n", done.stderr
