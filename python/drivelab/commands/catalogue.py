"""`list` and `show`: the models, the tests, the states."""

from __future__ import annotations

from typing import Annotated

import typer

from drivelab import (
    arguments,
    datasheet,
    identity,
    model,
    model_file,
    plugins,
    sources,
)
from drivelab.commands import printing
from drivelab.errors import RequestError
from drivelab.procedures import document
from drivelab.text import catalogue
from drivelab.text import model as model_text


def list_models(
    tests: Annotated[bool, typer.Option("--tests", help="List the tests of a review.")] = False,
    state_names: Annotated[
        bool, typer.Option("--states", help="List the states of drives.")
    ] = False,
    prices: Annotated[
        bool, typer.Option("--prices", help="List what drives cost, cheapest usable GiB first.")
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Tests or states as the tables in docs/.")
    ] = False,
    plugin: arguments.Plugins = None,
    json: arguments.Json = False,
) -> None:
    """List the models that come with drivelab, by family; or tests, states, prices."""
    if tests + state_names + prices > 1:
        raise RequestError("--tests, --states and --prices: one at a time")
    if markdown and not (tests or state_names):
        raise RequestError("--markdown is a form of --tests or --states")
    if plugin and (markdown or not (tests or state_names)):
        raise RequestError("--plugin: goes with --tests or --states, without --markdown")
    if markdown:
        printing.plain(document.table(tests=tests))
        return
    known = plugins.known(plugin or ()) if tests or state_names else plugins.BUILT_IN
    if tests:
        records = [document.test_record(test) for test in known.tests.values()]
    elif state_names:
        records = [document.state_record(state) for state in known.states.values()]
    else:
        records = [item.summary() | identity.standing(item) for item in model.load_all()]
    if prices:
        records = identity.priced(records)
    if json:
        printing.document(records)
        return
    layout = catalogue.models
    if tests:
        layout = catalogue.tests
    elif state_names:
        layout = catalogue.states
    elif prices:
        layout = catalogue.prices
    printing.parts(layout(records))


def show(
    name: arguments.ModelName,
    sets: arguments.Settings = None,
    scale: arguments.Scale = None,
    json: arguments.Json = False,
    toml: Annotated[
        bool,
        typer.Option("--toml", help="As a model file to change: drivelab show MODEL --toml >FILE."),
    ] = False,
) -> None:
    """Show a model: every parameter with its value, unit and source."""
    settings = arguments.settings(sets, scale)
    overrides = model.split_overrides(settings)
    if toml:
        if json:
            raise RequestError("--json and --toml: give one of them")
        printing.plain(model_file.text(name, overrides))
        return
    found = model.load(name, overrides)
    printing.model_notes([found])
    printing.messages(f"{found.name}: {each}" for each in sources.remarks(found.parameters))
    if json:
        standing = identity.standing(found) | datasheet.records(found)
        printing.document(found.details() | standing)
        return
    printing.parts(model_text.parts(found, printing.width()))
