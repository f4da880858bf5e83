"""Programs of the distribution that the tests run, and what a test says if one isn't there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
"""Where programs are: an ordinary user's path leaves out those of the administrator."""
ENVIRONMENT = {**os.environ, "PATH": PATH, "LC_ALL": "C"}

PATIENCE_S = 300.0
"""For a program that takes a moment, on a machine that does other things."""

# The script `nbdsh` takes the first python3 of the path; libnbd's module is for Debian's only.
NBDSH = ("/usr/bin/python3", "-m", "nbd")


def require(*names: str) -> None:
    """Skips the test if a program is missing; in CI, where `make system` had to bring it, fails."""
    missing = [name for name in names if shutil.which(name, path=PATH) is None]
    if missing:
        why = f"{', '.join(missing)} not installed: `make system` as root on Debian"
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)


def unavailable(why: str) -> None:
    """Skips the test: the machine doesn't let it have a device."""
    pytest.skip(why)


def started(words: Sequence[str | Path], **options: object) -> subprocess.Popen[str]:
    """A program in the background."""
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [str(word) for word in words], env=ENVIRONMENT, text=True, **options
    )


def ran(
    *words: str | Path, status: int = 0, timeout_s: float = PATIENCE_S, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """A program that has ended with `status`; with another one, what it said fails the test."""
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        check=False,
        cwd=cwd,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=timeout_s,
    )
    said = f"{' '.join(done.args)}: status {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.returncode == status, said
    return done


def output(*words: str | Path, timeout_s: float = PATIENCE_S, cwd: Path | None = None) -> str:
    """What a program prints."""
    return ran(*words, timeout_s=timeout_s, cwd=cwd).stdout
