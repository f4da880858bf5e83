"""docs/modern-drives.md, "Reads at queue depth 1": steps by the kind of page, model and drive.

Of a drive written once in order, a third of the units lies on pages of each kind. Random reads of
four kilobytes, one at a time, wait for nothing, so their latencies take as many values as pages
take times: two steps, one of which two reads of three are on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from modelled import Modelled

import drivelab as dl
from drivelab.figures.text import deviation

SCALE = "1/64"
READS = 30_000
SEED = 1
UNIT_BYTES = 4096


@dataclass(frozen=True)
class Steps:
    """Where the two steps of a distribution lie, and the share of reads on the first."""

    first_us: float
    second_us: float
    first_share: float


@dataclass(frozen=True)
class Measured:
    """What SSD-iq measured beside 10 000 writes a second; nothing where it isn't known.

    `first_until` and `second_from` are percentages of all reads, `delayed` the share of those that
    waited for a program."""

    first_us: float
    second_us: float
    first_until: int
    second_from: int
    delayed: float

    @property
    def first_share(self) -> tuple[float, float]:
        """Of the reads that didn't wait: no less, no more."""
        rest = 100 * (1 - self.delayed)
        return self.first_until / rest, self.second_from / rest


MEASURED: Mapping[str, Measured | None] = {
    "micron-7450-max-800gb": Measured(64, 75, 60, 65, 0.088),
    "micron-7450-pro-960gb": Measured(64, 75, 55, 60, 0.129),
    "skhynix-pe8110-960gb": Measured(55.5, 66.5, 55, 60, 0.129),
    "samsung-pm9a3-960gb": Measured(62.5, 73, 55, 60, 0.129),
    "solidigm-p5520-1920gb": Measured(46, 71, 25, 40, 0.125),
    "wd-datacenter-960gb": Measured(73, 85.5, 45, 50, 0.269),
    "kioxia-cm7-r-3840gb": None,
}


@cache
def steps(model: str, changes: tuple[tuple[str, object], ...] = ()) -> Steps:
    """A small version, written once in order, and read at random one unit at a time."""
    drive = dl.Drive(model, dict(changes), scale=SCALE, seed=SEED)
    drive = drive.run(dl.Job(rw="write", bs="512k"), keep=True, progress=False).drive
    reads = {"rw": "randread", "bs": "4k", "iodepth": 1, "norandommap": True}
    found = drive.run(dl.Job(**reads, io_size=READS * UNIT_BYTES), progress=False).latency

    def quantile(share: float) -> float:
        at: float = found.filter(found["share"] >= share)["latency_us"].min()
        return at

    first, second = quantile(0.25), quantile(0.9)
    on_first = found.filter(found["latency_us"] <= (first + second) / 2)["share"].max()
    return Steps(first, second, on_first)


HEADS = (
    "drive",
    "first step, us",
    "model",
    "",
    "second step, us",
    "model",
    "",
    "reads on the first",
    "model",
    "",
)


def rows(kept: Modelled) -> list[list[str]]:
    """The two steps of every drive and the share of reads on the first, each with the role of what
    it follows from. Which step the middle page is on decides the share."""
    found = []
    for name, drive in MEASURED.items():
        now = kept.of(name, "steps", Steps, lambda name=name: steps(name))
        roles = {item["key"]: item["role"] for item in dl.Drive(name).model.parameters}
        row = [f"`{name}`"]
        for kind, measured, modelled in (
            ("read", drive and drive.first_us, now.first_us),
            ("read_upper", drive and drive.second_us, now.second_us),
        ):
            role = _role(roles, kind)
            if measured is None:
                row += ["not seen", f"{modelled:.1f}", role]
            else:
                off = deviation(modelled, measured, digits=1)
                row += [f"{measured:g}", f"{modelled:.1f} ({off})", role]
        if drive is None:
            row += ["not seen", f"{now.first_share:.2f}"]
        else:
            least, most = drive.first_share
            row += [f"{least:.2f} to {most:.2f}", f"{now.first_share:.2f}"]
        found.append([*row, _role(roles, "read_middle")])
    return found


def _role(roles: Mapping[str, str], kind: str) -> str:
    """The role of a kind's tR; that of the one tR where kinds aren't told apart."""
    return roles.get(f"flash.{kind}_ns") or roles["flash.read_ns"]
