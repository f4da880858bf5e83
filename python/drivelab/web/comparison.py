"""What the view Compare asks the server for: drives to choose from, and a comparison of some.

Everything that is shown is computed by the code of `drivelab compare`; here it only becomes JSON.
"""

from __future__ import annotations

import importlib
import shlex
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drivelab import model as models
from drivelab import model_layers, procedures, states
from drivelab.comparison import Comparison, compare
from drivelab.comparison.document import document
from drivelab.comparison.sides import SIDES_MAX
from drivelab.errors import RequestError
from drivelab.web import bench, lacking, shown
from drivelab.web.choice import Choice
from drivelab.web.library import RUN_MARK, Holding, Kind, Library
from drivelab.web.order import TESTS_MAX, as_json, checked
from drivelab.web.work import SEVERAL_MAX

Record = dict[str, Any]
SUMMARY = (
    *("name", "title", "family", "released", "controller_name", "firmware"),
    *("user_capacity_bytes", "price_usd"),
)
KEPT_MAX = 8
"""Comparisons that are kept in memory, for their plots and files."""


@dataclass(frozen=True)
class Found:
    """Results of a choice, and what of it there is none of."""

    kind: Kind | None
    kinds: tuple[Kind, ...]
    """All that some of the drives have results of."""
    held: tuple[tuple[str, Holding], ...]
    """As the choice names them, and in its order."""
    missing: tuple[str, ...]

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """What is compared."""
        return tuple(item for _, item in self.held)


