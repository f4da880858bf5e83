"""Rounds until the tracked variables are steady: the loop, its tables, its plots, its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.procedures.measured import Chart, Column, Row, Table
from drivelab.procedures.pts.settings import REVISION
from drivelab.procedures.pts.steady_state import (
    EXCURSION_LIMIT,
    SLOPE_LIMIT,
    WINDOW_ROUNDS,
    Verdict,
    last_window,
)
from drivelab.quantities import number

ROUND_SHARE = 0.15
"""Share of the remaining progress that a round takes: nobody knows how many there will be."""


@dataclass(frozen=True)
class Tracked:
    """A variable that decides whether the drive is steady."""

    key: str
    title: str
    unit: str


@dataclass(frozen=True)
class Convergence:
    """The tracked variables round by round, and what their last window says."""

    tracked: tuple[Tracked, ...]
    history: tuple[Mapping[str, float], ...]
    round_text: str
    """What a round is."""
    counted: bool = True
    """Whether the drive was written for long enough that a steady window means anything."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Of the last window, by tracked variable; none before there are five rounds."""
        found = (last_window([values[t.key] for values in self.history]) for t in self.tracked)
        return tuple(verdict for verdict in found if verdict is not None)

    @property
    def steady(self) -> bool:
        """Whether all tracked variables are steady in the same window."""
        verdicts = self.verdicts
        return self.counted and bool(verdicts) and all(verdict.steady for verdict in verdicts)

    @property
    def window(self) -> range:
        """Numbers of the rounds that results are taken from; rounds count from 1.

        With fewer rounds than a window has, all of them: `average_text` says so.
        """
        last = len(self.history)
        return range(max(1, last - WINDOW_ROUNDS + 1), last + 1)

    @property
    def average_text(self) -> str:
        """What results are the average of."""
        count = len(self.history)
        if count >= WINDOW_ROUNDS:
            return "average of the window"
        if not count:
            return "no whole round"
        return "the only round" if count == 1 else f"average of {count} rounds, too few of a window"

    def average(self, key: str) -> float | None:
        """Of a tracked variable over the window; None without a round."""
        values = [self.history[index - 1][key] for index in self.window]
        return sum(values) / len(values) if values else None

    def record(self) -> dict[str, Any]:
        """The steady-state box: in words for the report, in numbers for everything else."""
        window = self.window
        return {
            "reached": self.steady,
            "criterion": f"{REVISION}: max - min at most {float(EXCURSION_LIMIT):.0%} of the "
            f"average, line at most {float(SLOPE_LIMIT):.0%}, over {WINDOW_ROUNDS} rounds",
            "round": self.round_text,
            "rounds": len(self.history),
            "window": f"{window.start} to {window.stop - 1}"
            if len(self.history) >= WINDOW_ROUNDS
            else f"none: a window has {WINDOW_ROUNDS} rounds",
            **{
                variable.title: _sentence(variable, verdict)
                for variable, verdict in zip(self.tracked, self.verdicts, strict=False)
            },
            "variables": self._rows(),
        }

    def notes(self) -> tuple[str, ...]:
        """Said where the drive didn't get steady."""
        if self.steady:
            return ()
        late = [
            variable.title
            for variable, verdict in zip(self.tracked, self.verdicts, strict=False)
            if not verdict.steady
        ] or [variable.title for variable in self.tracked]
        return (
            f"Not steady after {len(self.history)} rounds: {', '.join(late)}. "
            "The results are those of the last rounds, not of a steady state.",
        )

    def tables(self) -> tuple[Table, ...]:
        """Variables by round, the window in percent of its average, and the verdict's numbers."""
        unit = self.tracked[0].unit
        rounds = Table(
            "convergence",
            "Tracked variables by round",
            (
                Column("round", "Round"),
                Column("variable", "Variable"),
                Column("value", "Tracked variable", unit),
            ),
            tuple(
                {"round": index, "variable": variable.title, "value": values[variable.key]}
                for index, values in enumerate(self.history, start=1)
                for variable in self.tracked
            ),
        )
        box = Table("steady_state", "Steady state", _BOX, tuple(self._rows()))
        return (rounds, self._window_table(), box) if self.verdicts else (rounds,)

    def charts(self) -> tuple[Chart, ...]:
        """Convergence, and the window with its limits and its line."""
        many = len(self.tracked) > 1
        rounds = Chart(
            "convergence",
            "Steady-state convergence",
            "lines",
            "round",
            "value",
            by="variable" if many else None,
            log_y=many,
        )
        window = Chart("window", "Measurement window", "lines", "round", "percent", by="line")
        return (rounds, window) if self.verdicts else (rounds,)

    def _rows(self) -> list[Row]:
        return [
            {
                "variable": variable.title,
                "unit": variable.unit,
                "first_round": verdict.first_round,
                "last_round": verdict.last_round,
                "average": verdict.average,
                "allowed_excursion": verdict.allowed_excursion,
                "excursion": verdict.excursion,
                "excursion_percent": verdict.excursion_percent,
                "allowed_slope_excursion": verdict.allowed_slope_excursion,
                "slope_excursion": verdict.slope_excursion,
                "slope_percent": verdict.slope_percent,
                "slope": verdict.slope,
                "line_start": verdict.line[0],
                "line_end": verdict.line[-1],
                "verdict": "steady" if verdict.steady else "not steady",
            }
            for variable, verdict in zip(self.tracked, self.verdicts, strict=False)
        ]

    def _window_table(self) -> Table:
        rows: list[Row] = []
        for variable, verdict in zip(self.tracked, self.verdicts, strict=False):
            scale = 100 / verdict.average if verdict.average else 0.0
            named = f"{variable.title}, " if len(self.tracked) > 1 else ""
            for line, values in (("measured", verdict.values), ("line", verdict.line)):
                rows += [
                    {"round": index, "line": named + line, "percent": value * scale - 100}
                    for index, value in enumerate(values, start=verdict.first_round)
                ]
        half = 50 * float(EXCURSION_LIMIT)
        for sign in (1, -1):
            line = f"average {'+' if sign > 0 else '-'} {half:.0f} %"
            rows += [
                {"round": index, "line": line, "percent": sign * half} for index in self.window
            ]
        return Table(
            "window",
            "Measurement window, against its average",
            (
                Column("round", "Round"),
                Column("line", "Line"),
                Column("percent", "Difference from the average", "%"),
            ),
            tuple(rows),
        )


