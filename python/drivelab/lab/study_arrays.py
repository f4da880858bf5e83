"""A study as labelled arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from drivelab.errors import RequestError

BESIDE = ("direction", "repeat")
"""Dimensions where there are several of them."""
POINT = "point"
SPARSE = 4
"""Points that fill less than one part in so many of their grid are a list."""


def dataset(frame: pl.DataFrame, keys: Sequence[str], title: str) -> Any:
    """An xarray.Dataset of the numbers of a study's frame; raises RequestError without xarray."""
    try:
        import xarray
    except ImportError:
        raise RequestError("to_xarray() needs xarray: pip install 'drivelab[xarray]'") from None
    names = [*keys, *(key for key in BESIDE if frame[key].n_unique() > 1)]
    metrics = [
        name
        for name, kind in frame.schema.items()
        if kind.is_numeric() and name not in (*keys, *BESIDE, "seed")
    ]
    coordinates: dict[str, Any] = {
        name: frame[name].unique(maintain_order=True).to_list() for name in names
    }
    shape = [len(values) for values in coordinates.values()]
    places: Any = tuple(
        [values.index(value) for value in frame[name].to_list()]
        for name, values in coordinates.items()
    )
    if math.prod(shape) > SPARSE * frame.height:
        coordinates = {name: (POINT, frame[name].to_list()) for name in names}
        names, shape, places = [POINT], [frame.height], slice(None)
    variables = {}
    for name in metrics:
        values = np.full(shape, np.nan)
        values[places] = frame[name].cast(pl.Float64).to_numpy()
        variables[name] = (names, values)
    return xarray.Dataset(variables, coordinates, {"title": title})
