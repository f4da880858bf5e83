"""The queue of measurements as pages reach it; every view may start some."""

from __future__ import annotations

import asyncio
import contextlib

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from drivelab.web import bench, security
from drivelab.web import order as orders
from drivelab.web.jobs import FullError


def routes() -> list[BaseRoute]:
    """List, start, cancel; and a WebSocket that tells of every change."""
    return [
        Route("/api/jobs", listed, methods=["GET"]),
        Route("/api/jobs", start, methods=["POST"]),
        Route("/api/jobs/{id:number}", cancel, methods=["DELETE"]),
        WebSocketRoute("/socket/jobs", follow),
    ]


async def listed(request: Request) -> Response:
    """All jobs that the server remembers."""
    return JSONResponse(bench.of(request).jobs.records())


async def start(request: Request) -> Response:
    """Queues an order; 400 with the reason for one that can't be carried out."""
    order = orders.read(await request.body())
    plan = await run_in_threadpool(orders.plan, order)
    if not any(plan.measurements.values()):
        return security.refusal(400, "nothing of this can be measured on these drives")
    try:
        return JSONResponse(await bench.of(request).jobs.add(order), status_code=202)
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
