"""`compare`: two drives or more side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import (
    arguments,
    completion,
    database,
    failures,
    output,
    plugins,
    procedures,
    repeats,
    review_files,
    states,
    stored,
)
from drivelab import model as models
from drivelab.commands import printing, recording
from drivelab.comparison import compare, planning
from drivelab.comparison.document import document as to_document
from drivelab.comparison.planning import Wanted
from drivelab.comparison.selection import Selection
from drivelab.comparison.sides import check_count
from drivelab.errors import RequestError
from drivelab.text import comparison as comparison_text

Sides = Annotated[
    list[str],
    typer.Argument(
        metavar="SIDE...",
        help="Models, which are reviewed now; results.json or folders of reviews; "
        "FILE.duckdb:RUN. Of results of several models each is a side.",
        autocompletion=completion.model_names,
    ),
]
OutFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder for compare.html and compare.json.")
]
StateNames = Annotated[
    list[str] | None,
    typer.Option(
        "--states",
        metavar="NAMES",
        help="Only these states; as --tests.",
        autocompletion=completion.state_names,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, max=2**63 - 1, help="Of the review; default: as stored, or 1."),
]
Repeat = Annotated[
    int | None,
    typer.Option(
        "--repeat",
        min=1,
        max=1000,
        metavar="N",
        help="Review with N seeds, not rounds as in `replay`: means with their 95 % interval; a "
        "difference within is none. Default: as stored, or 1.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Compare what should not be compared.")]


def compare_command(
    sides: Sides,
    out: OutFolder = Path("comparison"),
    tests: arguments.Tests = None,
    plugin: arguments.Plugins = None,
    state_names: StateNames = None,
    quick: arguments.Quick = False,
    seed: Seed = None,
    sets: arguments.Settings = None,
    scale: arguments.Scale = None,
    workers: arguments.Workers = None,
    memory: arguments.Memory = None,
    repeat: Repeat = None,
    database_file: arguments.DatabaseFile = None,
    force: Force = False,
    json: arguments.Json = False,
) -> None:
    """Compare drives side by side; write compare.html and compare.json.

    Differences are to the first side, in percent of its number; of ten times or more they are the
    factor, of less than half a percent 1/N.
    """
    # The report brings the plotting library, which takes a second to load.
    from drivelab.comparison import files

    chosen = arguments.split_names("--tests", tests)
    wanted_states = arguments.split_names("--states", state_names)
    known = plugins.known(plugin or ())
    procedures.select(chosen, known=known.tests)
    states.select(wanted_states, known.states)
    room = arguments.memory_bytes(memory)
    given = arguments.settings(sets, scale)
    crew = arguments.worker_count(workers)
    wanted = Wanted(
        chosen, wanted_states, quick, seed, given, crew, repeat, room, plugin or (), known
    )
    whole = {text: planning.stored_side(text) for text in sides if stored.is_stored(text)}
    selection = Selection(tuple(chosen), tuple(wanted_states))
    kept = {text: selection.of(side) for text, side in whole.items()}
    asked = [text for text in sides if text not in kept]
    check_count([name for text in sides for name in planning.drive_names(text, kept.get(text))])
    if not asked:
        _check_stored(wanted, sets, scale, database_file)
        selection.check(list(whole.values()))
    plan = None
    if asked:
        words = partial(_command_line, sides, wanted, force=False)
        plan = planning.plan(asked, list(kept.values()), wanted, words, printing.message)
    planning.check_plan(plan, list(kept.values()), force)
    if plan is not None:
        printing.model_notes(plan.models)
        printing.longer_tests(plan)
    folder = output.writable_folder(out)
    recording.check(database_file if plan is not None else None)
    with output.claimed(folder):
        printing.replaced_results(folder, "compare.json", *(["results.json"] if plan else []))
        count = wanted.repeat or planning.stored_repeat(kept.values())
        reviewed = repeats.review(plan, count) if plan is not None else None
        printing.failed_tests(reviewed or {})
        by_text = {
            **kept,
            **(planning.reviewed_sides(asked, plan, reviewed) if plan and reviewed else {}),
        }
        command_line = _command_line(sides, wanted, plan.seed if plan else None, force=force)
        try:
            found = compare([by_text[text] for text in sides], command_line, force=force)
        except RequestError:
            if reviewed is not None:
                _keep(reviewed, folder)
            raise
        document = to_document(found)
        written = output.publish(folder, files.writers(found, document, reviewed))
    if reviewed is not None:
        recording.record(database_file, database.Recorded.review(reviewed))
    for problem in found.problems:
        fate = "forced" if found.forced else "left out"
        printing.message(f"{fate if problem.refused else 'warning'}: {problem.sentence}")
    if json:
        printing.document(document)
    else:
        printing.parts(comparison_text.parts(found, "compare.html"))
    printing.message("Written: " + ", ".join(str(path) for path in written))
    if reviewed is not None:
        failures.check_none(reviewed)


def _check_stored(
    wanted: Wanted, sets: list[str] | None, scale: str | None, database_file: Path | None
) -> None:
    """Raises RequestError for options of the review, where all sides are stored results."""
    given = {
        "--set": sets,
        "--scale": scale,
        "--quick": wanted.quick,
        "--seed": wanted.seed is not None,
        "--repeat": wanted.repeat is not None,
        "--database": database_file,
    }
    used = [option for option, value in given.items() if value]
    if used:
        raise RequestError(f"{used[0]}: counts for models, and all sides are stored results")


def _keep(reviewed: dict[str, Any], folder: Path) -> None:
    """Writes a review whose comparison is refused: it took minutes."""
    written = output.publish(folder, review_files.writers(reviewed))
    printing.message(
        "The review is kept, and can be compared as it is: "
        + ", ".join(str(path) for path in written)
    )


def _command_line(sides: Sequence[str], wanted: Wanted, seed: int | None, *, force: bool) -> str:
    """The command that repeats a comparison; without a seed if nothing is reviewed."""
    words = ["drivelab", "compare", *sides, *models.set_words(wanted.sets)]
    for option, names in (("--tests", wanted.tests), ("--states", wanted.states)):
        words += [option, ",".join(names)] if names else []
    words += [*arguments.plugin_words(wanted.plugin_files), *(["--quick"] if wanted.quick else [])]
    words += ["--repeat", str(wanted.repeat)] if wanted.repeat is not None else []
    words += ["--force"] if force else []
    return printing.command_line(words, seed)
