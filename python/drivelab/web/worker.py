"""`python -m drivelab.web.worker`: measures one order, says how far it is, records it, and ends.

A process of its own, so that it can be ended at any moment, and a defect ends nothing else. Its
order is the first line of standard input; when that closes, the server is gone, and so is this.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from drivelab.errors import RequestError, WorkError
from drivelab.web import work


def _tell(**words: Any) -> None:
    print(json.dumps(words), flush=True)


def _end_with_the_server() -> None:
    sys.stdin.read()
    os._exit(1)


def main() -> None:
    """Standard output has a line of JSON for each thing that happens; the last is runs or error."""
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_server, daemon=True).start()

    def heard(share: float, doing: Sequence[str]) -> None:
        _tell(share=round(min(share, 1.0), 4), doing=list(doing)[:3])

    try:
        order = work.ONE.validate_python(asked["order"])
        _tell(**work.measure(order, Path(asked["results"]), heard))
    except (RequestError, WorkError, OSError) as error:
        _tell(error=str(error))
    except MemoryError:
        _tell(error="not enough memory for drives of this size")


if __name__ == "__main__":
    main()
