"""Files of `drivelab web` in the user's own folders."""

from __future__ import annotations

from pathlib import Path

import platformdirs

from drivelab.errors import RequestError

NAME = "drivelab"


def default_results() -> Path:
    """The database of who names none; raises RequestError where no folder for it can be made."""
    folder = platformdirs.user_data_path(NAME)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RequestError(
            f'"{folder}", for your own data: can\'t be made ({error.strerror}); name a file: '
            "drivelab web FILE.duckdb"
        ) from None
    return folder / "results.duckdb"
