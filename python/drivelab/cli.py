"""The command line: reads arguments, calls the laboratory, prints. Nothing is computed here.

Exit status: 0 done, 1 the work failed, 2 the request was wrong, 130 interrupted by Ctrl-C,
141 the reader of standard output went away, 143 ended by SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import typer

from drivelab.commands import (
    catalogue,
    compare,
    comparison,
    convert,
    example,
    export,
    fault,
    fio,
    images,
    replay,
    review,
    served,
    synthesis,
)
from drivelab.errors import RequestError, WorkError

app = typer.Typer(
    name="drivelab",
    help="A solid-state drive in software, and the laboratory that tests it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("list", epilog="Example: drivelab list --json")(catalogue.list_models)
app.command("show", epilog="Example: drivelab show intel-x25-m-g1-80gb --set spare_ratio=0.28")(
    catalogue.show
)
app.command(
    "review",
    epilog="Example: drivelab review intel-x25-m-g1-80gb --out review",
)(review.review)
app.command("run", epilog="Example: drivelab run job.fio --drive intel-x25-m-g1-80gb --state used")(
    fio.run
)
app.command(
    "replay",
    epilog="Example: drivelab replay trace.csv --drive intel-x25-m-g1-80gb --pacing capped",
)(replay.replay)
app.command("convert", epilog="Example: drivelab convert trace.csv.gz --out trace.iolog")(
    convert.convert
)
app.command(
    "synthesize",
    epilog="Example: drivelab synthesize 2010-light --out light.iolog",
)(synthesis.synthesize)
app.command("figures", epilog="Example: drivelab figures --results review/results.json")(
    comparison.figures_command
)
app.command("compare", epilog="Example: drivelab compare intel-x25-m-g1-80gb ocz-vertex-120gb")(
    compare.compare_command
)
app.command("runs", epilog="Example: drivelab runs lab.duckdb")(export.runs)
app.command("export", epilog="Example: drivelab export review --csv tables --json all.json")(
    export.export_command
)
app.command(
    "create",
    epilog="Example: drivelab create my.drive --model intel-x25-m-g1-80gb",
)(served.create)
app.command(
    "serve",
    epilog="Example: drivelab serve my.drive --listen unix:/tmp/my.sock --clock instant",
)(served.serve)
app.command("smart", epilog="Example: drivelab smart my.drive --json")(images.smart)
app.command("check", epilog="Example: drivelab check my.drive")(images.check)
app.command("erase", epilog="Example: drivelab erase my.drive")(images.erase)
app.command("trim", epilog="Example: drivelab trim my.drive --offset 1g --length 64m")(images.trim)
app.command(
    "fault",
    epilog="Example: drivelab fault my.drive power-cut at_operation=1000",
)(fault.fault)
app.command("example", epilog="Example: drivelab example --json")(example.example)

_USAGE_ERROR: type[Any] = typer.BadParameter.__mro__[1]
"""Typer's own class of it moves between versions."""

INTERRUPTED, PIPE_CLOSED, TERMINATED = 130, 141, 143
"""128 + the signal's number, as shells report it."""


class _Terminated(SystemExit):
    """SIGTERM: unlike its default, it lets half-written files be removed."""


def _terminate(_number: int, _frame: object) -> None:
    raise _Terminated(TERMINATED)


def main() -> None:
    """Entry point of the `drivelab` command."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Runs one command; returns the exit status. Messages go to standard error."""
    try:
        status = app(arguments, prog_name="drivelab", standalone_mode=False)
        sys.stdout.flush()
    except RequestError as error:
        return _failed(error, 2)
    except WorkError as error:
        return _failed(error, 1)
    except _USAGE_ERROR as error:
        error.show()
        return 2
    except _Terminated:
        return _failed("terminated", TERMINATED)
    except (KeyboardInterrupt, typer.Abort):
        return _failed("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Python would complain once more when it flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except MemoryError:
        return _failed("not enough memory for a drive of this size", 1)
    except OSError as error:
        return _failed(error, 1)
    if status == INTERRUPTED:
        # Some versions of typer turn Ctrl-C into this status without a word.
        return _failed("interrupted", INTERRUPTED)
    return status if isinstance(status, int) else 0


def _failed(message: object, status: int) -> int:
    print(f"drivelab: {message}", file=sys.stderr)
    return status
