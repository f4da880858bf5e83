"""Speed of a served drive: fio's 4 KiB reads and writes at random places, queue depth 32.

`make bench` runs it: a drive of 1 GiB with clock `instant`, and beside it `nbdkit memory` of the
same size, by turns, because what else the machine does moves both. Both go through the same states:

- new: nothing was written; fio writes a part of it for the first time;
- filled: written once from end to end;
- steady: written over at random places, several times the capacity. The drive is the Intel X25-M
  with fewer and smaller dies, and so much spare area that it copies as many pages for each that the
  host writes as the whole X25-M does in this state. `nbdkit memory` knows no states; it is driven
  through them all the same.

The image lies in the folder for temporary files (`TMPDIR`), and whatever that lies on.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from served.drive import ServedDrive
from served.programs import output, ran, started

MODEL = "intel-x25-m-g1-80gb"
SIZE_BYTES = 1 << 30
SETS = (
    "flash.channel_count=4",
    "flash.blocks_per_plane=71",
    f"user_capacity_bytes={SIZE_BYTES}",
)
BLOCK_BYTES, DEPTH = 4096, 32
ROUNDS, SECONDS = 5, 3.0
PRECONDITION = 3
"""Writes to a steady state, in capacities."""

Rates = dict[tuple[str, str], list[float]]
"""Requests per second by state and kind, one for every round."""


@dataclass
class Result:
    """What was measured."""

    ours: Rates = field(default_factory=dict)
    theirs: Rates = field(default_factory=dict)
    write_amplification: float = 0.0
    place: str = ""


@contextmanager
def memory(folder: Path, size_bytes: int) -> Iterator[str]:
    """`nbdkit memory`: what a server can do that has nothing to think about."""
    socket = folder / "memory"
    socket.unlink(missing_ok=True)
    words = ["nbdkit", "-f", "-U", socket, "memory", str(size_bytes)]
    server = started(words, stderr=subprocess.DEVNULL)
    try:
        while not socket.exists():
            assert server.poll() is None, "nbdkit has ended"
            time.sleep(0.01)
        yield f"nbd+unix:///?socket={socket}"
    finally:
        server.kill()
        server.wait()


@contextmanager
def drive(folder: Path, sets: tuple[str, ...]) -> Iterator[ServedDrive]:
    """The drive, new."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        served = ServedDrive(Path(own), MODEL, sets, "instant")
        try:
            yield served
        finally:
            served.discard()


def requests_per_s(uri: str, rw: str, folder: Path, *limits: str) -> float:
    """One run of fio over all of it."""
    out = folder / "fio.json"
    words = [
        "fio",
        "--name=job",
        "--ioengine=nbd",
        f"--uri={uri}",
        f"--rw={rw}",
        f"--bs={BLOCK_BYTES}",
    ]
    words += [f"--bs={BLOCK_BYTES}", f"--iodepth={DEPTH}", "--norandommap", "--randrepeat=0"]
    words += [*limits, "--output-format=json", f"--output={out}"]
    ran(*words, cwd=folder, timeout_s=300)
    direction = rw.removeprefix("rand")
    return float(json.loads(out.read_text())["jobs"][0][direction]["iops"])


def fill(uri: str, folder: Path) -> None:
    """Written from end to end."""
    words = ["--name=fill", "--ioengine=nbd", f"--uri={uri}", "--rw=write", "--bs=1m"]
    ran("fio", *words, cwd=folder, timeout_s=300)


def measured(
    folder: Path,
    rounds: int = ROUNDS,
    seconds: float = SECONDS,
    precondition: float = PRECONDITION,
    size_bytes: int = SIZE_BYTES,
    sets: tuple[str, ...] = SETS,
) -> Result:
    """The drive that `sets` make and memory of its size by turns, in every state."""
    result = Result(place=output("df", "--output=fstype,target", folder).splitlines()[-1])
    timed = ("--time_based", f"--runtime={seconds}")

    def compare(state: str, kind: str, uris: tuple[str, str], *limits: str) -> None:
        for rates, uri in zip((result.ours, result.theirs), uris, strict=True):
            rates.setdefault((state, kind), []).append(requests_per_s(uri, kind, folder, *limits))

    # As long as most requests are the first of their place.
    first_writes = f"--number_ios={size_bytes // BLOCK_BYTES // 4}"
    for _ in range(rounds):
        with drive(folder, sets) as new, memory(folder, size_bytes) as uri:
            compare("new", "randwrite", (new.uri, uri), first_writes)
    with drive(folder, sets) as served, memory(folder, size_bytes) as uri:
        uris = (served.uri, uri)
        for place in uris:
            fill(place, folder)
        for _ in range(rounds):
            compare("filled", "randread", uris, *timed)
        for place in uris:
            writes = int(precondition * size_bytes / BLOCK_BYTES)
            requests_per_s(place, "randwrite", folder, f"--io_size={writes * BLOCK_BYTES}")
        before = served.smart()
        for _ in range(rounds):
            compare("steady", "randread", uris, *timed)
            compare("steady", "randwrite", uris, *timed)
        result.write_amplification = write_amplification(before, served.smart())
    return result


def write_amplification(before: dict[str, int], after: dict[str, int]) -> float:
    """Bytes programmed for each that the host wrote between two looks at the drive's counters."""
    host = after["host_write_bytes"] - before["host_write_bytes"]
    flash = sum(after[key] - before[key] for key in after if key.startswith("program_bytes_"))
    return flash / host if host else 0.0


def table(result: Result) -> str:
    """Medians, and the median of the ratios of neighbours in time."""
    heading = f"4 KiB, depth {DEPTH}"
    lines = [f"{heading:<24}{'drive':>10}{'memory':>10}{'ratio':>8}  thousand requests/s"]
    for key, own_rates in result.ours.items():
        other_rates = result.theirs[key]
        ratio = statistics.median(a / b for a, b in zip(own_rates, other_rates, strict=True))
        own, other = (statistics.median(rates) / 1000 for rates in (own_rates, other_rates))
        lines.append(f"{', '.join(key):<24}{own:>10.1f}{other:>10.1f}{ratio:>8.2f}")
    lines.append(
        f"steady: write amplification {result.write_amplification:.2f}; image on {result.place}"
    )
    return "\n".join(lines)


def main() -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory(prefix="drive") as folder:
        print(table(measured(Path(folder))))


if __name__ == "__main__":
    sys.exit(main())
