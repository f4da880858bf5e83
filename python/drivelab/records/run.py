"""Which run it was, and what it is repeated with."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from drivelab.records.record import Count, Record, misfit


class Repeats(Record):
    """The seeds of a run with `--repeat`."""

    count: Count
    """How many"""
    seeds: list[Count]
    """The first is the run's own"""

    @model_validator(mode="after")
    def _are_as_many(self) -> Self:
        if self.count != len(self.seeds):
            raise misfit(f"count is {self.count}; allowed: {len(self.seeds)}, as many as seeds")
        return self


class Run(Record):
    """`drivelab`: which run it was."""

    schema_version: Annotated[Count, Field(alias="schema")]
    """Of this file; older ones are read, too"""
    engine_version: str
    """Of drivelab"""
    command_line: str
    """Repeats the run"""
    seed: Count
    """Same seed, same results"""
    quick: bool
    """Whether tests were cut short: streams to 10 s, others to a part of their work"""
    unabridged: bool
    """Whether a test ran at full length that is cut short by default"""
    repeats: Repeats | None = None
    """Only with `--repeat`"""
    span_bytes: Count | None = None
    """Only with `--span`: tests kept to so many first bytes of each drive"""
