"""What the view Traces asks the server for: traces of the folder, and what replays measured.

A trace that a page sends is written to the folder as it comes, and stays there only if it is one:
a process of its own looks at it before anything else does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drivelab import database, stored
from drivelab.comparison.sides import SIDES_MAX
from drivelab.errors import RequestError
from drivelab.states import STATES
from drivelab.web import bench, security, trace_check
from drivelab.web.folder import PART
from drivelab.web.security import FILE_BYTES_MAX

Record = dict[str, Any]
PATIENCE_S = 120.0
"""For the process that looks at a trace."""
BODY_S = 300.0
"""For a trace to arrive."""
KNOWN_MAX = 200
"""Traces whose contents are remembered."""
USUAL_STATE = "used"


class Looks:
    """Looks at traces, one at a time, and remembers what was seen."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._arriving = asyncio.Lock()
        self._seen: dict[tuple[str, int, int], Record] = {}

    @property
    def is_busy(self) -> bool:
        """Whether a trace is being looked at, or taken in."""
        return self._turn.locked() or self._arriving.locked()

    @contextlib.asynccontextmanager
    async def arrival(self) -> Any:
        """Nobody else sends meanwhile, for there is room for so much; what is there is looked at
        all the same, however long this takes."""
        async with self._arriving:
            yield

    @contextlib.asynccontextmanager
    async def turn(self) -> Any:
        """Nobody else looks meanwhile."""
        async with self._turn:
            yield

    async def at(self, file: Path) -> Record:
        """What a trace holds; raises RequestError for a file that is none."""
        found = file.stat()
        key = (str(file), found.st_mtime_ns, found.st_size)
        if key not in self._seen:
            told = await _looked_at(file, file.name.removesuffix(PART))
            while len(self._seen) >= KNOWN_MAX:
                del self._seen[next(iter(self._seen))]
            self._seen[key] = told
        told = self._seen[key]
        if "error" in told:
            raise RequestError(str(told["error"])[:1000])
        seen: Record = told["trace"]
        return seen


LOOKS = "trace_looks"


def _looks(request: Request) -> Looks:
    """Those of the server."""
    kept = request.app.state
    if not hasattr(kept, LOOKS):
        setattr(kept, LOOKS, Looks())
    found = getattr(kept, LOOKS)
    assert isinstance(found, Looks)
    return found


async def _looked_at(file: Path, name: str) -> Record:
    """What the process says of a file, which is told by this name."""
    process = await asyncio.create_subprocess_exec(
        *trace_check.command(file, name),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), PATIENCE_S)
        told: Record = json.loads(said)
    except (TimeoutError, ValueError):
        # Out of memory or time, it says nothing. That isn't remembered: the machine may be busy.
        raise trace_check.too_much(name) from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return told


def routes() -> list[BaseRoute]:
    """Below /api/traces."""
    return [
        Route("/api/traces", listed, methods=["GET"]),
        Route("/api/traces", taken, methods=["POST"]),
        Route("/api/traces/about", about),
        Route("/api/traces/results", results),
    ]


async def listed(request: Request) -> Response:
    """Traces that are there, and what may be asked of a replay."""
    folder = bench.of(request).folder
    return JSONResponse(
        {
            "traces": await run_in_threadpool(folder.traces),
            "folder": str(folder.traces_place),
            "beside": bench.of(request).library.results.name,
            "bytes_max": FILE_BYTES_MAX,
            "states": list(STATES),
            "state": USUAL_STATE,
            "limit": SIDES_MAX,
        }
    )


async def about(request: Request) -> Response:
    """What a trace holds; 400 for one that isn't there, or that is none."""
    folder, looks = bench.of(request).folder, _looks(request)
    file = await run_in_threadpool(folder.trace, request.query_params.get("name", ""))
    async with looks.turn():
        return JSONResponse(await looks.at(file))


async def taken(request: Request) -> Response:
    """Takes a trace in: 201 with what it holds, 400 if it is none."""
    folder, looks = bench.of(request).folder, _looks(request)
    if looks.is_busy:
        return security.refusal(429, "another trace is being looked at: try again in a moment")
    async with looks.arrival():
        name = request.query_params.get("name", "")
        place = await run_in_threadpool(folder.new_trace, name)
        part = place.with_name(place.name + PART)
        _clear(part)
        try:
            async with asyncio.timeout(BODY_S):
                is_whole = await _written(request, part)
            if not is_whole:
                reason = f"the file is too long; allowed: {FILE_BYTES_MAX} bytes"
                return security.refusal(413, reason)
            async with looks.turn():
                found = await looks.at(part)
            folder.keep_trace(part, name)
        except ClientDisconnect:
            return security.refusal(400, "the file did not arrive whole")
        except TimeoutError:
            return security.refusal(408, f"the file did not arrive within {BODY_S:g} s")
        finally:
            part.unlink(missing_ok=True)
    return JSONResponse(found, status_code=201)


def _clear(part: Path) -> None:
    """Takes away what an upload left that was ended with its server, or a link of that name."""
    try:
        part.unlink(missing_ok=True)
    except OSError as error:
        raise RequestError(f'"{part.name}" is in the way: {error.strerror}') from None


async def _written(request: Request, part: Path) -> bool:
    """Writes a body as it comes; False if it is longer than it may be."""
    length = 0
    # A new file: a link that appears meanwhile is not followed.
    with part.open("xb") as file:
        async for piece in request.stream():
            length += len(piece)
            if length > FILE_BYTES_MAX:
                return False
            await run_in_threadpool(file.write, piece)
    return True


def results(request: Request) -> Response:
    """What replays measured, by the numbers of their runs; 400 for a run that is none."""
    library = bench.of(request).library
    numbers = request.query_params.getlist("run")
    if not 1 <= len(numbers) <= SIDES_MAX:
        raise RequestError(f"run: allowed: 1 to {SIDES_MAX} numbers")
    found = []
    for number in numbers:
        if len(number) > 9 or not number.isascii() or not number.isdigit():
            raise RequestError(f'run "{number[:20]}": allowed: the number of a run')
        with library.turn:
            run = stored.read(library.results, int(number), "FILE")
        if run.kind != database.REPLAY:
            raise RequestError(f"run {number}: it is no replay of a trace")
        found.append(_row(int(number), run))
    return JSONResponse(found)


def _row(number: int, run: database.Recorded) -> Record:
    """A replay in a line."""
    own, done = run.document["drivelab"], run.document["replay"]
    directions = {
        name: {
            "ios": done[name]["ios"],
            "mean_us": done[name]["latency_us"]["mean"],
            "p99_us": done[name]["latency_us"].get("p99"),
            "max_us": done[name]["latency_us"]["max"],
            "lateness_ms": done[name]["lateness_ms"],
        }
        for name in ("read", "write")
        if done[name]["ios"]
    }
    [model] = run.models
    return {
        "run": number,
        "model": own["model"],
        "title": model["title"],
        "state": own["state"],
        "pacing": own["pacing"],
        "trace": run.document["trace"]["file"],
        "command_line": own["command_line"],
        "busy_s": done["busy_s"],
        "duration_s": done["duration_s"],
        "mib_per_busy_s": done["mib_per_busy_s"],
        "write_amplification": done["write_amplification"],
        "unmapped_read_share": done["unmapped_read_share"],
        "map_read_bytes": done.get("map_read_bytes"),
        "price_usd": model.get("price_usd"),
        "directions": directions,
    }
