"""What the view Design asks the server for: a model with some values changed, and its file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from drivelab import model as models
from drivelab import model_file, sources
from drivelab.errors import RequestError
from drivelab.figures import reach
from drivelab.figures.published import title_of
from drivelab.figures.text import published_text
from drivelab.lab import study_plots
from drivelab.lab.figure_variations import ROLES
from drivelab.model import Overrides
from drivelab.model_texts import CAPACITIES
from drivelab.quantities import bytes_text
from drivelab.states import STATES
from drivelab.web import bench, security
from drivelab.web import order as orders
from drivelab.web.study_order import DRIVE_KEYS, JOB_KEYS, JOBS, POINTS_MAX, VALUES_MAX

Record = dict[str, Any]
METRICS = {
    "iops": "Requests per second",
    "mib_per_s": "MiB/s",
    "latency_mean_us": "Mean latency, µs",
    "latency_p99_us": "99 % of latencies under, µs",
    "latency_max_us": "Longest latency, µs",
    "write_amplification": "Write amplification",
}
UNSHOWN = ("name", "title", "scale_divisor")
"""Parameters that have a place of their own, or none."""
STUDY_ID = re.compile(r"[0-9a-f]{16}")
NUMBER = re.compile(r"(a whole number|a number) from (\S+) to (\S+)")


def routes() -> list[BaseRoute]:
    """The form of a model, and its text."""
    return [
        Route("/api/design", form),
        Route("/api/design/model.toml", text),
        Route("/api/design/offered", offered),
        Route("/api/design/figures", reached),
        Route("/api/design/studies/{id}", study),
        Route("/api/design/studies/{id}/rows.csv", rows),
        Route("/api/design/studies/{id}/chart.svg", chart),
    ]


def offered(_: Request) -> Response:
    """What a study may measure, and which of its numbers are drawn."""
    return JSONResponse(
        {
            "jobs": [{"name": name, "title": title} for name, (title, _) in JOBS.items()],
            "states": list(STATES),
            "metrics": [{"name": name, "title": title} for name, title in METRICS.items()],
            "job_keys": list(JOB_KEYS),
            "drive_keys": list(DRIVE_KEYS),
            "points_max": POINTS_MAX,
            "values_max": VALUES_MAX,
            "roles": [{"name": role, "usual": role in ROLES} for role in sources.ROLES],
        }
    )


def reached(request: Request) -> Response:
    """The published figures that a model reaches: value, unit, and the role that a model's has."""
    name = request.query_params.get("drive", "")
    orders.check_names([name])
    keys = ("id", "drive", "state", "metric", "unit", "role", "reason", "formula", "note")
    found = reach.described(reach.reached_by(models.load(name).name))
    return JSONResponse(
        [
            {key: f[key] for key in keys}
            | {"published": published_text(f), "source": title_of(f["review"])}
            for f in found
        ]
    )


def rows(request: Request) -> Response:
    """What a study measured as CSV: the rows of its `frame()`."""
    found = _kept(request)
    if found is None:
        return security.refusal(404, "there is no such study")
    import polars as pl

    return Response(
        pl.DataFrame(found["rows"], infer_schema_length=None).write_csv(), media_type="text/csv"
    )


def study(request: Request) -> Response:
    """A study that was measured; null while there is none of this name."""
    return JSONResponse(_kept(request))


def chart(request: Request) -> Response:
    """A number of a sweep over what was varied, as a picture."""
    found = _kept(request)
    metric = request.query_params.get("metric", "")
    if found is None or "keys" not in found:
        return security.refusal(404, "there is no such sweep")
    if metric not in METRICS:
        raise RequestError(f'metric "{metric[:40]}": allowed: {", ".join(METRICS)}')
    theme = "dark" if request.query_params.get("theme") == "dark" else "light"
    drawn = study_plots.of_rows(found["rows"], found["keys"], metric, METRICS[metric])
    return Response(drawn.svg(theme), media_type="image/svg+xml")


def _kept(request: Request) -> Record | None:
    """The study that an address names."""
    name = request.path_params["id"]
    return bench.of(request).folder.study(name) if STUDY_ID.fullmatch(name) else None


def form(request: Request) -> Response:
    """Every parameter with its range, as changed so far; 400 for a value that can't be."""
    name, overrides = _asked(request)
    changed, original = models.load(name, overrides), models.load(name)
    return JSONResponse(
        {
            "name": changed.name,
            "title": original.title,
            "hash": changed.hash,
            "notes": _notes(changed, request.query_params.get("scale", "1")),
            "facts": list(_facts(changed, original)),
            "parameters": list(_parameters(changed, original)),
        }
    )


def _notes(changed: models.Model, scale: str) -> list[str]:
    """What the drive that is measured says of itself, or why there is none of its size."""
    if not scale.isdecimal() or not 1 < int(scale) <= orders.SCALE_MAX:
        return changed.notes
    stated = [key for key, _ in changed.texts.overrides]
    try:
        if models.SCALE in stated:
            raise RequestError(f"{models.SCALE} is there twice: as a size and among the changes")
        return changed.with_overrides([(models.SCALE, scale)]).notes
    except RequestError as error:
        return [str(error)]


def text(request: Request) -> Response:
    """The model as a file."""
    name, overrides = _asked(request)
    return Response(model_file.text(name, overrides), media_type="text/plain; charset=utf-8")


def _asked(request: Request) -> tuple[str, Overrides]:
    """Model and changes of an address, checked as those of a measurement are."""
    name = request.query_params.get("drive", "")
    settings = request.query_params.getlist("set")
    order = orders.checked({"models": [name], "settings": settings, "quick": True})
    orders.check_names(order.models)
    return name, models.split_overrides(settings)


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


def _parameters(changed: models.Model, original: models.Model) -> Iterator[Record]:
    """What is stated or could be, in the order of the original: what it leaves out at the end, but
    for the other one of capacity and spare area."""
    before, now = _by_key(original), _by_key(changed)
    keys: dict[str, None] = {}
    for key in (*before, *now):
        keys |= dict.fromkeys(CAPACITIES if key in CAPACITIES else (key,))
    for key in (key for key in keys if key in now):
        item = _parameter(now[key], before[key]["value"] if key in before else None)
        # Texts can't be set here.
        if key not in UNSHOWN and (item["value"] is not None or item["kind"] != "text"):
            yield item


def _by_key(model: models.Model) -> dict[str, Record]:
    """Parameters that a model states, then those that it leaves out, by key."""
    absent = {"value": None, "source": "", "role": None, "default": False}
    left_out = (absent | item for item in model.left_out)
    return {item["key"]: item for item in (*model.parameters, *left_out)}


def _parameter(item: Record, before: Any) -> Record:
    """A parameter with what its field takes."""
    keys = ("key", "value", "unit", "allowed", "help", "source", "role", "default")
    found = {key: item[key] for key in keys}
    found |= {"original": before, "comes_to": item.get("comes_to")}
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
