"""The application: files of the page, and what its views ask for."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from drivelab.charts import palette
from drivelab.errors import RequestError, WorkError
from drivelab.web import measuring
from drivelab.web.bench import Bench
from drivelab.web.security import GUARDED, Guard, refusal
from drivelab.web.views import VIEWS

STATIC = Path(__file__).parent / "static"


def application(bench: Bench) -> Starlette:
    """The page over the results of a bench."""
    shell = [
        Route(path, _shell)
        for view in VIEWS
        for path in (f"/{view.name}", f"/{view.name}/{{rest:path}}")
    ]
    app = Starlette(
        routes=[
            Route("/", _shell),
            Route("/api/views", _views),
            *measuring.routes(),
            *(route for view in VIEWS for route in view.routes()),
            Route("/static/palette.css", _palette),
            Mount("/static", StaticFiles(directory=STATIC)),
            *shell,
        ],
        middleware=[Middleware(Guard, port=bench.port, token=bench.token)],
        exception_handlers={
            RequestError: _wrong,
            WorkError: _failed,
            HTTPException: _http_error,
        },
        lifespan=_lifespan,
    )
    app.state.bench = bench
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    bench: Bench = app.state.bench
    async with bench.closing:
        bench.closing.push_async_callback(bench.jobs.close)
        yield


async def _shell(_: Request) -> Response:
    return _shell_file(HTTPStatus.OK)


def _shell_file(status: HTTPStatus) -> Response:
    headers = {"cache-control": "no-cache"}
    return FileResponse(STATIC / "index.html", status_code=status, headers=headers)


async def _views(_: Request) -> Response:
    keys = ("name", "title", "path_parts_max")
    return JSONResponse([{key: getattr(view, key) for key in keys} for view in VIEWS])


async def _palette(_: Request) -> Response:
    """The colours of charts; the reader's choice of a theme comes before the system's."""
    light = _properties(palette.LIGHT)
    dark = _properties(palette.DARK)
    text = (
        f":root {{ color-scheme: light; {light} }}\n"
        f':root[data-theme="dark"] {{ color-scheme: dark; {dark} }}\n'
        "@media (prefers-color-scheme: dark) {\n"
        f'  :root:not([data-theme="light"]) {{ color-scheme: dark; {dark} }}\n}}\n'
    )
    return Response(text, media_type="text/css", headers={"cache-control": "no-cache"})


def _properties(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


async def _wrong(_: Request, error: Exception) -> Response:
    return refusal(400, str(error))


async def _failed(_: Request, error: Exception) -> Response:
    return refusal(500, str(error))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == HTTPStatus.NOT_FOUND and not path.startswith((*GUARDED, "/static/")):
        # A reader who mistyped an address: the page says so, and has its menu.
        return _shell_file(HTTPStatus.NOT_FOUND)
    return refusal(error.status_code, error.detail)
