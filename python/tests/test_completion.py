from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from drivelab import cli, completion, model_layers, procedures, states

FOLDER = Path(sys.executable).parent


def offered(*words: str) -> list[str]:
    """What bash offers for the last of the words, through the script that is installed."""
    environment = {**os.environ, "PATH": f"{FOLDER}:{os.environ['PATH']}", "SHELL": "/bin/bash"}
    script = subprocess.run(
        ["bash", "-c", "drivelab --show-completion"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    quoted = " ".join(f'"{word}"' for word in words)
    asked = f"""{script}
COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}
_drivelab_completion drivelab; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    said = subprocess.run(
        ["bash", "-c", asked], env=environment, capture_output=True, text=True, check=True
    )
    return said.stdout.split()


@pytest.mark.skipif(
    shutil.which("bash") is None or not (FOLDER / "drivelab").exists(),
    reason="no bash, or the command is not installed",
)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("re",), ["review", "replay"]),
        (("show", "wd-b"), ["wd-black-sn770-1tb", "wd-blue-sn580-1tb"]),
        (("run", "x.fio", "--drive", "gskill-t"), ["gskill-titan-128gb"]),
        (
            ("review", "wd-velociraptor-300gb", "--states", "new,used"),
            ["new,used", "new,used-trimmed"],
        ),
        (("review", "--tests", "atto,pts-iops-"), ["atto,pts-iops-client"]),
    ],
)
def test_a_shell_completes(words: tuple[str, ...], expected: list[str]) -> None:
    assert offered("drivelab", *words) == expected


def test_everything_that_is_known_is_offered() -> None:
    assert completion.model_names("") == model_layers.known_names()
    assert completion.state_names("") == list(states.STATES)
    assert set(procedures.PROCEDURES) < set(completion.test_names(""))


def test_what_a_list_has_is_not_offered_again() -> None:
    assert completion.state_names("new,") == [
        f"new,{name}" for name in states.STATES if name != "new"
    ]


def test_a_model_of_ones_own_is_offered_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "own.toml").touch()
    (tmp_path / "own.fio").touch()
    assert completion.model_names(f"{tmp_path}/ow") == [f"{tmp_path}/own.toml"]


def test_help_says_how_completion_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == 0
    assert "--install-completion" in capsys.readouterr().out
