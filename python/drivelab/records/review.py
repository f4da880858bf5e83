"""The whole of results.json."""

from __future__ import annotations

from drivelab.records.figure import Figure
from drivelab.records.model import Model
from drivelab.records.record import Amount, Record
from drivelab.records.run import Run
from drivelab.records.state import State
from drivelab.records.test import Test


class Review(Record):
    """results.json: what a review measured."""

    drivelab: Run
    """Which run it was"""
    models: list[Model]
    """What was reviewed"""
    tests: list[Test]
    """What was measured, in the order of the report"""
    states: list[State]
    """How each state came about"""
    figures: list[Figure]
    """Published figures beside the modelled ones"""
    wall_s: Amount
    """Of the machine's time, in all"""
