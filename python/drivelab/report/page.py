"""What pages are made of: templates, style, scripts; for reports and comparisons."""

from __future__ import annotations

from functools import cache
from importlib import resources

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from drivelab.report import quantities

PACKAGE = "drivelab.report"


@cache
def environment(*packages: str) -> Environment:
    """Templates of the report, and before them those of these packages."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name, "templates") for name in (*packages, PACKAGE)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["dollars"] = quantities.dollars
    environment.filters["parameter"] = lambda p: quantities.parameter(p.value, p.unit)
    return environment


def inline(name: str, package: str = PACKAGE) -> Markup:
    """A file of a package's templates folder as it is (our own, so safe to inline)."""
    return Markup(resources.files(package).joinpath("templates", name).read_text("utf-8"))


@cache
def plotly() -> Markup:
    """plotly.js from the Python package; its wheel has no smaller bundle than this one."""
    script = resources.files("plotly").joinpath("package_data", "plotly.min.js").read_text("utf-8")
    return Markup(script.replace("</script", "<\\/script"))
