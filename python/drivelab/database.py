"""The results of a review as one DuckDB file, a table for each kind of record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb

from drivelab.results import STREAM

SCHEMA_SQL = """
CREATE TABLE runs (
    schema INTEGER, engine_version VARCHAR, command_line VARCHAR, seed UBIGINT, quick BOOLEAN,
    wall_s DOUBLE);
CREATE TABLE models (
    model VARCHAR, title VARCHAR, hash VARCHAR, user_capacity_bytes UBIGINT,
    raw_capacity_bytes UBIGINT, family VARCHAR, released VARCHAR, controller_name VARCHAR,
    firmware VARCHAR, price_usd DOUBLE, price_usd_per_gib_flash DOUBLE,
    price_usd_per_gib_user DOUBLE);
CREATE TABLE parameters (
    model VARCHAR, key VARCHAR, value_json VARCHAR, unit VARCHAR, source VARCHAR,
    is_default BOOLEAN);
CREATE TABLE states (
    model VARCHAR, state VARCHAR, description VARCHAR, host_write_bytes UBIGINT,
    program_bytes UBIGINT, write_amplification DOUBLE, erases UBIGINT, wall_s DOUBLE);
CREATE TABLE tests (
    model VARCHAR, state VARCHAR, test VARCHAR, title VARCHAR, direction VARCHAR,
    block_bytes UBIGINT, queue_depth UINTEGER, align_bytes UBIGINT, span_bytes UBIGINT,
    data VARCHAR, duration_s DOUBLE, ios UBIGINT, bytes UBIGINT, iops DOUBLE, mib_per_s DOUBLE,
    latency_mean_us DOUBLE, latency_max_us DOUBLE, queueing_us DOUBLE, link_us DOUBLE,
    firmware_us DOUBLE, flash_us DOUBLE, cleaning_us DOUBLE, write_amplification DOUBLE,
    host_write_bytes UBIGINT, flash_program_bytes UBIGINT, erases UBIGINT, energy_j DOUBLE,
    mean_power_w DOUBLE, wall_s DOUBLE);
CREATE TABLE series (
    model VARCHAR, state VARCHAR, test VARCHAR, time_s DOUBLE, mib_per_s DOUBLE,
    latency_max_us DOUBLE);
CREATE TABLE zones (
    model VARCHAR, state VARCHAR, test VARCHAR, position_bytes UBIGINT, mb_per_s DOUBLE);
CREATE TABLE percentiles (
    model VARCHAR, state VARCHAR, test VARCHAR, percentile DOUBLE, latency_us DOUBLE);
CREATE TABLE figures (
    id VARCHAR, drive VARCHAR, firmware VARCHAR, state VARCHAR, metric VARCHAR, unit VARCHAR,
    relation VARCHAR, published DOUBLE, modelled DOUBLE, error_ratio DOUBLE, satisfied BOOLEAN,
    role VARCHAR, model VARCHAR, test VARCHAR, model_state VARCHAR, note VARCHAR);
"""
"""Units are in the column names: MiB is 2^20 bytes, us microseconds of the drive's own time."""

Row = tuple[Any, ...]


def write(results: Mapping[str, Any], path: Path) -> None:
    """Writes a new DuckDB file with the results of a review (as in results.json)."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA_SQL)
        for table, rows in _tables(results).items():
            _insert(connection, table, list(rows))


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: list[Row]) -> None:
    if not rows:
        return
    columns = [list(column) for column in zip(*rows, strict=True)]
    selected = ", ".join(f"unnest(${index + 1})" for index in range(len(columns)))
    connection.execute(f"INSERT INTO {table} SELECT {selected}", columns)


def _tables(results: Mapping[str, Any]) -> dict[str, Iterable[Row]]:
    run = results["drivelab"]
    streams = [test for test in results["tests"] if test["kind"] == STREAM]
    keys = ("schema", "engine_version", "command_line", "seed", "quick")
    return {
        "runs": [(*_values(run, *keys), results.get("wall_s"))],
        "models": [
            _values(
                model,
                *("name", "title", "hash", "user_capacity_bytes", "raw_capacity_bytes"),
                *("family", "released", "controller_name", "firmware", "price_usd"),
                *("price_usd_per_gib_flash", "price_usd_per_gib_user"),
            )
            for model in results["models"]
        ],
        "parameters": _parameters(results["models"]),
        "states": [
            _values(
                state,
                *("model", "state", "description", "host_write_bytes", "program_bytes"),
                *("write_amplification", "erases", "wall_s"),
            )
            for state in results["states"]
        ],
        "tests": [_test(test) for test in streams],
        "series": _series(streams),
        "zones": _zones(streams),
        "percentiles": [
            (test["model"], test["state"], test["id"], percentile, latency_us)
            for test in streams
            for percentile, latency_us in test["latency_us"]["percentiles"]
        ],
        "figures": [
            _values(
                figure,
                *("id", "drive", "firmware", "state", "metric", "unit", "relation", "published"),
                *("modelled", "error_ratio", "satisfied", "role", "model", "test_id"),
                *("model_state", "note"),
            )
            for figure in results["figures"]
        ],
    }


def _values(record: Mapping[str, Any], *keys: str) -> Row:
    return tuple(record.get(key) for key in keys)


def _parameters(models: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    for model in models:
        for parameter in model["parameters"]:
            value = json.dumps(parameter.get("value"))
            given = _values(parameter, "unit", "source", "default")
            yield (model["name"], parameter["key"], value, *given)


def _test(test: Mapping[str, Any]) -> Row:
    split = test["split_mean_us"]
    return (
        *_values(test, "model", "state", "id", "title", "direction"),
        *_values(test, "block_bytes", "queue_depth", "align_bytes", "span_bytes"),
        *_values(test, "data", "duration_s", "ios", "bytes", "iops", "mib_per_s"),
        *_values(test["latency_us"], "mean", "max"),
        *_values(split, "queueing", "link", "firmware", "flash", "cleaning"),
        *_values(test, "write_amplification", "host_write_bytes", "flash_program_bytes"),
        *_values(test, "erases", "energy_j", "mean_power_w", "wall_s"),
    )


def _series(tests: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    for test in tests:
        series = test["series"]
        points = zip(series["mib_per_s"], series["latency_max_us"], strict=True)
        for index, (mib_per_s, latency_max_us) in enumerate(points):
            time_s = index * series["interval_s"]
            yield (test["model"], test["state"], test["id"], time_s, mib_per_s, latency_max_us)


def _zones(tests: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    for test in tests:
        whole = test.get("pass") or {"mb_per_s": []}
        for index, mb_per_s in enumerate(whole["mb_per_s"]):
            position_bytes = index * whole["zone_bytes"]
            yield (test["model"], test["state"], test["id"], position_bytes, mb_per_s)
