"""The queue of measurements as pages reach it; every view may start some."""

from __future__ import annotations

import asyncio
import contextlib

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from drivelab.web import bench, security, work
from drivelab.web.jobs import FullError, Record
from drivelab.web.work import AnyOrder


def routes() -> list[BaseRoute]:
    """List, start (one, or several), cancel; and a WebSocket that tells of every change."""
    return [
        Route("/api/jobs", listed, methods=["GET"]),
        Route("/api/jobs", start, methods=["POST"]),
        Route("/api/jobs/together", start_together, methods=["POST"]),
        Route("/api/jobs/{id:number}", cancel, methods=["DELETE"]),
        WebSocketRoute("/socket/jobs", follow),
    ]


async def listed(request: Request) -> Response:
    """All jobs that the server remembers."""
    return JSONResponse(bench.of(request).jobs.records())


async def start(request: Request) -> Response:
    """Queues an order; 400 with the reason for one that can't be carried out."""
    found = await _queued(request, [work.read(await request.body())])
    return found if isinstance(found, Response) else JSONResponse(found[0], status_code=202)


async def start_together(request: Request) -> Response:
    """Queues orders that mean little without each other: all of them, or none."""
    found = await _queued(request, work.read_several(await request.body()))
    return found if isinstance(found, Response) else JSONResponse(found, status_code=202)


async def _queued(request: Request, asked: list[AnyOrder]) -> list[Record] | Response:
    for order in asked:
        await run_in_threadpool(work.check, order, bench.of(request).folder)
    try:
        return await bench.of(request).jobs.add(*asked)
    except FullError as error:
        return security.refusal(429, str(error))


async def cancel(request: Request) -> Response:
    """Cancels a job, waiting or running."""
    found = await bench.of(request).jobs.cancel(request.path_params["id"])
    return security.refusal(404, "there is no such job") if found is None else JSONResponse(found)


async def follow(socket: WebSocket) -> None:
    """Sends all jobs whenever one has changed; what the page sends is ignored."""
    await socket.accept(subprotocol=security.PROTOCOL)
    sending = asyncio.create_task(_send(socket))
    try:
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
    finally:
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError, RuntimeError, WebSocketDisconnect):
            await sending


async def _send(socket: WebSocket) -> None:
    async for records in bench.of(socket).jobs.changes():
        await socket.send_json(records)
