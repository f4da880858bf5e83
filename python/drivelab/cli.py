"""The command line: reads arguments, calls the laboratory, prints. Nothing is computed here.

Exit status: 0 done, 1 the work failed, 2 the request was wrong, 130 interrupted by Ctrl-C,
141 the reader of standard output went away, 143 ended by SIGTERM.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import Any, NamedTuple

import typer

from drivelab.errors import RequestError, WorkError


class Command(NamedTuple):
    """Where a command's function is, and an example of its use."""

    place: str
    example: str


COMMANDS = {
    "list": Command("catalogue:list_models", "list --json"),
    "show": Command("catalogue:show", "show intel-x25-m-g1-80gb --set spare_ratio=0.28"),
    "review": Command("review:review", "review intel-x25-m-g1-80gb --out review"),
    "run": Command("fio:run", "run job.fio --drive intel-x25-m-g1-80gb --state used"),
    "sweep": Command("sweep:sweep", "sweep policies.toml --store study"),
    "merge": Command("merge:merge", "merge study-1 study-2 --into study"),
    "replay": Command(
        "replay:replay", "replay trace.csv --drive intel-x25-m-g1-80gb --pacing capped"
    ),
    "convert": Command("convert:convert", "convert trace.csv.gz --out trace.iolog"),
    "synthesize": Command("synthesis:synthesize", "synthesize 2010-light --out light.iolog"),
    "figures": Command("comparison:figures_command", "figures --results review/results.json"),
    "compare": Command("compare:compare_command", "compare intel-x25-m-g1-80gb ocz-vertex-120gb"),
    "runs": Command("export:runs", "runs lab.duckdb"),
    "export": Command("export:export_command", "export review --csv tables --json all.json"),
    "create": Command("served:create", "create my.drive --model intel-x25-m-g1-80gb"),
    "serve": Command("served:serve", "serve my.drive --listen unix:/tmp/my.sock --clock instant"),
    "smart": Command("images:smart", "smart my.drive --json"),
    "check": Command("images:check", "check my.drive"),
    "erase": Command("images:erase", "erase my.drive"),
    "trim": Command("images:trim", "trim my.drive --offset 1g --length 64m"),
    "fault": Command("fault:fault", "fault my.drive power-cut at_operation=1000"),
    "example": Command("example:example", "example --json"),
}
"""By name, in the order in which help lists them."""


def _app(first: str) -> typer.Typer:
    """The commands, or only the one that the first argument names: its own modules load faster."""
    app = typer.Typer(
        name="drivelab",
        help="A solid-state drive in software, and the laboratory that tests it.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_commands)  # a single command stays a command by name
    for name in [first] if first in COMMANDS else COMMANDS:
        module, _, function = COMMANDS[name].place.partition(":")
        loaded = importlib.import_module(f"drivelab.commands.{module}")
        epilog = f"Example: drivelab {COMMANDS[name].example}"
        app.command(name, epilog=epilog)(getattr(loaded, function))
    return app


def _commands() -> None:
    pass


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
        status = _app(arguments[0] if arguments else "")(
            arguments, prog_name="drivelab", standalone_mode=False
        )
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
