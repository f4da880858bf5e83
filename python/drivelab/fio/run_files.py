"""Files that `run` and `replay` write beside what they print: logs of fio, a request log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab import output
from drivelab.errors import RequestError
from drivelab.fio.groups import GroupRun
from drivelab.fio.jobs import FioJob, Workload
from drivelab.lab.request_file import check_replaceable
from drivelab.names import told_apart
from drivelab.subject import Subject
from drivelab.targets.fio import RealDrive

if TYPE_CHECKING:
    import polars as pl

    from drivelab.lab.request_file import RequestFile
    from drivelab.lab.timeline import Timeline, Window

Writers = dict[Path, Callable[[Path], None]]


def check_request_log(path: Path | None, real: bool) -> None:
    """Raises RequestError for a file that can't be one, or a drive that doesn't tell."""
    if path is None:
        return
    option = "--request-log"
    output.check_ending(path, option, ".parquet")
    if real:
        raise RequestError(
            f"{option}: a real drive's requests have no parts; write_lat_log in a job file has "
            "their latencies"
        )
    output.writable_file(path, option)
    check_replaceable(path, option)


def window(path: Path | None, text: str | None, drive: Subject) -> Window | None:
    """What `--timeline` and its window say; raises RequestError."""
    if path is None:
        if text is not None:
            raise RequestError(f"--timeline-window {text}: counts with --timeline only")
        return None
    output.check_ending(path, "--timeline", ".json")
    if drive.is_disk or isinstance(drive, RealDrive):
        what = "a hard disk has no dies" if drive.is_disk else "a real drive doesn't tell"
        raise RequestError(f"--timeline: {what}")
    output.writable_file(path, "--timeline")
    from drivelab.lab.timeline import HEAD, Window

    output.check_replaceable(path, "--timeline", HEAD.encode())
    return Window() if text is None else Window.of("--timeline-window", text)


def check_logs(jobs: Sequence[FioJob]) -> None:
    """Raises RequestError for logs in places where nothing can be written."""
    for job in jobs:
        for kind in job.logs.names if job.logs is not None else ():
            assert job.logs is not None
            path = job.logs.path(kind, job.number)
            output.writable_file(path, f'job "{job.name}": log')


@contextmanager
def requests(path: Path | None, workload: Workload) -> Iterator[RequestFile | None]:
    """Where requests go while they run, if a log of them is wanted; gone if nobody publishes it."""
    if path is None:
        yield None
        return
    from drivelab.lab import request_file

    with request_file.request_file(path, told_apart([job.name for job in workload.jobs])) as file:
        yield file


def publish(
    workload: Workload,
    runs: Sequence[GroupRun],
    request_log: Path | None,
    requests: RequestFile | None,
    timeline_file: Path | None,
    remark: Callable[[str], None],
) -> None:
    """Writes the files of a run, all of them or none; `remark` hears what must be known of them."""
    texts: dict[Path, str] = {}
    for group, run in zip(workload.groups, runs, strict=True):
        for index, job in enumerate(group):
            if job.logs is not None:
                for kind, text in _log_texts(job, index, run).items():
                    path = job.logs.path(kind, job.number)
                    # Jobs that share a file stand in it one after another, as in fio.
                    texts[path] = texts.get(path, "") + text
    writers: Writers = {path: partial(_write_text, text) for path, text in texts.items()}
    if request_log is not None and requests is not None:
        writers[request_log] = requests.move_to
    timeline = _timeline(workload, runs[-1])
    if timeline is not None and timeline_file is not None:
        writers[timeline_file] = timeline.write_to
        for note in timeline.notes:
            remark(note)
    output.publish_files(writers)


def _timeline(workload: Workload, run: GroupRun) -> Timeline | None:
    """The timeline of the last group, if it has one."""
    if run.recording is None or run.columns is None:
        return None
    start_ns = run.report["start_ns"]
    names = told_apart([job.name for job in workload.groups[-1]])
    return run.recording.timeline(_log_table(run.columns, names), start_ns)


def of_replay(columns: Mapping[str, Any] | None, name: str, request_log: Path | None) -> Writers:
    """What writes the request log of a trace's last round, if one is wanted."""
    if request_log is None or columns is None:
        return {}
    from drivelab.lab.request_file import write_table

    return {request_log: partial(write_table, _log_table(columns, [name]))}


def _log_texts(job: FioJob, index: int, run: GroupRun) -> dict[str, str]:
    """The logs of one job: those that fio wrote, or the engine's as fio would write them."""
    assert job.logs is not None
    measured = run.report["jobs"][index]
    if "fio" in measured:
        found: dict[str, str] = measured["fio"]["logs"]
        return {kind: text for kind, text in found.items() if kind in job.logs.names}
    # Tables take a while to load, which most runs don't need.
    from drivelab.fio import log_files

    assert run.columns is not None
    start_ns = job.job.start_ns + job.job.ramp_ns
    end_ns = start_ns + measured["runtime_ns"]
    return log_files.texts(job.logs, run.columns, index, start_ns, end_ns)


def _log_table(columns: Mapping[str, Any], names: Sequence[str]) -> pl.DataFrame:
    from drivelab.lab.requests import log_table

    return log_table(columns, names)


def _write_text(text: str, path: Path) -> None:
    output.write_text(path, text)
