"""What pages are made of: templates, style, scripts; for reports and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from drivelab.charts import Chart
from drivelab.charts import page as drawing
from drivelab.report import quantities

PACKAGE = "drivelab.report"


@cache
def environment(*packages: str) -> Environment:
    """Templates of the report, and before them those of these packages."""
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader(name, "templates") for name in (*packages, PACKAGE, drawing.PACKAGE)]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["dollars"] = quantities.dollars
    environment.filters["code"] = code
    environment.filters["parameter"] = lambda p: quantities.parameter(p.value, p.unit)
    return environment


def code(text: str) -> Markup:
    """A sentence whose words in backticks are typed ones."""
    parts = text.split("`")
    return Markup().join(
        Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts)
    )


def inline(name: str, package: str = PACKAGE) -> Markup:
    """A file of a package's templates folder as it is (our own, so safe to inline)."""
    return Markup(resources.files(package).joinpath("templates", name).read_text("utf-8"))


def style() -> Markup:
    """The style of all pages."""
    return drawing.style() + inline("style.css")


def drawn(charts: Sequence[Chart]) -> dict[str, Any] | None:
    """What draws a page's charts: their data and the scripts; nothing for a page without any."""
    if not charts:
        return None
    return {
        "data": drawing.data(charts),
        "library": drawing.library(),
        "script": drawing.script(),
    }
