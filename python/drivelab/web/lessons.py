"""What the view Learn asks the server for: lessons that have been played, and each as a file."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drivelab import lessons
from drivelab.lessons import page


def routes() -> list[BaseRoute]:
    """Below /api/lessons."""
    return [
        Route("/api/lessons", _list),
        Route("/api/lessons/{name}", _lesson),
        Route("/api/lessons/{name}/page", _page),
    ]


async def _list(_: Request) -> Response:
    return JSONResponse(await run_in_threadpool(_titles))


def _titles() -> list[dict[str, Any]]:
    found = map(lessons.find, lessons.NAMES)
    return [{"name": item.name, "title": item.title, "about": item.about} for item in found]


async def _lesson(request: Request) -> Response:
    record = await run_in_threadpool(lessons.record, request.path_params["name"])
    return JSONResponse(record)


async def _page(request: Request) -> Response:
    """Saved, not shown: it carries its script in itself, which pages of this server may not."""
    name = request.path_params["name"]
    record = await run_in_threadpool(lessons.record, name)
    headers = {"content-disposition": f'attachment; filename="{record["name"]}.html"'}
    return Response(page.html(record), media_type="text/html", headers=headers)
