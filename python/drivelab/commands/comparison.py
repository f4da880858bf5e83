"""`figures`: published against modelled."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import arguments, figures, procedures, results, states
from drivelab import model as models
from drivelab import review as laboratory
from drivelab.commands import printing
from drivelab.errors import RequestError

Record = dict[str, Any]


def figures_command(
    drive: Annotated[
        str | None,
        typer.Option("--drive", metavar="MODEL", help="Only this model; default: all reviewed."),
    ] = None,
    results_file: Annotated[
        Path | None,
        typer.Option("--results", metavar="FILE", help="Take results.json of a review instead."),
    ] = None,
    seed: arguments.Seed = 1,
    sets: arguments.Settings = None,
    workers: arguments.Workers = 2,
    json: arguments.Json = False,
) -> None:
    """Compare models with what hardware reviews published, with error and fitted or predicted."""
    if results_file is None:
        document = _measured(drive, sets or [], seed, workers)
    else:
        document = _read(results_file, drive, sets or [])
    comparison = figures.compare(document["models"], document["tests"])
    records = [record for record in comparison if record["model"] is not None]
    if json:
        printing.document(
            {
                "drivelab": document["drivelab"],
                "models": [
                    {key: model[key] for key in ("name", "title", "hash")}
                    for model in document["models"]
                ],
                "figures": records,
            }
        )
    else:
        _print(records)


def _measured(drive: str | None, sets: list[str], seed: int, workers: int) -> Record:
    """Runs the tests that the figures need."""
    overrides = [models.split_override(text) for text in sets]
    names = [drive] if drive is not None else _reviewed_names()
    loaded = [models.load(name, overrides) for name in names]
    measurements = {}
    for model in loaded:
        needed = figures.measurements_for(results.model_result(model))
        if not needed:
            raise RequestError(
                f'--drive "{model.name}": no published figure is about this drive; '
                f"there are figures for: {', '.join(_reviewed_names())}"
            )
        measurements[model.name] = [
            laboratory.Measurement(procedures.PROCEDURES[test], states.STATES[state])
            for test, state in sorted(needed, key=lambda pair: (pair[1], pair[0]))
        ]
    words = ["drivelab", "figures"]
    words += ["--drive", drive] if drive is not None else []
    for text in sets:
        words += ["--set", text]
    plan = laboratory.Plan(
        models=loaded,
        measurements=measurements,
        command_line=printing.command_line(words, seed),
        seed=seed,
        workers=workers,
    )
    return laboratory.run(plan)


def _reviewed_names() -> list[str]:
    """Names of the models whose drives have been measured in a review."""
    records = [results.model_result(model) for model in models.load_all()]
    return [str(record["name"]) for record in records if figures.has_figures(record)]


def _read(path: Path, drive: str | None, sets: list[str]) -> Record:
    """Results of an earlier review, or of one model in it."""
    if sets:
        raise RequestError("--set changes a model; it can't be combined with --results")
    try:
        document = json_module.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RequestError(f'--results "{path}": can\'t read it ({error.strerror})') from None
    except ValueError:
        document = None
    if not isinstance(document, dict) or not {"drivelab", "models", "tests"} <= document.keys():
        raise RequestError(f'--results "{path}": expected results.json of `drivelab review`')
    found: Record = document
    schema = found["drivelab"].get("schema")
    if schema != results.SCHEMA:
        raise RequestError(
            f'--results "{path}": schema {schema} is not readable; allowed: {results.SCHEMA}'
        )
    if drive is not None:
        name = models.load(drive).name
        found["models"] = [model for model in found["models"] if model["name"] == name]
        if not found["models"]:
            raise RequestError(f'--drive "{drive}": not among the models reviewed in {path}')
    return found


def _print(records: list[Record]) -> None:
    columns = ("figure", "drive", "state", "metric", "published", "modelled", "unit", "error", "")
    signs = {"lt": "< ", "le": "≤ ", "gt": "> ", "ge": "≥ ", "approx": "≈ "}
    rows = [
        (
            record["id"],
            record["drive"],
            record["model_state"] or record["state"],
            record["metric"],
            signs.get(record["relation"], "") + printing.number(record["published"]),
            printing.number(record["modelled"]),
            record["unit"],
            _verdict(record),
            record["role"] or record["note"],
        )
        for record in records
    ]
    printing.table(columns, rows, ("published", "modelled", "error"))


def _verdict(record: Record) -> str:
    if record["satisfied"] is not None:
        return "holds" if record["satisfied"] else "fails"
    error = record["error_ratio"]
    return "-" if error is None else f"{error * 100:+.1f} %"
