"""`example`: the worked example, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab import arguments, output
from drivelab import example as worked
from drivelab import model as models
from drivelab.commands import printing
from drivelab.errors import RequestError
from drivelab.text import example as example_text


def example(
    seed: arguments.Seed = 1,
    sets: arguments.Settings = None,
    json: arguments.Json = False,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write it as a page to step through, one operation of the flash at a time.",
        ),
    ] = None,
) -> None:
    """Play the worked example: why a full drive writes slowly, and what spare area and TRIM do."""
    if html is not None:
        if json or sets or seed != 1:
            raise RequestError("--html: goes without --json, --set and --seed")
        _write_page(html)
        return
    overrides = models.split_overrides(sets or ())
    outcomes = [worked.play(scenario, overrides, seed) for scenario in worked.SCENARIOS]
    if json:
        printing.document(
            {"scenarios": {outcome.scenario.name: outcome.record() for outcome in outcomes}}
        )
        return
    for outcome in outcomes:
        printing.parts(example_text.parts(outcome))


def _write_page(file: Path) -> None:
    from drivelab import lessons
    from drivelab.lessons import page

    output.writable_file(file, "--html")
    text = page.html(lessons.record("five-pages"))
    output.publish_files({file: lambda path: output.write_text(path, text)})
    printing.message(f"Written: {file}")
