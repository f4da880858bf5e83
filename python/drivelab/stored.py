"""Results that were written earlier: results.json, the folder of a review, a run of a database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from drivelab import database, paths
from drivelab.database import REVIEW, Recorded
from drivelab.errors import RequestError

RESULTS_FILE = "results.json"
STUDY_FILE = "study.duckdb"
"""What a sweep keeps in its folder."""
EXPECTED = f"expected {RESULTS_FILE} of `drivelab review`"
BEGINNING_BYTES = 4096
"""By which a long file is seen to be something else."""


def is_stored(text: str) -> bool:
    """Whether an argument names stored results, and not a model."""
    path, _ = split(text)
    return path.is_dir() or path.suffix in (".json", database.SUFFIX)


def split(text: str) -> tuple[Path, int | None]:
    """File or folder, and the number of the run of "FILE.duckdb:RUN"; None if there is none.

    Raises RequestError for a run that is not a number.
    """
    paths.checked("results", text)
    file, colon, number = text.rpartition(":")
    if not colon or not file.endswith(database.SUFFIX):
        return Path(text), None
    if not number.isascii() or not number.isdigit():
        raise RequestError(f'"{text}": "{number}" is no run; allowed: numbers that `runs` lists')
    return Path(file), int(number)


def file_of(path: Path) -> Path:
    """The file that holds the results of a path: of a folder, its results.json.

    The folder of a sweep has none: its points are what is there, and what reads them is told.
    """
    paths.checked("results", path)
    if not path.is_dir():
        return path
    results, study = path / RESULTS_FILE, path / STUDY_FILE
    return study if study.exists() and not results.exists() else results


def database_of(path: Path) -> Path:
    """The database of a path: of the folder of a review, that of its results."""
    if not paths.checked("results", path).is_dir():
        return path
    results, study = path / f"results{database.SUFFIX}", path / STUDY_FILE
    return study if study.exists() and not results.exists() else results


def read(path: Path, run_id: int | None, option: str) -> Recorded:
    """The run that a file or folder holds; raises RequestError for anything unreadable.

    `run_id` chooses a run of a database; there it may be left out if there is only one.
    """
    file = file_of(path)
    if file.suffix == database.SUFFIX:
        found = database.read(file, run_id, option)
    elif run_id is not None:
        raise RequestError(f'--run {run_id}: counts with a database only, and "{file}" is none')
    else:
        document = _document(file, option)
        found = Recorded(REVIEW, document, document["models"])
    if found.kind != REVIEW:
        return found
    document = _of_today(found.document, file, option)
    return replace(found, document=document, models=document["models"])


def _document(path: Path, option: str) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(BEGINNING_BYTES)
            # Of an image of a drive, of many GB perhaps, nothing more is read.
            if len(content) == BEGINNING_BYTES and not content.lstrip().startswith(b"{"):
                raise ValueError(EXPECTED)
            content += file.read()
        document = json.loads(content.decode("utf-8"), parse_constant=_refuse)
    except OSError as error:
        raise RequestError(f'{option} "{path}": can\'t read it ({error.strerror})') from None
    except UnicodeDecodeError:
        raise RequestError(f'{option} "{path}": it is not text in UTF-8') from None
    except json.JSONDecodeError as error:
        raise RequestError(
            f'{option} "{path}": it is not JSON, or was cut short: line {error.lineno}: {error.msg}'
        ) from None
    except ValueError as error:
        raise RequestError(f'{option} "{path}": {error}') from None
    if not isinstance(document, dict) or not {"drivelab", "models", "tests"} <= document.keys():
        raise RequestError(f'{option} "{path}": {EXPECTED}')
    return document


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")


def _of_today(document: Mapping[str, Any], path: Path, option: str) -> dict[str, Any]:
    """A document as it would be written now; raises RequestError if it is none of a review."""
    # Loading them takes a tenth of a second.
    from drivelab.records.faults import fault
    from drivelab.records.review import Review
    from drivelab.records.upgrade import READABLE, upgraded

    own = document["drivelab"]
    schema = own.get("schema") if isinstance(own, dict) else None
    if isinstance(schema, bool) or schema not in READABLE:
        repeat = own.get("command_line") if isinstance(own, dict) else None
        hint = f"; repeat it: {repeat}" if repeat else ""
        allowed = ", ".join(map(str, READABLE))
        raise RequestError(
            f'{option} "{path}": schema {schema} is not readable; allowed: {allowed}{hint}'
        )
    found = upgraded(document)
    if (wrong := fault(found, Review)) is not None:
        raise RequestError(f'{option} "{path}": {wrong}')
    return found
