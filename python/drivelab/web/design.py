"""What the view Design asks the server for: a model with some values changed, and its file."""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drivelab import model as models
from drivelab import model_file
from drivelab.model import Overrides
from drivelab.quantities import bytes_text
from drivelab.web import order as orders

Record = dict[str, Any]
NUMBER = re.compile(r"(a whole number|a number) from (\S+) to (\S+)")


def routes() -> list[BaseRoute]:
    """The form of a model, and its text."""
    return [Route("/api/design", form), Route("/api/design/model.toml", text)]


def form(request: Request) -> Response:
    """Every parameter with its range, as changed so far; 400 for a value that can't be."""
    name, overrides = _asked(request)
    changed, original = models.load(name, overrides), models.load(name)
    before = {item["key"]: item["value"] for item in original.parameters}
    return JSONResponse(
        {
            "name": changed.name,
            "title": original.title,
            "hash": changed.hash,
            "facts": list(_facts(changed, original)),
            "parameters": [
                _parameter(item, before.get(item["key"]))
                for item in changed.parameters
                if item["key"] not in ("name", "title", "scale_divisor")
            ],
        }
    )


def text(request: Request) -> Response:
    """The model as a file."""
    name, overrides = _asked(request)
    return Response(model_file.text(name, overrides), media_type="text/plain; charset=utf-8")


def _asked(request: Request) -> tuple[str, Overrides]:
    """Model and changes of an address, checked as those of a measurement are."""
    name = request.query_params.get("drive", "")
    settings = request.query_params.getlist("set")
    order = orders.checked({"models": [name], "settings": settings, "quick": True})
    orders.check_names(order)
    return name, [models.split_override(setting) for setting in settings]


def _facts(changed: models.Model, original: models.Model) -> list[tuple[str, str, str]]:
    """What follows from the parameters: title, now, before."""
    found = []
    for title, of in (
        ("User capacity", lambda m: bytes_text(m.user_capacity_bytes)),
        ("Raw flash", lambda m: "none" if m.is_disk else bytes_text(m.raw_capacity_bytes)),
        ("Effective spare area", _spare),
    ):
        found.append((title, of(changed), of(original)))
    return found


def _spare(model: models.Model) -> str:
    ratio = model.effective_spare_ratio
    return "none" if ratio is None else f"{100 * ratio:.1f} %"


def _parameter(item: Record, before: Any) -> Record:
    """A parameter with what its field takes."""
    keys = ("key", "value", "unit", "allowed", "help", "source", "role", "default")
    found = {key: item[key] for key in keys} | {"original": before}
    number = NUMBER.fullmatch(item["allowed"])
    if number is not None:
        found |= {"kind": "number", "min": float(number[2]), "max": float(number[3])}
        found["whole"] = number[1] == "a whole number"
    elif item["allowed"] == "true or false":
        found |= {"kind": "choice", "choices": ["true", "false"]}
    elif item["allowed"].startswith("one of ") and item["key"] != "family":
        found |= {"kind": "choice", "choices": item["allowed"].removeprefix("one of ").split(", ")}
    else:
        found["kind"] = "text"
    return found
