"""What SSD-iq measured of six enterprise drives [SSDIQ]: workloads and figures, for the page that
`ssd_iq.py` writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import modern

MAX, PRO, PE8110 = "micron-7450-max-800gb", "micron-7450-pro-960gb", "skhynix-pe8110-960gb"
PM9A3, P5520, WD = "samsung-pm9a3-960gb", "solidigm-p5520-1920gb", "wd-datacenter-960gb"


@dataclass(frozen=True)
class Writes:
    """A workload: a column of the tables, and how its offsets are drawn."""

    name: str
    distribution: str
    capacities: float
    """User capacities that are written."""


UNIFORM = Writes("uniform", "random", 5)
ZIPF = [
    Writes(f"zipf {z}", f"zipf_true:{z}", capacities)
    for z, capacities in ((0.2, 5), (0.4, 5), (0.6, 5), (0.8, 5), (1.0, 6))
]
HOT = [
    Writes(f"{w}/{100 - w}", f"zoned_scattered:{w}/{100 - w}:{100 - w}/{w}", capacities)
    for w, capacities in ((60, 5), (70, 5), (90, 7), (95, 8))
]
COLD = [
    Writes(f"{c} % cold", f"zoned_scattered:0/{c}:100/{100 - c}", capacities)
    for c, capacities in ((20, 7), (40, 7), (60, 7), (80, 7), (90, 5))
]
RATIOS = [*ZIPF, *HOT, *COLD]


@dataclass(frozen=True)
class Measured:
    """What SSD-iq measured of a drive, in MiB/s; None: not published, or kept back."""

    model: str
    zipf: Sequence[float | None]
    hot: Sequence[float | None]
    cold: Sequence[float | None]
    full_gib: float | None
    trough: float | None
    overshoot: float | None

    @property
    def ratios(self) -> Sequence[float | None]:
        """Rates of `RATIOS`."""
        return [*self.zipf, *self.hot, *self.cold]

    @property
    def uniform(self) -> float:
        """The rate of uniform writes."""
        return next(drive.mib_per_s for drive in modern.DRIVES if drive.model == self.model)


UNKNOWN = (None,) * len(HOT)
DRIVES = (
    Measured(
        MAX,
        (618.1, 601.9, 575.5, 558.2, None), (613.1, 585.1, 522.2, 422.0),
        (585.6, 586.0, None, 1063.6, 1346.7),
        337.0, 441.5, 682.8,
    ),
    Measured(
        PRO,
        (365.6, 356.7, 342.9, None, 394.1), UNKNOWN, (355.9, 332.5, 320.5, 313.6, 1003.7),
        190.0, 221.7, None,
    ),
    Measured(
        PE8110,
        (327.9, 323.5, None, 307.2, 447.9), (None, None, None, 286.8),
        (319.6, 306.0, 298.2, 313.2, None),
        117.0, None, 388.8,
    ),
    Measured(
        PM9A3,
        (279.0, 279.0, 278.0, 258.6, None), UNKNOWN, (None, 273.5, 183.1, 260.7, 576.8),
        None, 148.2, 363.1,
    ),
    Measured(
        P5520,
        (None, 447.3, 431.8, 441.1, 555.5), UNKNOWN, (506.2, 544.8, 634.0, None, 655.8),
        377.0, 323.6, 594.1,
    ),
    Measured(
        WD,
        (183.7, None, 182.3, 195.6, 335.1), UNKNOWN, (186.1, None, 272.0, 356.7, 432.5),
        122.0, 108.7, 236.4,
    ),
)  # fmt: skip