class Comparisons:
    """Comparisons of the last choices."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, Comparison] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, library: Library, choice: Choice, found: Found) -> Comparison:
        """A comparison, made once for all that is asked about it. Raises RequestError."""
        key = (choice, found.holdings, library.results, library.stamp)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = compared(library, choice, found)
                while len(self._kept) > KEPT_MAX:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]


COMPARISONS = Comparisons()


def routes() -> list[BaseRoute]:
    """Drives to choose from; a comparison, its plots, and as files."""
    return [
        Route("/api/drives", drives),
        Route("/api/compare", comparison),
        Route("/api/compare/plots", plots),
        Route("/api/compare/chart.svg", chart),
        Route("/api/compare/export.{form}", export),
    ]


def warm() -> None:
    """Does at start what the first page and the first comparison would wait for."""
    _shipped()
    importlib.import_module("drivelab.records.review")


def drives(request: Request) -> Response:
    """Every model, and what else there are results of."""
    library = bench.of(request).library
    held: dict[str, list[Holding]] = {}
    for item in library.holdings():
        held.setdefault(item.model, []).append(item)
    records = [summary | {"kinds": _kinds(held.pop(summary["name"], []))} for summary in _shipped()]
    # Drives of other files: real ones, models of one's own.
    records += [
        {"name": name, "title": items[0].title, "family": "", "kinds": _kinds(items)}
        for name, items in held.items()
    ]
    return JSONResponse(
        {
            "drives": records,
            "groups": [
                {"name": procedures.group_name(group), "title": group}
                for group in procedures.GROUPS
            ],
            "states": [state.name for state in states.STATES.values()],
            "limit": SIDES_MAX,
            "database": str(library.results),
        }
    )


@cache
def _shipped() -> tuple[Record, ...]:
    """What there is to say of the models that come along; reading them takes half a second."""
    summaries = (model.summary() for model in models.load_all())
    return tuple({key: found[key] for key in SUMMARY} for found in summaries)


def _kinds(items: Sequence[Holding]) -> list[Record]:
    return [
        {"id": kind.id, "title": kind.title} for kind in dict.fromkeys(item.kind for item in items)
    ]


def comparison(request: Request) -> Response:
    """A comparison of what there is, and what is missing of the choice."""
    choice, library = Choice.of(request), bench.of(request).library
    found = look_up(library, choice)
    kind = found.kind or (Kind.of(choice.kind) if choice.kind else None)
    answer: Record = {
        "kind": found.kind.id if found.kind else None,
        "option": kind.option if kind else "",
        "kinds": [{"id": kind.id, "title": kind.title} for kind in found.kinds],
        "missing": list(found.missing),
        "held": [{"key": key, **_held(item)} for key, item in found.held],
        "lacking": _lacking(found, choice),
        "first": _first(choice, found, kind) if found.missing and not found.held else [],
        "together": SEVERAL_MAX,
        "comparison": None,
        "refusal": None,
        "no_command": None,
    }
    if len(found.holdings) > 1:
        try:
            comparison = COMPARISONS.of(library, choice, found)
            answer["comparison"] = shown.comparison(comparison)
            if comparison.command_line is None:
                answer["no_command"] = no_command(library, found)
        except RequestError as error:
            answer["refusal"] = str(error)
    return JSONResponse(answer)


def _first(choice: Choice, found: Found, kind: Kind | None) -> list[Record]:
    """What measures drives of which there is nothing: `words` of its button, and the order of the
    tests and states that are chosen, or else those of a review."""
    lengths = [("Measure quickly", True), ("Measure in full", False)]
    if kind is not None:
        lengths = [] if kind.option else [("Measure", kind.length == "quick")]
    return [
        {
            "words": words,
            "order": as_json(
                checked(
                    {
                        "models": [key.partition(RUN_MARK)[0] for key in found.missing],
                        "tests": list(choice.selection.tests),
                        "states": list(choice.selection.states),
                        "quick": quick,
                        "scale": kind.scale if kind else 1,
                    }
                )
            ),
        }
        for words, quick in lengths
    ]


def _held(item: Holding) -> Record:
    return {
        "model": item.model,
        "title": item.title,
        "runs": list(item.runs),
        "seed": item.seed,
        "engine": item.engine,
        "states": list(dict.fromkeys(state for _, state in item.tests)),
        "again": _again(item),
    }


def _again(item: Holding) -> Record:
    """The order that measures another drive in the same way."""
    states_of: dict[str, set[str]] = {}
    for test, state in item.tests:
        if test in procedures.PROCEDURES:
            states_of.setdefault(test, set()).add(state)
    each = list(states_of.values())
    # Tests that were made in states of their own are made in those again without being told.
    same = sorted(each[0]) if each and all(found == each[0] for found in each) else []
    return {
        "tests": list(states_of) if len(states_of) <= TESTS_MAX else [],
        "states": [state for state in states.STATES if state in same],
        "settings": [],
        "quick": item.kind.length == "quick",
        "seed": item.seed,
        "scale": item.kind.scale,
    }


def _lacking(found: Found, choice: Choice) -> list[Record]:
    """By drive that lacks tests which another has: what they are called, and their orders."""
    orders = lacking.of(
        found.holdings,
        lambda test, state: choice.selection.takes(test.id, test.group, state),
    )
    return [
        {
            "key": key,
            "tests": [
                f"{procedures.PROCEDURES[test].title} ({', '.join(order['states'])})"
                for order in own
                for test in order["tests"]
            ],
            "orders": own,
        }
        for (key, _), own in zip(found.held, orders, strict=True)
        if own
    ]


def look_up(library: Library, choice: Choice) -> Found:
    """The results that a choice means: of the kind that most of its drives have.

    Raises RequestError for a name that nobody knows, or a kind that none of the drives has.
    """
    held = library.holdings()
    names = [key.partition(RUN_MARK)[0] for key in choice.drives]
    choice.check_drives(names, {*model_layers.known_names(), *(item.model for item in held)})
    choice.check_runs({(item.model, run) for item in held for run in item.runs})
    kinds = tuple(dict.fromkeys(item.kind for item in held if item.model in names))
    choice.check_kind({kind.id: kind.title for kind in kinds})
    kind = next((kind for kind in kinds if kind.id == choice.kind), None)
    if choice.kind is None and kinds:
        owners = {kind: {i.model for i in held if i.kind == kind} & set(names) for kind in kinds}
        kind = max(kinds, key=lambda kind: len(owners[kind]))
    pairs = [(key, library.find(key, kind)) for key in choice.drives]
    found = Found(
        kind,
        kinds,
        tuple((key, item) for key, item in pairs if item is not None and kind is not None),
        tuple(key for key, item in pairs if item is None or kind is None),
    )
    choice.check_states(state for item in held for _, state in item.tests)
    choice.check_tests(
        lambda: (test for item in found.holdings for test in library.source(item).document["tests"])
    )
    return found


def compared(library: Library, choice: Choice, found: Found) -> Comparison:
    """The comparison itself; raises RequestError if nothing may be compared."""
    whole = [library.source(item) for item in found.holdings]
    choice.selection.check(whole)
    sources = [choice.selection.of(source) for source in whole]
    return compare(sources, command_line(library, choice, found), force=choice.forced)


def no_command(library: Library, found: Found) -> str | None:
    """Why no command compares what is compared here; None if one does.

    There every drive of every run is a side; here runs of a drive are taken together.
    """
    counted = [library.counted(item) for item in found.holdings]
    for item, runs in zip(found.holdings, counted, strict=True):
        if len(runs) > 1:
            named = ", ".join(str(run) for run, _ in runs)
            return (
                f"results of {item.title} are taken together from runs {named}, each of which is "
                "a side of its own there"
            )
    documents = dict(run for runs in counted for run in runs)
    count = sum(len(document["models"]) for document in documents.values())
    if count > SIDES_MAX:
        return f"there all {count} drives of these runs are sides, and {SIDES_MAX} at most may be"
    return None


def command_line(library: Library, choice: Choice, found: Found) -> str | None:
    """What compares the runs of these drives, there with all drives that they hold; None where no
    command does."""
    if no_command(library, found) is not None:
        return None
    sides = dict.fromkeys(
        f"{library.results}:{run}" for item in found.holdings for run, _ in library.counted(item)
    )
    words = ["drivelab", "compare", *sides]
    chosen = choice.selection
    for option, names in (("--tests", chosen.tests), ("--states", chosen.states)):
        words += [option, ",".join(names)] if names else []
    return shlex.join([*words, *(["--force"] if choice.forced else [])])


def _asked(request: Request, more: Sequence[str] = ()) -> Comparison:
    choice, library = Choice.of(request, more), bench.of(request).library
    return COMPARISONS.of(library, choice, look_up(library, choice))


def plots(request: Request) -> Response:
    """The rows of every plot over time, over position and of latencies."""
    return JSONResponse(shown.plots(_asked(request)))


def chart(request: Request) -> Response:
    """A chart of a test of many numbers, as a picture."""
    theme = "dark" if request.query_params.get("theme") == "dark" else "light"
    drawn = shown.chart(_asked(request, ("id", "theme")), request.query_params.get("id", ""))
    return Response(drawn.svg(theme), media_type="image/svg+xml")


def export(request: Request) -> Response:
    """The comparison as a file: compare.json, compare.html, or its rows as CSV."""
    found = _asked(request)
    form = request.path_params["form"]
    if form == "json":
        return JSONResponse(document(found))
    if form == "csv":
        return Response(shown.csv(found), media_type="text/csv")
    if form == "html":
        from drivelab.comparison import page

        return Response(page.render(found), media_type="text/html")
    raise RequestError(f'export "{form[:20]}": allowed: csv, json, html')
