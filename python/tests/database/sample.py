"""A review as it is recorded, and what a database answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import documents
import duckdb

from drivelab.database import Recorded


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def recorded(**changed: Any) -> Recorded:
    return Recorded.review(documents.review(**changed))
