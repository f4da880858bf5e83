"""`python -m drivelab.web.trace_check FILE NAME`: whether a file is a trace, and what it holds.

A process of its own with little memory and time: what somebody sends may be anything, and a small
file that was compressed may be a very large one.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from drivelab.errors import RequestError, WorkError
from drivelab.progress import TaskProgress
from drivelab.text.measured import trace_notes
from drivelab.traces import TraceFile, read_trace

MEMORY_BYTES_MAX = 4 * 1024**3
"""Of addresses, of which most are never used."""
SECONDS_MAX = 60
"""Of the processor."""
REQUESTS_MAX = 20_000_000
"""Every process that replays a trace holds all of its requests, tens of bytes each."""


def command(file: Path, name: str) -> list[str]:
    """The process that looks at a file, and tells of it by this name."""
    return [sys.executable, "-m", "drivelab.web.trace_check", str(file), name]


def check(file: Path, name: str) -> None:
    """Raises RequestError unless the process finds a trace: before another reads it without
    such limits."""
    said = subprocess.run(command(file, name), stdin=subprocess.DEVNULL, capture_output=True).stdout
    try:
        told = json.loads(said)
    except ValueError:
        raise too_much(name) from None
    if "error" in told:
        raise RequestError(str(told["error"]))


def too_much(name: str) -> RequestError:
    """Why a file is refused of which the process said nothing."""
    reason = "it can't be read with the memory and the time that a page has for it"
    return RequestError(f"{name}: {reason}")


def look(path: Path, name: str) -> dict[str, Any]:
    """What a file holds as `trace`, or why it is none as `error`."""
    try:
        found = read_trace(TraceFile(path), TaskProgress("read"))
        count = len(found.requests)
        if not count:
            return {"error": f"{name}: it holds no requests"}
        if count > REQUESTS_MAX:
            return {"error": f"{name}: {count} requests; allowed: {REQUESTS_MAX}"}
        record = found.record()
        own = {"file": name, "end_bytes": found.end_bytes, "notes": list(trace_notes(record))}
        return {"trace": record | own}
    except MemoryError:
        return {"error": f"{name}: it is too large"}
    except (RequestError, WorkError) as error:
        # Whoever asks knows which file it is, and needn't know where.
        return {"error": str(error).replace(str(path), name) or f"{name}: it can't be read"}
    except (ValueError, IndexError) as error:
        # No such file is known; if there is one, what is wrong is said, not that it was too large.
        return {"error": f"{name}: it can't be read as a trace: {error}".replace(str(path), name)}


def main(path: Path, name: str) -> None:
    """Prints `trace`, or `error`."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
    print(json.dumps(look(path, name)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
