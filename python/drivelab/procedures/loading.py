"""Seconds that somebody waits: boot, three programs right after it, a game's realm and level, and
the copy of a folder.

What is asked of the drive is in `applications/loading.py` and `applications/copying.py`; here it is
played, on files that are written before, behind the image of the used state.
"""

from __future__ import annotations

from dataclasses import dataclass

from drivelab.applications import copying
from drivelab.applications.loading import LOADS, Load, load_of
from drivelab.applications.scenario import (
    PROGRAM_SEED,
    Place,
    install,
    phase_requests,
    play,
    waited_s,
)
from drivelab.procedures.applications import Application, assumed_note, requests_table, room_note
from drivelab.procedures.measured import Measured, Value
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, MB, MIB, SECTOR_BYTES
from drivelab.targets import Target
from drivelab.workload import READ

QUICK_SHARE = 8
"""A quick review plays so much less; times are those of the part."""


def _notes(quick: bool, own: str, room: tuple[str, ...]) -> tuple[str, ...]:
    part = (f"quick: a part of 1/{QUICK_SHARE} was played, and the seconds are its",)
    return (assumed_note("loading.md"), own, *room, *(part if quick else ()))


@dataclass(frozen=True, kw_only=True)
class Loading(Application):
    """One load: reads that the processor waits for, and then works on."""

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Writes the files, lets the drive rest, and plays the load."""
        load, shorter = load_of(self.id), QUICK_SHARE if quick else 1
        place = install(target, load.phase.span_bytes, seed, progress, 0.8)
        requests = phase_requests(load.phase_of(shorter), place, PROGRAM_SEED)
        report = play(target, requests, self.id, seed, progress, 0.2)
        time_s = load.before_s + waited_s(report)
        given_s = load.before_s + load.processor_s / shorter
        return Measured(
            span_bytes=place.size_bytes,
            values=(
                Value("time_s", "Time that one waits", time_s, "s", "lower"),
                Value("drive_s", "Of it: waiting for the drive", time_s - given_s, "s", "lower"),
            ),
            tables=(requests_table(report),),
            notes=_notes(
                quick,
                f"processor: {given_s:g} s, {load.source}",
                room_note(place, load.phase.span_bytes),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class FileCopy(Application):
    """The copy of a folder within the drive, to its last byte on it."""

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Writes the folder, lets the drive rest, and copies it."""
        place = install(target, copying.SPAN_BYTES, seed, progress, 0.5)
        requests = copying.copy_requests(place, PROGRAM_SEED, QUICK_SHARE if quick else 1)
        report = play(target, requests, self.id, seed, progress, 0.5)
        copied = int(requests.sector_count[requests.op == READ].sum()) * SECTOR_BYTES
        time_s = waited_s(report)
        return Measured(
            span_bytes=place.size_bytes,
            values=(
                Value("time_s", "Time of the copy", time_s, "s", "lower"),
                Value("mb_per_s", "Copied per second", copied / time_s / MB, "MB/s", "higher"),
            ),
            tables=(requests_table(report),),
            notes=_notes(
                quick, "no processor time: the drive alone is waited for", _folder_note(place)
            ),
        )


def _folder_note(place: Place) -> tuple[str, ...]:
    """The seconds of a smaller folder are not those of the title's."""
    folder_bytes = copying.folder_bytes(place)
    if folder_bytes >= copying.COPY_BYTES:
        return ()
    return (
        f"the drive has room for a folder of {folder_bytes // MIB} MiB, not "
        f"{copying.COPY_BYTES // MIB} MiB: the seconds are its",
    )


def _loading(load: Load) -> Loading:
    return Loading(
        id=load.name,
        title=load.title,
        group="applications",
        cost=0.2,
    )


PROCEDURES = (
    *map(_loading, LOADS),
    FileCopy(
        id="file-copy",
        title="Copy of a folder of 1 GiB within the drive",
        group="applications",
        least_bytes=GIB,
        cost=0.15,
    ),
)
