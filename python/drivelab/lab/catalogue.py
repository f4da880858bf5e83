"""What there is to choose from."""

from __future__ import annotations

import polars as pl

from drivelab import model

COLUMNS = (
    "name",
    "title",
    "family",
    "released",
    "controller_name",
    "firmware",
    "user_capacity_bytes",
    "raw_capacity_bytes",
    "queue_depth",
    "price_usd",
)


def models() -> pl.DataFrame:
    """The models that come with drivelab, a row each; null where a model doesn't say.

    >>> models().filter(family="hard-disk").height
    3
    """
    rows = [found.summary() for found in model.load_all()]
    return pl.DataFrame([{column: row[column] for column in COLUMNS} for row in rows])
