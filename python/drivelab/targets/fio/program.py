"""The fio program: found, asked for its version, run, and ended when nobody waits any more.

Every run has a folder of its own for the job file, the logs and the JSON. Where util-linux's
`setpriv` is there, fio dies with drivelab, however that ends.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab.errors import WorkError
from drivelab.progress import Stopwatch

VERSION_MIN = (3, 31)
"""The first that reads and writes iologs of version 3, with times in microseconds [FIO]."""
INSTALL = "install it (Debian, Ubuntu: `apt-get install fio`; Fedora: `dnf install fio`)"
_VERSION = re.compile(r"fio-(\d+)\.(\d+)")
_POLL_S = 0.1
_ASKING_S = 60.0
"""How long fio may take to say its version: the machine may do other things."""
_GRACE_S = 3.0
"""How long fio may take to end after it was asked to, before it is killed."""


class Run:
    """One call of fio, as progress bars see it: a share of the time that it should take."""

    def __init__(self, expected_s: float) -> None:
        self._expected_s = max(expected_s, 0.1)
        self._watch = Stopwatch()
        self.stopped = threading.Event()

    @property
    def fraction(self) -> float:
        """0 to 1; never quite 1, as fio alone knows when it is done."""
        return min(0.99, self._watch.seconds() / self._expected_s)

    def cancel(self) -> None:
        """Makes fio end soon."""
        self.stopped.set()


@dataclass(frozen=True)
class FioProgram:
    """A fio that is new enough."""

    path: str
    version: str
    """As it says itself: fio-3.33."""

    def run(self, job_file: str, folder: Path, run: Run) -> dict[str, Any]:
        """Runs a job file in a folder, and returns fio's JSON.

        Raises WorkError with fio's own words if it fails, and if the run is cancelled.
        """
        (folder / "job.fio").write_text(job_file, encoding="utf-8")
        output = folder / "fio.json"
        words = [self.path, "--output-format=json+", f"--output={output.name}", "job.fio"]
        status, said = _finished([*_tied_to_parent(), *words], folder, run)
        if run.stopped.is_set():
            raise WorkError("stopped")
        text = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
        document = _document(text)
        errors = {job["error"] for job in document.get("jobs", []) if job["error"]}
        if status or errors or not document:
            words_of_fio = " | ".join(line for line in _notable(said + "\n" + _before_json(text)))
            raise WorkError(f"fio failed (status {status}): {words_of_fio or 'without a word'}")
        return document


def find() -> FioProgram:
    """The fio on the search path; raises WorkError if there is none or it is too old."""
    path = shutil.which("fio")
    if path is None:
        raise WorkError(f"targets fio:... need the program fio, which is not found: {INSTALL}")
    try:
        said = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=_ASKING_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkError(f"{path} doesn't say its version ({error}); {INSTALL}") from None
    version = said.stdout.strip()
    found = _VERSION.match(version)
    needed = ".".join(map(str, VERSION_MIN))
    if found is None:
        words = version or said.stderr.strip() or "nothing"
        raise WorkError(f'{path} --version says "{words}"; fio {needed} or newer is needed')
    if (int(found[1]), int(found[2])) < VERSION_MIN:
        raise WorkError(f"{path} is {version}; fio {needed} or newer is needed: {INSTALL}")
    return FioProgram(path, version)


def _tied_to_parent() -> list[str]:
    """The words before a command that make it die with its parent, where the system can."""
    path = shutil.which("setpriv")
    return [path, "--pdeathsig", "KILL", "--"] if path is not None else []


def _finished(words: Sequence[str], folder: Path, run: Run) -> tuple[int, str]:
    """Exit status and messages of a program; ends it when the run is cancelled."""
    with (folder / "messages").open("w+", encoding="utf-8", errors="replace") as messages:
        # A session of its own: Ctrl-C goes to drivelab alone, which then ends fio.
        process = subprocess.Popen(
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while not run.stopped.is_set():
                try:
                    process.wait(_POLL_S)
                    break
                except subprocess.TimeoutExpired:
                    continue
        finally:
            _end(process)
        messages.seek(0)
        return process.returncode, messages.read()


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _document(text: str) -> dict[str, Any]:
    """fio's JSON: its messages may stand before it in the same file."""
    start = text.find("{")
    if start < 0:
        return {}
    try:
        found, _ = json.JSONDecoder().raw_decode(text[start:])
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _before_json(text: str) -> str:
    return text[: text.find("{")] if "{" in text else text


def _notable(said: str) -> list[str]:
    """Lines that fio printed, without repetitions; the first ones say most."""
    lines = dict.fromkeys(line.strip() for line in said.splitlines() if line.strip())
    return list(lines)[:6]
