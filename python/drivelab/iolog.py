"""Requests as fio's iolog, version 3: what `replay` reads, and what fio itself replays.

`fio --name=replay --read_iolog=FILE --replay_redirect=DEVICE --ioengine=libaio --iodepth=32` runs
such a file on a device [FIO].
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from drivelab import paths
from drivelab.errors import RequestError
from drivelab.output import check_replaceable, publish, writable_folder
from drivelab.quantities import NS_PER_US, SECTOR_BYTES
from drivelab.workload import FLUSH, READ, TRIM, WRITE, Requests

ACTIONS = {READ: "read", WRITE: "write", FLUSH: "sync", TRIM: "trim"}
LENGTH_LIMIT_BYTES = 2**32
"""fio reads a length into 32 bits."""
FILE_NAME = "drive"
"""What the requests go to, unless somebody says otherwise; fio's `replay_redirect` replaces it."""
HEAD = b"fio version 3 iolog"
_LINES_AT_ONCE = 100_000


def publish_iolog(out: Path, requests: Requests, file_name: str = FILE_NAME) -> Path:
    """Writes an iolog that appears whole or not at all, and returns its path.

    Raises RequestError for a folder that can't be written and for what an iolog can't say, and
    WorkError if the disk refuses.
    """
    _check(requests)
    check_place(out)
    publish(out.parent, {out.name: lambda path: write_iolog(path, requests, file_name)})
    return out


def check_place(out: Path) -> None:
    """Raises RequestError if an iolog can't be written there, or would replace something else.

    An earlier iolog of version 3 may be replaced; a recorded trace couldn't be got back.
    """
    paths.checked("--out", out)
    if out.is_dir():
        raise RequestError(f'--out "{out}": is a folder; give the name of a file')
    writable_folder(out.parent, file=out)
    check_replaceable(out, "--out", HEAD)


def write_iolog(path: Path, requests: Requests, file_name: str = FILE_NAME) -> None:
    """Writes an iolog. Times are in whole us since the start: a rest below 1 us is cut off.

    Requests without arrival times all arrive at 0. Raises RequestError for a request of 4 GiB.
    """
    _check(requests)
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.writelines(_lines(requests, file_name))


def _check(requests: Requests) -> None:
    sectors = int(requests.sector_count.max(initial=0))
    if sectors * SECTOR_BYTES >= LENGTH_LIMIT_BYTES:
        raise RequestError(
            f"a request of {sectors * SECTOR_BYTES} bytes: an iolog allows less than "
            f"{LENGTH_LIMIT_BYTES}"
        )


def _lines(requests: Requests, file_name: str) -> Iterator[str]:
    yield f"fio version 3 iolog\n0 {file_name} add\n0 {file_name} open\n"
    last_us = 0
    for start in range(0, len(requests), _LINES_AT_ONCE):
        part = slice(start, start + _LINES_AT_ONCE)
        ops = requests.op[part].tolist()
        offsets = (requests.lba[part].astype(np.uint64) * np.uint64(SECTOR_BYTES)).tolist()
        lengths = (requests.sector_count[part].astype(np.uint64) * np.uint64(SECTOR_BYTES)).tolist()
        times_us = [0] * len(ops)
        if requests.arrival_ns is not None:
            times_us = (requests.arrival_ns[part] // np.uint64(NS_PER_US)).tolist()
        last_us = times_us[-1]
        columns = zip(times_us, ops, offsets, lengths, strict=True)
        # fio wants two numbers after every action, also where they mean nothing.
        yield "".join(
            f"{time_us} {file_name} {ACTIONS[op]} {0 if op == FLUSH else offset} {length}\n"
            for time_us, op, offset, length in columns
        )
    yield f"{last_us} {file_name} close\n"
