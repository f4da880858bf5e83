"""`create` and `serve`: drives in image files, served to real operating systems."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import arguments, completion, progress
from drivelab import model as models
from drivelab.commands import printing
from drivelab.errors import RequestError
from drivelab.served import address, clock, faults, image, server, session, upkeep
from drivelab.text import images


def create(
    path: arguments.NewImageFile,
    model_name: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Name, NAME@FIRMWARE, or path of a TOML file.",
            autocompletion=completion.model_names,
        ),
    ],
    sets: arguments.Settings = None,
    scale: arguments.Scale = None,
    seed: arguments.Seed = 1,
    state: Annotated[
        str, typer.Option("--state", metavar="STATE", help="new is the only one.")
    ] = upkeep.NEW,
    json: arguments.Json = False,
) -> None:
    """Create a new drive in an image file, for `serve`.

    Its bytes take space as they are written. `--scale 1/64` makes a smaller drive of the same
    character.
    """
    if state != upkeep.NEW:
        raise RequestError(
            f'--state "{state}": allowed: {upkeep.NEW}; serve the drive with --clock instant and '
            "write to it to bring it into another"
        )
    settings = arguments.settings(sets, scale)
    model = models.load(model_name, models.split_overrides(settings))
    document = upkeep.create(path, model, seed)
    printing.model_notes([model])
    if json:
        printing.document(document)
    else:
        printing.plain(images.created(document))


Listen = Annotated[
    str | None,
    typer.Option(
        "--listen",
        metavar="ADDRESS",
        help="unix:PATH, HOST:PORT, or PORT on 127.0.0.1; default: unix:IMAGE.sock.",
    ),
]
ClockText = Annotated[
    str,
    typer.Option(
        "--clock",
        metavar="CLOCK",
        help="real: latencies of the model; instant: none; or a scale, e.g. 2 for twice as fast.",
    ),
]
ExportName = Annotated[
    str, typer.Option("--name", metavar="EXPORT", help="Name of the export; default: none.")
]
ControlSocket = Annotated[
    Path | None,
    typer.Option(
        "--control",
        metavar="PATH",
        help="Socket for `smart` and `fault`; default: IMAGE.control.",
    ),
]
FaultPlan = Annotated[
    Path | None,
    typer.Option("--faults", metavar="PLAN.toml", help="Faults to inject, with their seed."),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Refuse writes, trims and zeroing.")]
Sync = Annotated[
    bool,
    typer.Option(
        "--sync",
        help="A flush also reaches the disk that holds the image: promises hold when this "
        "machine loses power, too.",
    ),
]
RecordFile = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="TRACE",
        help="New file for what clients ask for, as an iolog that `replay` reads.",
    ),
]
Stdio = Annotated[bool, typer.Option("--stdio", help="One session over standard input and output.")]


def serve(
    path: arguments.ImageFile,
    listen: Listen = None,
    clock_text: ClockText = clock.REAL,
    name: ExportName = "",
    control: ControlSocket = None,
    plan_file: FaultPlan = None,
    read_only: ReadOnly = False,
    sync: Sync = False,
    record: RecordFile = None,
    stdio: Stdio = False,
) -> None:
    """Serve a drive as a block device over NBD, until Ctrl-C or SIGTERM."""
    image.changeable(path)
    if stdio and listen is not None:
        raise RequestError("--stdio and --listen: give one of them")
    if stdio and control is not None:
        raise RequestError("--stdio and --control: a session of its own has no control socket")
    if record is not None:
        server.check_record(record)
    place = control or address.control_socket(path)
    request = server.Request(
        image=path,
        address=None if stdio else address.of_server(path, listen),
        control=None if stdio else address.socket_path(place, "--control"),
        clock=clock.parse(clock_text),
        export=address.export_name(name),
        read_only=read_only,
        sync=sync,
        faults=None if plan_file is None else faults.read_plan(plan_file),
        record=record,
    )
    address.check_apart(
        {
            "--listen": None if request.address is None else request.address.path,
            "--control": request.control,
            "--record": record,
        }
    )
    if request.address is not None:
        address.check(request.address, "--listen")
    if request.control is not None:
        address.check(address.Address(request.control), "--control")
    was_clean = image.smart(path).get("clean") is not False
    with contextlib.ExitStack() as until_ready:
        until_ready.enter_context(
            progress.patience(f"{path}: the drive looks for its data", after_s=0.5)
        )

        def ready(facts: Mapping[str, Any]) -> None:
            until_ready.close()
            _ready(request, facts, was_clean)

        found = server.serve(request, ready)
    for line in session.lines(found, request):
        printing.message(line)


def _ready(request: server.Request, facts: Mapping[str, Any], was_clean: bool) -> None:
    """The URI to standard output, all else to standard error."""
    printing.message("\n".join(session.begun(request, facts, was_clean)))
    if request.address is not None:
        with contextlib.suppress(BrokenPipeError):
            printing.plain(f"{facts['uri']}\n", now=True)
