"""A published figure beside the modelled one."""

from __future__ import annotations

from typing import Literal

from drivelab.records.record import Record


class Bound(Record):
    """A parameter that moves a figure by 0.1 % or more, and by as much as another seed does, or by
    1 % in any case, when it is varied by 10 % (halved and doubled if it takes no value so near; a
    word or a switch has every other value)."""

    model: str
    """Whose parameter"""
    key: str
    """Which one"""
    role: str
    """Of its source: specified, fitted or informed"""
    change_down_ratio: float | None
    """What varying it down does to the figure; of a word or a switch, the most that any other value
    does; null: not possible, or not needed"""
    change_up_ratio: float | None
    """What varying it up does"""


class LeftOut(Record):
    """The error of a figure to which a parameter was fitted, had it been fitted to the others."""

    key: str
    """The parameter"""
    error_ratio: float
    """If it had been fitted to the other figures that it binds"""


class Input(Record):
    """A measurement, or property of a model, that a figure follows from."""

    name: str
    """In the formula"""
    model: str
    """Of which drive"""
    test_id: str | None
    """Which test; null of a property"""
    state: str | None
    """In which state"""
    quantity: str
    """Which number of it"""
    value: float | None
    """Null if it wasn't measured"""


class Figure(Record):
    """One published figure of `figures[]`; `drivelab figures --json` gives every one."""

    id: str
    """In `python/drivelab/figures/*.toml`"""
    drive: str
    """In the review's words, as the next ones"""
    firmware: str | None
    """Its version"""
    state: str
    """The drive's state"""
    kind: str
    """`measured`, or `derived` from several"""
    metric: str
    """What was measured"""
    unit: str
    """Of the values"""
    review: str
    """Which review"""
    relation: Literal["eq", "approx", "lt", "le", "gt", "ge", "range"]
    """How the truth relates to what was published"""
    published: float
    """The review's value; the middle of a range"""
    published_min: float | None
    """Lower end of a range"""
    published_max: float | None
    """Upper end of a range"""
    modelled: float | None
    """The model's value in the same unit; null if there is none"""
    error_ratio: float | None
    """modelled / published - 1; of a bound or range, 0 if it holds, else the distance to the
    nearest end; null of "about 0", to which there is no ratio"""
    satisfied: bool | None
    """Of bounds and ranges: whether it holds"""
    role: str
    """`predicted`: nothing that was chosen for a published performance binds it; `transferred`: a
    parameter does that was fitted to another figure; `informed`, `restated`: one does that was
    chosen with such results in view, or restates a specification; `fitted`: one was fitted to it,
    or to another figure of the same measurement; `not varied`: nobody has looked; `none`: not
    judged, see `reason`"""
    bound_by: list[Bound]
    """Specified, fitted and informed parameters that move it, the strongest first;
    what was fitted to it is one of the first three"""
    bound_by_stale: bool
    """Whether that was found on another form of a model (`drivelab figures --bindings` finds it
    anew)"""
    left_out: list[LeftOut]
    """Of figures to which something was fitted"""
    blind: bool
    """Whether the figure was kept back until the models stood"""
    modelled_before: float | None
    """What the models gave before anybody had seen it; null of all others, as the next ones"""
    error_before_ratio: float | None
    """How far off that was"""
    satisfied_before: bool | None
    """Whether that kept the bound"""
    model: str | None
    """The model of the drive; null if it is not among those compared"""
    model_state: str | None
    """The state, if it is one measurement"""
    test_id: str | None
    """The test, if it is one measurement"""
    formula: str | None
    """How it follows from measurements"""
    inputs: list[Input]
    """From which"""
    reason: str
    """Why nothing is modelled ("no model yet: ...", "not among the models compared: ...",
    "not measured: ..."), why it isn't judged, or what is to be said of it"""
    note: str
    """Remarks of the review, and what was assumed"""
