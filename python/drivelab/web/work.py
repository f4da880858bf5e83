"""What pages may have measured: reviews, replays of traces, studies. One queue takes them all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, TypeAdapter, ValidationError

from drivelab import database, failures
from drivelab import review as laboratory
from drivelab.errors import RequestError
from drivelab.progress import Heard
from drivelab.web import order as reviews
from drivelab.web.figure_order import FigureOrder
from drivelab.web.folder import Folder
from drivelab.web.order import Order
from drivelab.web.replay_order import ReplayOrder
from drivelab.web.study_order import StudyOrder

Record = dict[str, Any]
REVIEW, REPLAY, STUDY, FIGURE = "review", "replay", "study", "published"
TAGS = (REVIEW, REPLAY, STUDY, FIGURE)
KINDS = {"replay": REPLAY, "sensitivity": STUDY, "sweep": STUDY, "figure": FIGURE}
"""By the word that an order begins with; without one it is a review."""
SENTENCES_MAX = 8
"""Of what failed in a review; the rest is counted, and the run has it all."""
SEVERAL_MAX = 16
"""Orders that one request may queue together."""


def _kind(value: Any) -> str:
    word = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return REVIEW if word is None else KINDS.get(word, "") if isinstance(word, str) else ""


Work = Annotated[
    Annotated[Order, Tag(REVIEW)]
    | Annotated[ReplayOrder, Tag(REPLAY)]
    | Annotated[StudyOrder, Tag(STUDY)]
    | Annotated[FigureOrder, Tag(FIGURE)],
    Discriminator(_kind),
]
AnyOrder = Order | ReplayOrder | StudyOrder | FigureOrder
ONE: TypeAdapter[AnyOrder] = TypeAdapter(Work)
SEVERAL: TypeAdapter[list[AnyOrder]] = TypeAdapter(
    Annotated[list[Work], Field(min_length=1, max_length=SEVERAL_MAX)]
)


def read(body: bytes) -> AnyOrder:
    """The order in a request; raises RequestError that names the first thing that is wrong."""
    try:
        return ONE.validate_json(body)
    except ValidationError as error:
        raise reviews.wrong(error, TAGS) from None


def read_several(body: bytes) -> list[AnyOrder]:
    """The orders in a request that are queued together; raises RequestError as `read` does."""
    try:
        return SEVERAL.validate_json(body)
    except ValidationError as error:
        raise reviews.wrong(error, TAGS) from None


def check(order: AnyOrder, folder: Folder) -> None:
    """Raises RequestError for an order that can't be carried out."""
    if isinstance(order, Order):
        if not any(reviews.plan(order).measurements.values()):
            raise RequestError("nothing of this can be measured on these drives")
        return
    order.check(folder)


def described(order: AnyOrder) -> Record:
    """An order as pages read it."""
    if isinstance(order, Order):
        title, line, kind = reviews.title(order), reviews.command_line(order), REVIEW
    elif isinstance(order, ReplayOrder):
        title, line, kind = order.title, order.command_lines, REPLAY
    else:
        title, line, kind = order.title, order.command_line(), STUDY
    study = order.id if isinstance(order, StudyOrder | FigureOrder) else None
    own = {"title": title, "command_line": line, "kind": kind, "study": study}
    return own | {"order": order.model_dump()}


def measure(order: AnyOrder, results: Path, heard: Heard) -> Record:
    """Carries an order out: the runs that it has recorded, if any; and of a review of which some
    tests failed, which and why, under "error"."""
    check(order, Folder(results))
    if isinstance(order, StudyOrder | FigureOrder):
        order.measure(results, heard)
        return {"runs": []}
    if isinstance(order, ReplayOrder):
        return {"runs": order.measure(results, heard)}
    found = laboratory.run(reviews.plan(order), shown=False, heard=heard)
    runs = [database.append(results, database.Recorded.review(found), "FILE")]
    return {"runs": runs, "error": told(failures.sentences(found.get("failed", ())))}


def told(sentences: Sequence[str]) -> str:
    """What a page says of tests that failed: as many sentences as it has room for."""
    shown = sentences[:SENTENCES_MAX]
    more = len(sentences) - len(shown)
    return "; ".join([*shown, *([f"and {more} more"] if more else [])])
