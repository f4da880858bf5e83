"""Results that were written earlier: results.json, the folder of a review, a run of a database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from drivelab import database
from drivelab.database import REVIEW, Recorded
from drivelab.errors import RequestError
from drivelab.results import SCHEMA, STREAM
from drivelab.shapes import Fields, ListOf, fault

RESULTS_FILE = "results.json"

_TABLE = Fields(
    {
        "name": str,
        "title": str,
        "columns": ListOf(Fields({"key": str, "title": str, "unit": None})),
        "rows": ListOf(Fields({})),
    }
)
_FROM = {"origin?": Fields({"place": str, "sha256": str}), "declared?": Fields({})}
"""Of tests and states that don't come with drivelab."""
_TEST = {
    **_FROM,
    "id": str,
    "title": str,
    "model": str,
    "state": str,
    "kind": str,
    "mean_power_w": None,
    "counters": Fields({}),
    "values": ListOf(Fields({"name": str, "value": None})),
    "tables": ListOf(_TABLE),
    "charts": ListOf(Fields({})),
    "latency_us?": Fields({"percentiles?": ListOf(ListOf())}),
    "split_mean_us?": Fields({}),
    "series?": Fields({"interval_s": float, "mib_per_s": ListOf(), "latency_max_us": ListOf()}),
    "pass?": Fields({"zone_bytes": float, "mb_per_s": ListOf()}),
    "repeats?": Fields({}),
    "steady_state?": Fields({}),
    "notes?": ListOf(str),
    "deviations?": ListOf(str),
}
_STREAM = _TEST | {
    "mib_per_s": None,
    "iops": None,
    "latency_us": Fields({"mean": None, "max": None, "percentiles?": ListOf(ListOf())}),
}
_REVIEW = Fields(
    {
        "drivelab": Fields(
            {
                "schema": int,
                "engine_version": str,
                "command_line": str,
                "seed": int,
                "quick?": bool,
                "unabridged?": bool,
                "repeats?": Fields({"count": int, "seeds": ListOf(int)}),
            }
        ),
        "models": ListOf(
            Fields(
                {
                    "name": str,
                    "title": str,
                    "hash": str,
                    "user_capacity_bytes": float,
                    "parameters": ListOf(Fields({"key": str})),
                }
            )
        ),
        "tests": ListOf(Fields({"kind": str})),
        "states": ListOf(Fields({**_FROM})),
        "figures": ListOf(Fields({})),
    }
)
"""What a review's document has at least, so that nothing that reads it stumbles."""


def is_stored(text: str) -> bool:
    """Whether an argument names stored results, and not a model."""
    path, _ = split(text)
    return path.is_dir() or path.suffix in (".json", database.SUFFIX)


def split(text: str) -> tuple[Path, int | None]:
    """File or folder, and the number of the run of "FILE.duckdb:RUN"; None if there is none.

    Raises RequestError for a run that is not a number.
    """
    file, colon, number = text.rpartition(":")
    if not colon or not file.endswith(database.SUFFIX):
        return Path(text), None
    if not number.isascii() or not number.isdigit():
        raise RequestError(f'"{text}": "{number}" is no run; allowed: numbers that `runs` lists')
    return Path(file), int(number)


def file_of(path: Path) -> Path:
    """The file that holds the results of a path: of a folder, its results.json."""
    return path / RESULTS_FILE if path.is_dir() else path


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
    if found.kind == REVIEW:
        _check(found.document, file, option)
    return found


def _document(path: Path, option: str) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
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
        raise RequestError(f'{option} "{path}": expected {RESULTS_FILE} of `drivelab review`')
    return document


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")


def _check(document: Mapping[str, Any], path: Path, option: str) -> None:
    """Raises RequestError for a document of another schema, or with pieces missing."""
    own = document["drivelab"]
    schema = own.get("schema") if isinstance(own, dict) else None
    if schema != SCHEMA:
        repeat = own.get("command_line") if isinstance(own, dict) else None
        hint = f"; repeat it: {repeat}" if repeat else ""
        raise RequestError(
            f'{option} "{path}": schema {schema} is not readable; allowed: {SCHEMA}{hint}'
        )
    found = fault(document, _REVIEW, "")
    for index, test in enumerate(document["tests"] if found is None else ()):
        shape = Fields(_STREAM if test["kind"] == STREAM else _TEST)
        found = found or fault(test, shape, f"tests[{index}]")
    if found is not None:
        raise RequestError(f'{option} "{path}": {found}')
