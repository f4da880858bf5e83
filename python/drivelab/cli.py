"""The command line: reads arguments, calls the laboratory, prints. Nothing is computed here.

Exit status: 0 done, 1 the work failed, 2 the request was wrong, 130 interrupted by Ctrl-C,
141 the reader of standard output went away, 143 ended by SIGTERM.
"""

from __future__ import annotations

import errno
import importlib
import os
import re
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from drivelab import asides, interruption, output, paths, standard_streams
from drivelab.errors import RequestError, WorkError


class Command(NamedTuple):
    """Where a command's function is, what help says of it, and an example of its use."""

    place: str
    summary: str
    example: str


GROUPS = {
    "Drives": {
        "list": Command(
            "catalogue:list_models", "List models, tests, states or prices.", "list --json"
        ),
        "show": Command(
            "catalogue:show",
            "Show a model: each parameter with unit, range and source.",
            "show intel-x25-m-g1-80gb --set spare_ratio=0.28",
        ),
        "example": Command(
            "example:example",
            "Play the worked example: why a full drive writes slowly.",
            "example --json",
        ),
    },
    "Measurements": {
        "review": Command(
            "review:review",
            "Measure models in their states; write report and results.",
            "review intel-x25-m-g1-80gb --out review",
        ),
        "compare": Command(
            "compare:compare_command",
            "Compare models or stored results side by side.",
            "compare intel-x25-m-g1-80gb ocz-vertex-120gb",
        ),
        "run": Command(
            "fio:run",
            "Run a fio job file on a drive.",
            "run job.fio --drive intel-x25-m-g1-80gb --state used",
        ),
        "sweep": Command(
            "sweep:sweep",
            "Run a job for every combination of parameters.",
            "sweep policies.toml --store study",
        ),
        "merge": Command(
            "merge:merge",
            "Put stores of sweeps that were split into one.",
            "merge study-1 study-2 --into study",
        ),
        "figures": Command(
            "comparison:figures_command",
            "Compare models with what hardware reviews published.",
            "figures --results review/results.json",
        ),
    },
    "Traces": {
        "replay": Command(
            "replay:replay",
            "Replay a recorded block trace on a drive.",
            "replay trace.csv --drive intel-x25-m-g1-80gb --pacing capped",
        ),
        "convert": Command(
            "convert:convert",
            "Write a recorded block trace as an iolog of fio.",
            "convert trace.csv.gz --out trace.iolog",
        ),
        "synthesize": Command(
            "synthesis:synthesize",
            "Write a trace of the Storage Bench from its statistics.",
            "synthesize 2010-light --out light.iolog",
        ),
    },
    "Results": {
        "web": Command(
            "web:web", "Open the laboratory as a page in the browser.", "web lab.duckdb --port 0"
        ),
        "runs": Command("export:runs", "List the runs that a database holds.", "runs lab.duckdb"),
        "export": Command(
            "export:export_command",
            "Write stored results as CSV, Parquet or JSON.",
            "export review --csv tables --json all.json",
        ),
        "cache": Command(
            "cache:cache", "Say what prepared drives take on disk; remove them.", "cache --clear"
        ),
        "schema": Command(
            "export:schema", "Print what results.json holds, as a JSON schema.", "schema --markdown"
        ),
    },
    "Served drives": {
        "create": Command(
            "served:create",
            "Create a new drive in an image file.",
            "create my.drive --model intel-x25-m-g1-80gb",
        ),
        "serve": Command(
            "served:serve",
            "Serve a drive as a block device over NBD.",
            "serve my.drive --listen unix:/tmp/my.sock --clock instant",
        ),
        "smart": Command(
            "images:smart", "Show what a drive says about itself.", "smart my.drive --json"
        ),
        "check": Command(
            "images:check", "Look for damage in an image; change nothing.", "check my.drive"
        ),
        "erase": Command("images:erase", "Erase a drive securely.", "erase my.drive"),
        "trim": Command(
            "images:trim",
            "Tell a drive that blocks are free.",
            "trim my.drive --offset 1g --length 64m",
        ),
        "fault": Command(
            "fault:fault",
            "Inject faults into a drive that is served, or list them.",
            "fault my.drive power-cut at_operation=1000",
        ),
    },
}
"""By group and name, in the order in which help lists them."""

COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


