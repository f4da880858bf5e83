"""fio that is missing, too old, failing, or no longer wanted: with small programs in its place."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from drivelab.errors import WorkError
from drivelab.targets.fio import program


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    path = folder / "fio"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_a_missing_fio_is_named_with_the_way_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkError, match=r"which is not found: install it .*apt-get install fio"):
        program.find()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("fio-3.28", "is fio-3.28; fio 3.31 or newer is needed"),
        ("fio-2.16-dirty", "is fio-2.16-dirty; fio 3.31"),
        ("hello", 'says "hello"; fio 3.31'),
    ],
)
def test_a_fio_that_is_too_old_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, words: str
) -> None:
    install(tmp_path, monkeypatch, f"echo {said}")
    with pytest.raises(WorkError, match=words):
        program.find()


def test_fios_own_words_are_in_the_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(
        tmp_path,
        monkeypatch,
        '[ "$1" = --version ] && { echo fio-3.33; exit; }\n'
        "echo 'fio: io_u error on file drive: No space left on device' >&2; exit 1",
    )
    found = program.find()
    with pytest.raises(WorkError, match=r"status 1\): fio: io_u error .*No space left on device"):
        found.run("[global]\n", tmp_path, program.Run(1))


def test_errors_of_jobs_count_even_if_fio_ends_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        tmp_path,
        monkeypatch,
        '[ "$1" = --version ] && { echo fio-3.40; exit; }\n'
        'echo \'note: mixed in {"jobs": [{"error": 5}]}\' >fio.json',
    )
    with pytest.raises(WorkError, match="note: mixed in"):
        program.find().run("[global]\n", tmp_path, program.Run(1))


def test_a_cancelled_fio_ends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(
        tmp_path,
        monkeypatch,
        '[ "$1" = --version ] && { echo fio-3.33; exit; }\nexec sleep 600',
    )
    found, run = program.find(), program.Run(60)
    threading.Timer(0.2, run.cancel).start()
    start = time.perf_counter()
    with pytest.raises(WorkError, match="stopped"):
        found.run("[global]\n", tmp_path, run)
    assert time.perf_counter() - start < 300
    assert 0 < run.fraction < 1
