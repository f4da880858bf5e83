"""A test of a review that has no result."""

from __future__ import annotations

from typing import Literal

from drivelab.records.record import Record


class Failed(Record):
    """A test that failed, or was left out because its state failed."""

    model: str
    """Of which drive"""
    state: str
    """In which state it was to be measured"""
    id: str
    """Which test"""
    title: str
    """For people"""
    group: str
    """As in `drivelab list --tests`"""
    cause: Literal["test", "state"]
    """What failed: the test, or its state (or one before that)"""
    reason: str
    """What it was called and ended with; of a function of one's own with its file and line"""
