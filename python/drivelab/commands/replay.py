"""`replay`: recorded traces."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import _engine, arguments, states
from drivelab import model as models
from drivelab import replay as laboratory
from drivelab.commands import printing, recording
from drivelab.commands.preparation import prepared_drive, set_words
from drivelab.data_patterns import parse_data_pattern
from drivelab.database import REPLAY, Recorded
from drivelab.errors import RequestError, nearest
from drivelab.fio.units import time_ns
from drivelab.progress import Stopwatch, TaskProgress, run_alone
from drivelab.quantities import derive_seed
from drivelab.results import model_result
from drivelab.targets import Report

FORMATS = ("mqsim", "msr", "iolog")
PACINGS: tuple[laboratory.Pacing, ...] = ("arrival", "closed", "capped")
BEYOND = ("reject", "modulo", "compact")


def replay(
    trace_file: Annotated[Path, typer.Argument(metavar="TRACE", help="A recorded trace.")],
    drive: arguments.DriveName,
    format_name: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="mqsim, msr or iolog; default: guessed."),
    ] = None,
    pacing: Annotated[
        str,
        typer.Option(
            "--pacing",
            metavar="HOW",
            help="arrival: at recorded times; closed: as fast as possible; capped: long gaps cut.",
        ),
    ] = "arrival",
    idle_cap: Annotated[
        str, typer.Option("--idle-cap", metavar="TIME", help="Longest gap with capped, e.g. 25ms.")
    ] = "25ms",
    queue_depth: Annotated[
        int | None,
        typer.Option("--queue-depth", min=1, help="Outstanding requests with closed; default: 1."),
    ] = None,
    beyond: Annotated[
        str,
        typer.Option(
            "--out-of-range",
            metavar="HOW",
            help="Requests beyond the drive: reject, modulo (wrap) or compact (renumber).",
        ),
    ] = "reject",
    device: Annotated[
        str | None, typer.Option("--device", help="Only this device of the trace.")
    ] = None,
    state: arguments.StateName = "new",
    data: arguments.DataText = "random",
    seed: arguments.Seed = 1,
    sets: arguments.Settings = None,
    database_file: arguments.DatabaseFile = None,
    json: arguments.Json = False,
) -> None:
    """Replay a recorded trace on a drive: MQSim ASCII, MSR Cambridge CSV, fio iolog v2 and v3."""
    watch = Stopwatch()
    _check_words(format_name, pacing, beyond)
    recording.check(database_file)
    if queue_depth is not None and pacing != "closed":
        raise RequestError(f"--queue-depth {queue_depth}: counts with --pacing closed only")
    pattern, cap_ns = parse_data_pattern(data), _idle_cap_ns(idle_cap)
    found = models.load(drive, [models.split_override(text) for text in sets or ()])
    wanted = states.find(state)
    trace = laboratory.read_trace(
        trace_file, format_name, device, found.user_capacity_bytes, beyond
    )
    job = laboratory.replay_job(
        trace_file.name,
        next(item for item in PACINGS if item == pacing),
        queue_depth or 1,
        cap_ns,
        derive_seed(seed, found.name, state, "replay"),
        pattern,
    )

    def work(progress: TaskProgress) -> Report:
        target, share = prepared_drive(found, wanted, seed, progress)
        return target.run_requests(job, trace.requests, progress, share)

    report = run_alone(f"{found.name}: {trace_file.name}", work)
    options = {
        "--drive": drive,
        "--state": state,
        "--format": format_name,
        "--pacing": pacing,
        "--data": data,
        "--idle-cap": idle_cap if pacing == "capped" else None,
        "--queue-depth": queue_depth,
        "--out-of-range": beyond,
        "--device": device,
    }
    words = ["drivelab", "replay", str(trace_file), *_option_words(options)]
    document = {
        "drivelab": {
            "engine_version": _engine.engine_version(),
            "command_line": printing.command_line([*words, *set_words(sets)], seed),
            "seed": seed,
            "model": found.name,
            "model_hash": found.hash,
            "state": state,
            "pacing": pacing,
            "data": job.data.model_dump(),
        },
        "trace": {
            "file": trace_file.name,
            "format": trace.format,
            "devices": list(trace.devices),
            "requests": len(trace.requests),
        },
        "replay": laboratory.replay_result(report),
        "wall_s": watch.seconds(),
    }
    recording.record(database_file, Recorded(REPLAY, document, [model_result(found)]))
    if json:
        printing.document(document)
    else:
        _print(document)


def _check_words(format_name: str | None, pacing: str, beyond: str) -> None:
    for option, value, allowed in (
        ("--format", format_name, FORMATS),
        ("--pacing", pacing, PACINGS),
        ("--out-of-range", beyond, BEYOND),
    ):
        if value is not None and value not in allowed:
            hint, known = nearest(value, allowed), ", ".join(allowed)
            raise RequestError(f'{option} "{value}" is unknown{hint} Allowed: {known}.')


def _idle_cap_ns(text: str) -> int:
    try:
        return time_ns(text)
    except ValueError as error:
        raise RequestError(f'--idle-cap "{text}": expected {error}') from None


def _option_words(options: Mapping[str, str | int | None]) -> list[str]:
    """Options as one types them, those without a value left out."""
    given = ((option, str(value)) for option, value in options.items() if value is not None)
    return [word for pair in given for word in pair]


def _print(document: dict[str, Any]) -> None:
    measured, trace = document["replay"], document["trace"]
    out = printing.console()
    out.print(
        f"{trace['file']} ({trace['format']}, {trace['requests']} requests) took "
        f"{printing.number(measured['duration_s'])} s: {printing.number(measured['mib_per_s'])} "
        f"MiB/s, {printing.number(measured['iops'])} IOPS",
        markup=False,
    )
    columns = ("", "requests", "MiB/s", "IOPS", "mean ms", "99 % ms", "99.99 % ms", "max ms")
    rows = []
    for direction in laboratory.DIRECTIONS:
        part = measured[direction]
        if part["ios"]:
            times = [part["latency_us"][key] for key in ("mean", "p99", "p99_99", "max")]
            rows.append(
                (
                    direction,
                    str(part["ios"]),
                    printing.number(part["mib_per_s"]),
                    printing.number(part["iops"]),
                    *(printing.number(None if us is None else us / 1000) for us in times),
                )
            )
    printing.table(columns, rows, columns[1:])
    out.print(
        f"write amplification {printing.number(measured['write_amplification'], 3)}, "
        f"{measured['erases']} erases, {printing.number(measured['energy_j'], 3)} J",
        markup=False,
    )
