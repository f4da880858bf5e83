"""Speed of a served drive: fio's 4 KiB reads and writes at random places, queue depth 32.

`make bench` runs it: the drive with clock `instant`, page map, cleaning and all, and beside it
`nbdkit memory`, by turns, because what else the machine does moves both.
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
from pathlib import Path

from served.drive import ServedDrive
from served.programs import ran, started

MODEL = "intel-x25-m-g1-80gb"
SPAN_MIB, DEPTH = 512, 32
ROUNDS, SECONDS = 5, 3.0
KINDS = ("randread", "randwrite")

Rates = dict[str, list[float]]


@contextmanager
def memory(folder: Path) -> Iterator[str]:
    """`nbdkit memory`: what a server can do that has nothing to think about."""
    socket = folder / "memory"
    server = started(["nbdkit", "-f", "-U", socket, "memory", "1G"], stderr=subprocess.DEVNULL)
    try:
        while not socket.exists():
            assert server.poll() is None, "nbdkit has ended"
            time.sleep(0.01)
        yield f"nbd+unix:///?socket={socket}"
    finally:
        server.kill()
        server.wait()


def requests_per_s(uri: str, rw: str, seconds: float, folder: Path) -> float:
    """One run of fio."""
    out = folder / "fio.json"
    words = ["fio", "--name=job", "--ioengine=nbd", f"--uri={uri}", f"--rw={rw}", "--bs=4k"]
    words += [f"--size={SPAN_MIB}m", f"--iodepth={DEPTH}", "--norandommap", "--randrepeat=0"]
    words += ["--time_based", f"--runtime={seconds}", "--output-format=json", f"--output={out}"]
    ran(*words, cwd=folder, timeout_s=seconds + 30)
    direction = rw.removeprefix("rand")
    return float(json.loads(out.read_text())["jobs"][0][direction]["iops"])


def measured(folder: Path, rounds: int = ROUNDS, seconds: float = SECONDS) -> tuple[Rates, Rates]:
    """Requests per second of the drive and of the memory, every round of every kind."""
    drive = ServedDrive(folder, MODEL, (), "instant")
    ours: Rates = {kind: [] for kind in KINDS}
    theirs: Rates = {kind: [] for kind in KINDS}
    try:
        with memory(folder) as uri:
            for place in (drive.uri, uri):
                fill = ["--name=fill", "--ioengine=nbd", f"--uri={place}", "--rw=write", "--bs=1m"]
                ran("fio", *fill, f"--size={SPAN_MIB}m", cwd=folder)
            for _ in range(rounds):
                for kind in KINDS:
                    ours[kind].append(requests_per_s(drive.uri, kind, seconds, folder))
                    theirs[kind].append(requests_per_s(uri, kind, seconds, folder))
    finally:
        drive.discard()
    return ours, theirs


def table(ours: Rates, theirs: Rates) -> str:
    """Medians, and the median of the ratios of neighbours in time."""
    lines = [f"{'4 KiB, depth 32':<18}{'drive':>10}{'memory':>10}{'ratio':>8}  thousand requests/s"]
    for kind in KINDS:
        ratio = statistics.median(a / b for a, b in zip(ours[kind], theirs[kind], strict=True))
        own, other = (statistics.median(rates[kind]) / 1000 for rates in (ours, theirs))
        lines.append(f"{kind:<18}{own:>10.1f}{other:>10.1f}{ratio:>8.2f}")
    return "\n".join(lines)


def main() -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory(prefix="drive") as folder:
        print(table(*measured(Path(folder))))


if __name__ == "__main__":
    sys.exit(main())
