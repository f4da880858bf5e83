"""Files of `drivelab web` in the user's own folders."""

from __future__ import annotations

from pathlib import Path

import platformdirs

NAME = "drivelab"


def default_results() -> Path:
    """The database of who names none."""
    folder = platformdirs.user_data_path(NAME)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "results.duckdb"
