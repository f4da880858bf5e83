"""Lessons: a drive of a few pages, an operation of its flash at a time, from the same engine.

A lesson is a module with `LESSON`, and a line here.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any

from drivelab.errors import RequestError, nearest
from drivelab.lessons.lesson import Lesson

NAMES = (
    *("five-pages", "spare-area", "trim", "write-amplification"),
    *(
        "superblock-merge",
        "log-blocks",
        "compression-torture",
        "slc-cache",
        "power-cut",
        "disk-arm",
    ),
)
"""In the order in which they are learnt."""


def find(name: str) -> Lesson:
    """The lesson of a name; raises RequestError for an unknown one."""
    if name not in NAMES:
        raise RequestError(
            f'lesson "{name[:60]}" is unknown{nearest(name, NAMES)} Known: {", ".join(NAMES)}.'
        )
    module = importlib.import_module(f"drivelab.lessons.{name.replace('-', '_')}")
    lesson = module.LESSON
    assert isinstance(lesson, Lesson)
    return lesson


@lru_cache(maxsize=len(NAMES))
def record(name: str) -> dict[str, Any]:
    """A lesson that has been played, as JSON has it; raises RequestError for an unknown one."""
    return find(name).record()
