"""`python -m drivelab.web.trace_check FILE NAME`: whether a file is a trace, and what it holds.

A process of its own with little memory and time: what somebody sends may be anything, and a small
file that was compressed may be a very large one.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from drivelab.errors import RequestError
from drivelab.progress import TaskProgress
from drivelab.quantities import SECTOR_BYTES
from drivelab.traces import TraceFile, read_trace
from drivelab.workload import Requests

MEMORY_BYTES_MAX = 4 * 1024**3
"""Of addresses, of which most are never used."""
SECONDS_MAX = 60
"""Of the processor."""


def _end_bytes(requests: Requests) -> int:
    """Where the furthest request ends: how large a drive it was recorded on at least."""
    return int((requests.lba + requests.sector_count).max()) * SECTOR_BYTES


def main(path: Path, name: str) -> None:
    """Prints `trace`, or `error`."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
    try:
        found = read_trace(TraceFile(path), TaskProgress("read"))
        print(
            json.dumps(
                {"trace": found.record() | {"file": name, "end_bytes": _end_bytes(found.requests)}}
            )
        )
    except (RequestError, MemoryError) as error:
        # Whoever asks knows which file it is, and needn't know where.
        text = str(error).replace(str(path), name) or f"{name}: it is too large"
        print(json.dumps({"error": text}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
