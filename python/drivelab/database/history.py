"""A database's runs over time: words that somebody tagged them with, and a number from run to run.

Tags are in a table of their own, `tags`, that is there once a run is tagged; no run depends on it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import database
from drivelab.database import REPLAY, RUN
from drivelab.database.job_rows import replay_options
from drivelab.database.opening import Connection, has_table, opened, turn
from drivelab.errors import RequestError

Record = dict[str, Any]

COMMAND_OPTIONS = ("data", "until-steady", "round", "limit")
"""Of `run`: what decides what a job asks of a drive, beside its own options."""
TAGS = "tags"
TAG_LETTERS_MAX = 40
TAGS_MAX = 20


@dataclass(frozen=True)
class Number:
    """A column that is followed over runs."""

    title: str
    unit: str
    of_requests: bool
    """In `measurements`, which tests of many numbers have no row of; the others are in `tests`."""


NUMBERS = {
    "mib_per_s": Number("Throughput", "MiB/s", of_requests=True),
    "iops": Number("Requests per second", "IOPS", of_requests=True),
    "latency_mean_us": Number("Mean latency", "us", of_requests=True),
    "latency_max_us": Number("Longest latency", "us", of_requests=True),
    "write_amplification": Number("Write amplification", "", of_requests=False),
    "energy_j": Number("Energy", "J", of_requests=False),
}
"""By the name of the column."""


def tags(path: Path, option: str) -> dict[int, list[str]]:
    """The tags of every run that has some, in order of the alphabet."""
    with opened(path, option) as connection:
        if not has_table(connection, TAGS):
            return {}
        found = connection.execute(
            "SELECT run_id, list(tag ORDER BY tag) FROM tags GROUP BY run_id"
        ).fetchall()
    return dict(found)


def tag(path: Path, run_id: int, words: Sequence[str], option: str) -> None:
    """Gives a run these tags and no others.

    Raises RequestError for a file or a run that isn't there, and for tags that are too many, too
    long, or empty.
    """
    chosen = sorted({word.strip() for word in words})
    if len(chosen) > TAGS_MAX:
        raise RequestError(f"{len(chosen)} tags; allowed: {TAGS_MAX}")
    for word in chosen:
        if not 0 < len(word) <= TAG_LETTERS_MAX or not word.isprintable():
            raise RequestError(f'tag "{word[:80]}": allowed: 1 to {TAG_LETTERS_MAX} letters')
    with turn(path, option):
        _check_run(path, run_id, option)
        with opened(path, option, read_only=False) as connection:
            connection.begin()
            if not has_table(connection, TAGS):
                connection.execute(
                    "CREATE TABLE tags (run_id INTEGER NOT NULL, tag VARCHAR NOT NULL)"
                )
            connection.execute("DELETE FROM tags WHERE run_id = ?", [run_id])
            for word in chosen:
                connection.execute("INSERT INTO tags VALUES (?, ?)", [run_id, word])
            connection.commit()


def _check_run(path: Path, run_id: int, option: str) -> None:
    """Raises RequestError; opens to read only, since opening to write makes a file."""
    with opened(path, option) as connection:
        known = connection.execute("SELECT 1 FROM runs WHERE run_id = ?", [run_id]).fetchone()
    if known is None:
        raise RequestError(f'{option} "{path}": it has no run {run_id}')


def values(path: Path, option: str) -> dict[str, list[Record]]:
    """The values of tests of many numbers, by test: `name`, `title` and `unit` of each, as the
    newest run has them, in the order in which they were recorded first."""
    with opened(path, option) as connection:
        rows = connection.execute(
            "SELECT test, name, arg_max(title, run_id), arg_max(unit, run_id) FROM test_values"
            " GROUP BY test, name ORDER BY min(rowid)"
        ).fetchall()
    found: dict[str, list[Record]] = {}
    for test, name, title, unit in rows:
        found.setdefault(test, []).append({"name": name, "title": title, "unit": unit})
    return found


def over_runs(
    path: Path, model: str, test: str, state: str, number: str, option: str
) -> list[Record]:
    """One number of a test of a drive in every run that has it, the oldest run first.

    `number` is one of NUMBERS, or "value:NAME" of a test of many numbers. Rows have `run_id`,
    `engine_version`, `hash` of the drive, `scale` (its divisor, None at full size), `settings`
    ("KEY=VALUE" of what was set for the run), `quick`, `unabridged`, `span_bytes` (None: the whole
    drive), `job` and `direction` (None unless the number is of requests), `options` of the job, or
    of the replay, by name, and `value`. A run of several jobs, or of reads and writes, has a row
    for each. Raises RequestError for another number.
    """
    of_requests = number in NUMBERS and NUMBERS[number].of_requests
    job, direction = ("m.job", "m.direction") if of_requests else ("NULL", "NULL")
    if number.startswith("value:"):
        expression, join = (
            "v.value",
            (
                " JOIN test_values v ON v.run_id = t.run_id AND v.model = t.model"
                " AND v.test = t.test AND v.state = t.state AND v.name = ?"
            ),
        )
        words = [number.removeprefix("value:")]
    elif number in NUMBERS:
        expression, words = f"{'m' if of_requests else 't'}.{number}", []
        join = (
            " JOIN measurements m ON m.run_id = t.run_id AND m.model = t.model"
            " AND m.test = t.test AND m.state = t.state"
            if of_requests
            else ""
        )
    else:
        raise RequestError(f'number "{number[:80]}": allowed: {", ".join(NUMBERS)}, value:NAME')
    with opened(path, option) as connection:
        found = connection.execute(
            "SELECT r.run_id, r.engine_version, d.hash,"
            " (SELECT list([key, coalesce(number::VARCHAR, text, boolean::VARCHAR)] ORDER BY key)"
            "  FROM parameters p WHERE p.run_id = t.run_id AND p.model = t.model"
            "  AND (source = 'command line' OR key = 'scale_divisor')) AS settings,"
            f" r.quick, {database.UNABRIDGED_SQL} AS unabridged,"
            f" {database.span_sql(connection)} AS span_bytes, {job} AS job,"
            f" {direction} AS direction, {expression} AS value, r.command_line, r.kind,"
            f" {_options_sql(connection, job)}"
            f" FROM tests t JOIN runs r USING (run_id)"
            f" JOIN models d ON d.run_id = t.run_id AND d.model = t.model{join}"
            " WHERE t.model = ? AND t.test = ? AND t.state = ? ORDER BY ALL",
            [*words, model, test, state],
        )
        names = [column[0] for column in found.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    return [_row(row) for row in rows]


def _row(found: Record) -> Record:
    command_line, kind = found.pop("command_line"), found.pop("kind")
    own, trace = found.pop("own"), found.pop("trace")
    if own is None or trace is None:
        options = _options(found["options"] or (), command_line if kind == RUN else "")
    else:
        options = replay_options(json.loads(own), json.loads(trace))
    told = {"options": {key: str(value) for key, value in options.items()}}
    return found | told | _set(found["settings"] or (), command_line)


def _options_sql(connection: Connection, job: str) -> str:
    """What was asked of a drive: options of the job (of all jobs where that is null), and the two
    objects of a replay's document."""
    of_job = "" if job == "NULL" else f" AND o.job = {job}"
    options = (
        "(SELECT list([o.job, o.option, o.value] ORDER BY o.job, o.option) FROM job_options o"
        " WHERE o.run_id = t.run_id AND o.model = t.model AND o.state = t.state"
        f" AND o.test = t.test AND o.option <> 'name'{of_job})"
    )
    if not has_table(connection, "job_options"):
        options = "NULL"
    replay = (
        "(SELECT document ->> '$.{}' FROM documents x"
        f" WHERE x.run_id = t.run_id AND r.kind = '{REPLAY}')"
    )
    own, trace = (replay.format(name) for name in ("drivelab", "trace"))
    return f"{options} AS options, {own} AS own, {trace} AS trace"


def _options(given: Sequence[Sequence[str]], command_line: str) -> Record:
    """By name; of several jobs with the job's name before it."""
    jobs = {job for job, _, _ in given}
    found = {f"{job}: {option}" if len(jobs) > 1 else option: value for job, option, value in given}
    words = database.command_options(command_line)
    return found | {key: words[key] for key in COMMAND_OPTIONS if key in words}


def _set(values: Sequence[Sequence[str | None]], command_line: str) -> Record:
    """What was set for a run, its scale apart; numbers without the point of whole ones."""
    found = {str(key): (value or "").removesuffix(".0") for key, value in values}
    scale = int(found.pop("scale_divisor", None) or 1)
    found |= database.command_settings(command_line)
    settings = [f"{key}={value}" for key, value in sorted(found.items())]
    return {"scale": None if scale == 1 else scale, "settings": settings}
