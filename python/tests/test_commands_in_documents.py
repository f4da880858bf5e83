"""Commands that documents show are run, and print what stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = {
    "README.md": 3,
    "docs/your-own.md": 3,
    "docs/your-own-drive.md": 3,
    "docs/fio-jobs.md": 1,
}
"""How many commands each shows at least."""
FILE = re.compile(r"[\w-]+\.(?:fio|toml)\b")
WRITTEN = re.compile(rf"> *({FILE.pattern})")
WHOLE = ("README.md", "docs/your-own.md")
"""Documents that leave out nothing of what a command prints, remarks among it."""


def blocks(text: str) -> list[list[str]]:
    """Indented blocks of code, without their indentation."""
    found = re.findall(r"(?:^(?: {4}.*|)\n)+", text, re.MULTILINE)
    return [
        [line[4:] for line in block.strip("\n").split("\n")] for block in found if block.strip()
    ]


def files(text: str) -> dict[str, str]:
    """Files that a document shows: blocks that begin with their name."""
    found = {}
    for block in blocks(text):
        name = re.fullmatch(r" *# (\S+\.(?:fio|toml))", block[0])
        shown = "\n".join(block).partition("\n$ ")[0]
        if name is not None:
            found[name[1]] = shown + "\n"
    return found


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Commands after a prompt, and the lines that they print."""
    found: list[tuple[str, list[str]]] = []
    for block in blocks(text):
        said: list[str] | None = None
        for line in block:
            if line.startswith("$ "):
                said = []
                found.append((line[2:], said))
            elif said is not None and line:
                said.append(line.rstrip())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_print_what_the_document_says(name: str, tmp_path: Path) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for file, content in files(text).items():
        (tmp_path / file).write_text(content, encoding="utf-8")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    shown = commands(text)
    assert len(shown) >= DOCUMENTS[name]
    for command, expected in shown:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            # As in a terminal: remarks come before what they are about.
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        printed = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
        found = printed if name in WHOLE else [line for line in printed if line in expected]
        assert found == expected, (command, printed)


def test_every_file_that_a_command_names_is_shown() -> None:
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        there = set(files(text))
        for command, _ in commands(text):
            there |= set(WRITTEN.findall(command))
            assert set(FILE.findall(command)) <= there, (name, command)
        jobs = [content for file, content in files(text).items() if file.endswith(".fio")]
        assert jobs
        assert [job for job in jobs if not re.search(r"^\[\w+\]$", job, re.MULTILINE)] == []
