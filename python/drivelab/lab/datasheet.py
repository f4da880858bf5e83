"""What a drive is by its model: limits that follow by arithmetic, parameters with their sources."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from drivelab import datasheet
from drivelab.model import Model
from drivelab.text import model as model_text
from drivelab.text import terminal
from drivelab.text.layout import Part


class Datasheet:
    """A model in numbers. Printed, it is what `drivelab show` prints.

    >>> import drivelab as dl
    >>> sheet = dl.Drive("intel-x25-m-g1-80gb", {"spare_ratio": 0.28}).datasheet()
    >>> sheet.limits.filter(key="read_4k_us").select("title", "unit").row(0)
    ('A lone read of 4 KiB', 'us')
    >>> sheet.parameters.filter(key="spare_ratio").select("value", "unit", "source").row(0)
    ('0.28', 'spare/user', 'command line')
    >>> print(str(sheet).splitlines()[0])
    Intel X25-M G1 80 GB (intel-x25-m-g1-80gb)
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def limits(self) -> pl.DataFrame:
        """What each part of the drive could do if the others were ideal: a row each, with what it
        follows from. Hard disks and arrays have none."""
        facts = datasheet.facts(self._model)
        rows = [(fact.key, fact.title, fact.value, fact.unit, fact.why) for fact in facts]
        return pl.DataFrame(rows, schema=_LIMITS, orient="row")

    @property
    def parameters(self) -> pl.DataFrame:
        """Every parameter that the model states or has by default, its value as text; its role is
        null of a default, and of what was set."""
        rows = [
            {key: parameter.get(key) for key in _PARAMETERS}
            | {"value": model_text.value_text(parameter["value"])}
            for parameter in self._model.parameters
        ]
        return pl.DataFrame(rows, schema=_PARAMETERS)

    def _parts(self) -> Iterator[Part]:
        return model_text.parts(self._model, terminal.width())

    def __repr__(self) -> str:
        return terminal.as_text(self._parts())

    def _repr_html_(self) -> str:
        return terminal.as_html(self._parts())


_LIMITS: dict[str, type[pl.DataType]] = {
    "key": pl.String,
    "title": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
    "follows_from": pl.String,
}
_PARAMETERS = dict.fromkeys(("key", "value", "unit", "allowed", "role", "source"), pl.String)
