"""`replay`: recorded traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import _engine, arguments, states
from drivelab import model as models
from drivelab import replay as laboratory
from drivelab.commands import printing
from drivelab.commands.preparation import prepared_drive, set_words
from drivelab.data_patterns import parse_data_pattern
from drivelab.errors import RequestError, nearest
from drivelab.fio.units import time_ns
from drivelab.progress import Stopwatch, TaskProgress, run_alone
from drivelab.quantities import derive_seed
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
    json: arguments.Json = False,
) -> None:
    """Replay a recorded trace on a drive: MQSim ASCII, MSR Cambridge CSV, fio iolog v2 and v3."""
    watch = Stopwatch()
    if format_name is not None:
        _one_of("--format", format_name, FORMATS)
    _one_of("--pacing", pacing, PACINGS)
    _one_of("--out-of-range", beyond, BEYOND)
    if queue_depth is not None and pacing != "closed":
        raise RequestError(f"--queue-depth {queue_depth}: counts with --pacing closed only")
    pattern = parse_data_pattern(data)
    try:
        idle_cap_ns = time_ns(idle_cap)
    except ValueError as error:
        raise RequestError(f'--idle-cap "{idle_cap}": expected {error}') from None
    found = models.load(drive, [models.split_override(text) for text in sets or ()])
    wanted = states.find(state)
    trace = laboratory.read_trace(
        trace_file, format_name, device, found.user_capacity_bytes, beyond
    )
    job = laboratory.replay_job(
        trace_file.name,
        next(item for item in PACINGS if item == pacing),
        queue_depth or 1,
        idle_cap_ns,
        derive_seed(seed, found.name, state, "replay"),
        pattern,
    )

    def work(progress: TaskProgress) -> Report:
        target, share = prepared_drive(found, wanted, seed, progress)
        return target.run_requests(job, trace.requests, progress, share)

    report = run_alone(f"{found.name}: {trace_file.name}", work)
    document = {
        "drivelab": {
            "engine_version": _engine.engine_version(),
            "command_line": _command_line(
                trace_file,
                drive,
                format_name,
                pacing,
                idle_cap,
                queue_depth,
                beyond,
                device,
                state,
                data,
                seed,
                sets,
            ),
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
    if json:
        printing.document(document)
    else:
        _print(document)


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise RequestError(
            f'{option} "{value}" is unknown{nearest(value, allowed)} Allowed: {", ".join(allowed)}.'
        )


def _command_line(
    trace_file: Path,
    drive: str,
    format_name: str | None,
    pacing: str,
    idle_cap: str,
    queue_depth: int | None,
    beyond: str,
    device: str | None,
    state: str,
    data: str,
    seed: int,
    sets: list[str] | None,
) -> str:
    words = ["drivelab", "replay", str(trace_file), "--drive", drive, "--state", state]
    words += ["--format", format_name] if format_name is not None else []
    words += ["--pacing", pacing, "--data", data]
    words += ["--idle-cap", idle_cap] if pacing == "capped" else []
    words += ["--queue-depth", str(queue_depth)] if queue_depth is not None else []
    words += ["--out-of-range", beyond]
    words += ["--device", device] if device is not None else []
    return printing.command_line([*words, *set_words(sets)], seed)


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
