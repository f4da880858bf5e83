"""File systems that are full soon."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A tmpfs at a folder that is made. Skips the test where mounting is not allowed; in CI root
    must be.
    """
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    is_root = os.geteuid() == 0
    if not is_root or subprocess.run(words, capture_output=True, check=False).returncode:
        why = "no right to mount a small file system"
        pytest.fail(why) if is_root and os.environ.get("CI") else pytest.skip(why)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