class _Group(TyperGroup):
    """All commands by name; the modules of one are loaded when it is asked for."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in COMMANDS:
            self.commands[args[0]] = _loaded(args[0])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        del ctx
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), command.summary) for name, command in commands.items()]
                )


_TYPE = re.compile(r" <[^>]+>$")


def _in_one_form(name: str) -> str:
    """An option or argument as help has it, without the name of a type of Python's: a number is N,
    all else has a word of its own."""
    return _TYPE.sub(" N" if name.startswith("-") else "", name)


class _Command(TyperCommand):
    """One that refuses an option of one value that is given twice: the first would be dropped
    without a word."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        write = formatter.write_dl
        formatter.write_dl = lambda rows, *more, **named: write(
            [(_in_one_form(name), said) for name, said in rows], *more, **named
        )
        super().format_options(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            try:
                _, _, found = self.make_parser(ctx).parse_args(args=list(args))
            except _USAGE_ERROR as error:
                # The parser doesn't say whose help has the answer.
                error.ctx = error.ctx or ctx
                raise
            for parameter in found:
                # A switch may be said twice; arguments have no such words.
                takes_one = not (getattr(parameter, "is_flag", True) or parameter.multiple)
                if takes_one and found.count(parameter) > 1:
                    option = parameter.opts[0]
                    raise RequestError(
                        f"{option} is given more than once: it takes one value;"
                        f" see {ctx.command_path} --help"
                    )
        return super().parse_args(ctx, args)


def _loaded(name: str) -> Any:
    """A command with its options."""
    module, _, function = COMMANDS[name].place.partition(":")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    loaded = importlib.import_module(f"drivelab.commands.{module}")
    epilog = f"Example: drivelab {COMMANDS[name].example}"
    alone.command(name, cls=_Command, epilog=epilog)(getattr(loaded, function))
    return typer.main.get_command(alone)


def _app() -> typer.Typer:
    """The command line, with nothing but a line of help on each command."""
    app = typer.Typer(
        name="drivelab",
        cls=_Group,
        help="A solid-state drive in software, and the laboratory that tests it.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for name, command in COMMANDS.items():
        app.command(name, help=command.summary)(_not_loaded)
    return app


def _not_loaded() -> None:
    """What stands for a command until it is asked for."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from drivelab import installation

        print(installation.version_text())
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the versions of drivelab and its engine, and exit.",
        ),
    ] = False,
) -> None:
    del version


_USAGE_ERROR: type[Any] = typer.BadParameter.__mro__[1]
"""Typer's own class of it moves between versions."""

INTERRUPTED, PIPE_CLOSED, TERMINATED = 130, 141, 143
"""128 + the signal's number, as shells report it."""


SHOWN_LETTERS = 200
"""Of a text that a message has."""


class _Terminated(SystemExit):
    """SIGTERM: unlike its default, it lets half-written files be removed."""


def _terminate(_number: int, _frame: object) -> None:
    raise _Terminated(TERMINATED)


def main() -> None:
    """Entry point of the `drivelab` command."""
    standard_streams.prepare()
    signal.signal(signal.SIGTERM, _terminate)
    interruption.listen()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Runs one command; returns the exit status. Messages go to standard error."""
    try:
        _check_letters(arguments)
        with asides.of_a_command():
            status = _app()(arguments, prog_name="drivelab", standalone_mode=False)
        with output.standard():
            sys.stdout.flush()
    except RequestError as error:
        return _failed(_of_a_stale_engine(error) or error, 2)
    except WorkError as error:
        return _failed(_of_a_stale_engine(error) or error, 1)
    except (AttributeError, ImportError, TypeError) as error:
        # A defect, unless the engine lacks what the package asks it for.
        if stale := _of_a_stale_engine(error):
            return _failed(stale, 1)
        raise
    except _USAGE_ERROR as error:
        if not arguments:
            error.show()  # The help.
            return 2
        return _failed(_usage_text(error), 2)
    except _Terminated:
        return _failed("terminated", TERMINATED)
    except (EOFError, KeyboardInterrupt, typer.Abort) as error:
        # The end of what is read comes by itself, or as typer's word for both.
        end = error.__cause__ if isinstance(error, typer.Abort) else error
        if not isinstance(end, EOFError):
            return _failed("interrupted", INTERRUPTED)
        if not CUT_OFF.fullmatch(str(end)):
            raise
        return _failed(_of_a_cut_file(end), 1)
    except BrokenPipeError:
        # Python would complain once more when it flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except UnicodeEncodeError as error:
        # Of the working folder's name, perhaps.
        if (shown := paths.escaped(error.object)) == error.object:
            raise
        return _failed(f'"{shown[:SHOWN_LETTERS]}": allowed: text in UTF-8', 2)
    except MemoryError:
        return _failed("not enough memory for a drive of this size", 1)
    except OSError as error:
        # A name that got too long on the way, as a lock's beside a file, was somebody's wish, as is
        # a place that isn't theirs.
        is_wish = error.errno in (errno.ENAMETOOLONG, errno.EACCES)
        return _failed(_system_text(error), 2 if is_wish else 1)
    if status == INTERRUPTED:
        # Some versions of typer turn Ctrl-C into this status without a word.
        return _failed("interrupted", INTERRUPTED)
    return status if isinstance(status, int) else 0


CUT_OFF = re.compile("marshal data too short|EOF read where .*object expected")
"""What Python says of a compiled file that ends too early."""


def _of_a_cut_file(error: EOFError) -> str:
    package = Path(__file__).parent
    return (
        f"a compiled file of Python's is cut off ({error}), as a full disk leaves it; remove the "
        f"folders __pycache__ below {package}, and in its environment"
    )


def _system_text(error: OSError) -> str:
    """What the system said, of which file."""
    if error.filename is None or error.strerror is None:
        return str(error)
    return f'"{paths.escaped(os.fsdecode(error.filename))}": {error.strerror}'


def _check_letters(arguments: list[str]) -> None:
    """Raises RequestError for an argument that isn't text: results couldn't name it."""
    for before, text in zip(["", *arguments], arguments, strict=False):
        if (shown := paths.escaped(text)) != text:
            option = before if before.startswith("-") else "argument"
            raise RequestError(f'{option} "{shown}": allowed: text in UTF-8')


def _usage_text(error: Any) -> str:
    """What is wrong with the arguments, and where to look, in one line."""
    text = str(error.format_message()).strip().rstrip(".")
    # Pydantic's sentences, where typer asks it, don't say what they are about.
    if found := getattr(error.__cause__, "errors", None):
        text = text.replace(": Input should", f': "{found()[0]["input"]}" should', 1)
    command = error.ctx.command_path if error.ctx is not None else "drivelab"
    return f"{text[:1].lower()}{text[1:]}; see {command} --help"


def _of_a_stale_engine(error: Exception) -> str | None:
    """What to say instead, if the engine is older than the package and that is likely why."""
    try:
        from drivelab import installation
    except ImportError:
        return "the engine can't be loaded; `make setup` builds it"
    return installation.reason_of(error)


def _failed(message: object, status: int) -> int:
    print(f"drivelab: {message}", file=sys.stderr)
    return status
