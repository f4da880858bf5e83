"""fio's `steadystate`: a job ends once a rate, or the slope of it, stays within a limit.

Rates are counted in whole seconds from when the job begins to measure and `steadystate_ramp_time`
is over. Over the last `steadystate_duration` seconds either the largest deviation from the mean, or
the slope of the line through them by least squares, must be below the limit, which is a number or
a percentage of the mean [FIO].
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drivelab.errors import nearest
from drivelab.fio import units
from drivelab.fio.buffers import Section
from drivelab.quantities import MIB, NS_PER_S

if TYPE_CHECKING:
    from drivelab.lab.steps import Step

ALIASES = {
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
}
OPTIONS = tuple(ALIASES.values())
CRITERIA = ("iops", "iops_slope", "bw", "bw_slope")
SECONDS_MIN = 2
"""Of one second there is neither a deviation nor a slope."""


@dataclass(frozen=True)
class SteadyState:
    """When a job ends, as its options say it."""

    criterion: str
    """One of `CRITERIA`."""
    limit: float
    """IOPS or bytes/s, of a slope per second; or percent of the mean."""
    percent: bool
    duration_s: int
    ramp_ns: int

    every_ns = NS_PER_S

    def judge(self, steps: Sequence[Step]) -> dict[str, Any]:
        """What the last seconds say, with the keys of fio's JSON and `reached`.

        Before there are enough of them nothing is known: null.
        """
        iops = [int(step.ios / step.duration_s) for step in steps[-self.duration_s :]]
        rates = [int((step.mib_per_s or 0.0) * MIB + 0.5) for step in steps[-self.duration_s :]]
        values = iops if self.criterion.startswith("iops") else rates
        whole = len(values) == self.duration_s
        slope = self.criterion.endswith("_slope")
        measure = (_slope(values) if slope else _deviation(values)) if whole else None
        reckoned = measure
        if measure is not None and self.percent:
            mean = sum(values) / len(values)
            reckoned = 100 * measure / mean if mean else None
        unit = "%" if self.percent else ""
        return {
            "reached": reckoned is not None and abs(reckoned) < self.limit,
            "ss": f"{self.criterion}:{self.limit:f}{unit}",
            "duration": self.duration_s,
            "attained": int(reckoned is not None and abs(reckoned) < self.limit),
            "criterion": None if reckoned is None else f"{reckoned:f}{unit}",
            "max_deviation": None if slope else measure,
            "slope": measure if slope else None,
            "data": {
                "bw_mean": sum(rates) // len(rates) if whole else None,
                "iops_mean": sum(iops) // len(iops) if whole else None,
                "iops": iops,
                "bw": rates,
            },
        }

    @property
    def options(self) -> dict[str, str]:
        """The options as fio takes them."""
        unit = "%" if self.percent else ""
        return {
            "steadystate": f"{self.criterion}:{self.limit:.10g}{unit}",
            "steadystate_duration": f"{self.duration_s}s",
            "steadystate_ramp_time": f"{self.ramp_ns // 1000}us",
        }


def wanted(section: Section, rw: str) -> SteadyState | None:
    """What a job's options ask for; raises errors of the section."""
    given = [name for name in OPTIONS if section.has(name)]
    if not given:
        return None
    if not section.has("steadystate"):
        raise section.wrong(given[0], "together with steadystate, e.g. steadystate=iops:5%")
    duration_ns = section.value("steadystate_duration", units.time_ns, 0)
    if not section.has("steadystate_duration") or duration_ns == 0:
        raise section.wrong(
            "steadystate",
            "together with a steadystate_duration, e.g. 60s; without one fio judges nothing",
        )
    if duration_ns % NS_PER_S or duration_ns < SECONDS_MIN * NS_PER_S:
        raise section.wrong("steadystate_duration", f"whole seconds, at least {SECONDS_MIN}")
    if rw.endswith("trim"):
        raise section.wrong("steadystate", "jobs that read or write")
    criterion, limit, percent = section.value(
        "steadystate", lambda text: _criterion(section, text), None
    )
    ramp_ns = section.value("steadystate_ramp_time", units.time_ns, 0)
    return SteadyState(criterion, limit, percent, duration_ns // NS_PER_S, ramp_ns)


def _criterion(section: Section, text: str) -> tuple[str, float, bool]:
    """Criterion, limit, and whether that is a percentage."""
    allowed = f"{', '.join(CRITERIA)}, each with :LIMIT or :LIMIT%, e.g. iops_slope:0.3%"
    criterion, _, limit = text.partition(":")
    if criterion not in CRITERIA:
        raise ValueError(f"{allowed}{nearest(criterion, CRITERIA)}")
    number, percent = limit.strip().removesuffix("%").strip(), limit.strip().endswith("%")
    try:
        if percent or criterion.startswith("iops"):
            if not re.fullmatch(r"\d+(\.\d+)?|\.\d+", number):
                raise ValueError
            value = float(number)
        else:
            value = float(section.size(number))
    except ValueError:
        raise ValueError(allowed) from None
    if value <= 0:
        raise ValueError("a limit above 0, as less than it is steady")
    return criterion, value, percent


def _deviation(values: Sequence[int]) -> float:
    """The largest distance from the mean."""
    mean = sum(values) / len(values)
    return max(abs(value - mean) for value in values)


def _slope(values: Sequence[int]) -> float:
    """Change per second of the line through the values by least squares."""
    count = len(values)
    middle, mean = (count - 1) / 2, sum(values) / count
    above = sum((index - middle) * (value - mean) for index, value in enumerate(values))
    return above / sum((index - middle) ** 2 for index in range(count))
