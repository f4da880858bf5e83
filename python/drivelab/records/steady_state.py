"""What a test says of its steady state."""

from __future__ import annotations

from pydantic import ConfigDict

from drivelab.records.record import Count, Record


class Window(Record):
    """What the last window of rounds says of a tracked variable; all but rounds and percents are in
    its unit."""

    variable: str
    """What is tracked"""
    unit: str
    """Its unit"""
    first_round: Count
    """Of the window; rounds count from 1"""
    last_round: Count
    """Of the window"""
    average: float
    """Over the window"""
    allowed_excursion: float
    """Largest max - min of a steady window"""
    excursion: float
    """Max - min"""
    excursion_percent: float | None
    """In percent of the average"""
    allowed_slope_excursion: float
    """Largest rise or fall of the fitted line within a steady window"""
    slope_excursion: float
    """Its rise or fall"""
    slope_percent: float | None
    """In percent of the average"""
    slope: float
    """Of the line, per round"""
    line_start: float
    """The line at the first round"""
    line_end: float
    """The line at the last round"""
    verdict: str
    """`steady` or `not steady`"""


class SteadyState(Record):
    """Whether a test got steady, and what decided it. By title of each variable it has a sentence,
    too."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str]

    reached: bool
    """Whether all variables were steady in the same window"""
    criterion: str
    """The rule, with its limits"""
    round: str
    """What a round is"""
    rounds: Count
    """How many there were"""
    window: str
    """Rounds of the window in words"""
    variables: list[Window]
    """One for each tracked variable; none before there is a window"""
