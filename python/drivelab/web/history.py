"""What the view History asks the server for: runs, tags, a number over them, reports."""

from __future__ import annotations

import dataclasses
import json
import secrets
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drivelab import report, stored
from drivelab.comparison.sides import SIDES_MAX
from drivelab.database import REVIEW, history
from drivelab.errors import RequestError
from drivelab.report import quantities as q
from drivelab.web import bench, security
from drivelab.web.library import Library

Record = dict[str, Any]
PAGES_MAX = 32
"""Reports that may be open, by their addresses."""
SANDBOX = "; ".join((
    # An origin of its own: the page has no way to the token, or to this server.
    "sandbox allow-scripts allow-downloads",
    "default-src 'none'",
    "script-src 'unsafe-inline'",
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "frame-ancestors 'none'",
))  # fmt: skip
"""Of reports, which are files that need nothing else: their scripts are inside of them."""


def routes() -> list[BaseRoute]:
    """Runs; tags; numbers; and reports, by an address that nobody can guess."""
    return [
        Route("/api/history", runs),
        Route("/api/history/number", number),
        Route("/api/history/{run:number}/tags", tag, methods=["POST"]),
        Route("/api/history/{run:number}/report", open_report, methods=["POST"]),
        Route("/report/{ticket}", show_report),
    ]


def runs(request: Request) -> Response:
    """Every run, the newest first."""
    library = bench.of(request).library
    if library.stamp is None:
        found = {"runs": [], "database": str(library.results), "numbers": {}, "values": {}}
        return JSONResponse(found | {"limit": SIDES_MAX})
    with library.turn:
        given = history.tags(library.results, "FILE")
        values = history.values(library.results, "FILE")
    records: dict[int, Record] = {}
    for row in library.rows():
        run = records.setdefault(
            row["run_id"],
            {
                "run": row["run_id"],
                **{key: row[key] for key in ("kind", "command_line", "seed", "quick", "wall_s")},
                "engine": row["engine_version"],
                "tags": given.get(row["run_id"], []),
                "drives": [],
            },
        )
        run["drives"].append(
            {
                **{key: row[key] for key in ("model", "title", "hash")},
                "tests": [[test["test"], test["state"]] for test in row["tests"]],
            }
        )
    return JSONResponse(
        {
            "runs": list(reversed(records.values())),
            "database": str(library.results),
            "limit": SIDES_MAX,
            "numbers": {
                name: dataclasses.asdict(number) for name, number in history.NUMBERS.items()
            },
            "values": values,
        }
    )


def number(request: Request) -> Response:
    """A number of a test over all runs."""
    words = [request.query_params.get(key, "") for key in ("model", "test", "state", "number")]
    model, test, state, name = words
    library = bench.of(request).library
    with library.turn:
        found = history.over_runs(library.results, model, test, state, name, "FILE")
    spans = ({"span": row["span_bytes"] and q.size(row["span_bytes"])} for row in found)
    return JSONResponse([row | span for row, span in zip(found, spans, strict=True)])


async def tag(request: Request) -> Response:
    """Replaces the tags of a run."""
    try:
        words = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise RequestError("the body is no JSON") from None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise RequestError("tags: allowed: a list of texts")
    library, run = bench.of(request).library, request.path_params["run"]

    def change() -> list[str]:
        with library.turn:
            history.tag(library.results, run, words, "FILE")
            return history.tags(library.results, "FILE").get(run, [])

    return JSONResponse(await run_in_threadpool(change))


def open_report(request: Request) -> Response:
    """An address at which the report of a run is shown, as long as the server lives."""
    run = request.path_params["run"]
    _report(bench.of(request).library, run, check=True)
    tickets = bench.of(request).reports
    ticket = secrets.token_urlsafe(24)
    tickets[ticket] = run
    while len(tickets) > PAGES_MAX:
        del tickets[next(iter(tickets))]
    return JSONResponse({"address": f"/report/{ticket}"}, status_code=201)


def show_report(request: Request) -> Response:
    """The report; its address was given to a page that had the token."""
    found = bench.of(request)
    run = found.reports.get(request.path_params["ticket"])
    if run is None:
        return security.refusal(404, "this report is no longer open: open it from History")
    page = _report(found.library, run)
    return Response(
        page,
        media_type="text/html",
        headers={"content-security-policy": SANDBOX, "cache-control": "no-store"},
    )


def _report(library: Library, run: int, *, check: bool = False) -> str:
    """The page of a review; raises RequestError for another run, and for none."""
    if not any(row["run_id"] == run and row["kind"] == REVIEW for row in library.rows()):
        raise RequestError(f"run {run}: there is no review of this number")
    if check:
        return ""
    with library.turn:
        found = stored.read(library.results, run, "FILE")
    return report.render(dict(found.document))