_BOX = (
    Column("variable", "Variable"),
    Column("unit", "Unit"),
    Column("first_round", "First round"),
    Column("last_round", "Last round"),
    Column("average", "Average"),
    Column("allowed_excursion", "Allowed max - min"),
    Column("excursion", "Max - min"),
    Column("excursion_percent", "Max - min", "%"),
    Column("allowed_slope_excursion", "Allowed rise of the line"),
    Column("slope_excursion", "Rise of the line"),
    Column("slope_percent", "Rise of the line", "%"),
    Column("slope", "Slope per round"),
    Column("line_start", "Line, first round"),
    Column("line_end", "Line, last round"),
    Column("verdict", "Verdict"),
)


def _sentence(variable: Tracked, verdict: Verdict) -> str:
    unit = variable.unit
    return (
        f"average {number(verdict.average)} {unit}; "
        f"max - min {number(verdict.excursion)} of {number(verdict.allowed_excursion)} allowed "
        f"({number(verdict.excursion_percent, 3)} %); "
        f"line from {number(verdict.line[0])} to {number(verdict.line[-1])}, "
        f"slope {number(verdict.slope, 3)} per round ({number(verdict.slope_percent, 3)} %)"
    )


def until_steady(
    tracked: Sequence[Tracked],
    rounds_max: int,
    round_text: str,
    share: float,
    one_round: Callable[[int, float], Mapping[str, float] | None],
    counts: Callable[[], bool] = lambda: True,
) -> Convergence:
    """Repeats rounds until all tracked variables are steady, or there were enough of them.

    `one_round` gets the round's number and its share of the progress, and returns the tracked
    variables; None ends the rounds. A window is steady only if `counts` says so, too.
    """
    found = Convergence(tuple(tracked), (), round_text)
    left = share
    for index in range(1, rounds_max + 1):
        step = left * ROUND_SHARE
        left -= step
        values = one_round(index, step)
        if values is None:
            break
        found = Convergence(found.tracked, (*found.history, values), round_text, counts())
        if found.steady:
            break
    return found
