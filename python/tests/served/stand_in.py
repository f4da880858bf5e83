"""A stand-in for the engine's images: files of JSON, and a server that only waits for its stop.

What the command line promises is tried with it where the engine itself would have to be hurried
or broken; everything else is tried on the engine.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

FACTS: dict[str, Any] = {
    "title": "Test drive",
    "model": "test",
    "firmware": "1.0",
    "serial": "S1",
    "user_capacity_bytes": 1_000_000_512,
    "image_format": 1,
    "image_bytes_on_disk": 4096,
    "power_on_ns": 7_500_000_000_000,
    "power_cycles": 3,
    "unsafe_shutdowns": 1,
    "clean": True,
    "read_only": False,
    "host_read_bytes": 1024,
    "host_write_bytes": 10**9,
    "host_trim_bytes": 0,
    "program_bytes_host": 10**9,
    "program_bytes_cleaning": 2 * 10**8,
    "program_bytes_wear": 0,
    "program_bytes_map": 10**7,
    "program_bytes_parity": 0,
    "erases_cleaning": 5,
    "erases_wear": 1,
    "erases_map": 1,
    "erase_count_min": 0,
    "erase_count_mean": 2.5,
    "erase_count_max": 7,
    "endurance_erases": 100,
    "spare_blocks": 38,
    "spare_blocks_new": 40,
    "free_blocks": 12,
    "retired_blocks": 2,
    "read_errors": 0,
    "program_failures": 2,
    "erase_failures": 0,
}


REQUESTS = {
    "read": {"count": 0, "errors": 0, "latency_ns": {"mean": None, "max": None}},
    "write": {"count": 2, "errors": 1, "latency_ns": {"mean": 250_000, "max": 2_000_000}},
    "write_zeroes": {"count": 3, "errors": 0, "latency_ns": {"mean": 5_000, "max": 5_000}},
}


class Stopped:
    """A stop handle."""

    def __init__(self) -> None:
        self.event = threading.Event()

    def stop(self) -> None:
        self.event.set()


class Engine:
    """Has the functions of the engine for images."""

    class ImageRequestError(ValueError):
        pass

    class ImageWorkError(Exception):
        pass

    ServerStop = Stopped

    def __init__(self) -> None:
        self.served: list[tuple[str, str, str, dict[str, Any]]] = []
        self.facts = dict(FACTS)
        self.problems: list[str] = []
        self.late_ns: dict[str, int | None] = dict.fromkeys(("mean", "p99", "max"))
        self.failure: Exception | None = None
        self.done: list[tuple[str, Any]] = []

    def create_image(self, path: str, texts_json: str, seed: int) -> str:
        assert json.loads(texts_json)["layers"]
        Path(path).write_text("{}", encoding="utf-8")
        self.done.append(("create", seed))
        return json.dumps({"image_format": 1})

    def check_image(self, _path: str) -> str:
        if self.failure is not None:
            raise self.failure
        return json.dumps({"problems": self.problems, "blocks": 40, "cells_in_use": 0})

    def erase_image(self, path: str) -> str:
        self.done.append(("erase", path))
        return "{}"

    def trim_image(self, _path: str, offset: int, length: int) -> str:
        self.done.append(("trim", (offset, length)))
        return "{}"

    def check_fault_plan(self, _plan_json: str) -> None:
        pass

    def smart_image(self, _path: str) -> str:
        return json.dumps(self.facts)

    def serve_image(
        self,
        path: str,
        listen: str,
        clock: str,
        options_json: str,
        ready: Callable[[str], None],
        stop: Stopped,
    ) -> str:
        if self.failure is not None:
            raise self.failure
        self.served.append((path, listen, clock, json.loads(options_json)))
        uri = f"nbd+unix:///{json.loads(options_json)['export_name']}?socket={listen[5:]}"
        ready(json.dumps({**self.facts, "uri": uri, "mount_ns": 250_000_000}))
        assert stop.event.wait(180)
        after = self.facts | {
            "host_write_bytes": 2 * 10**9,
            "program_bytes_host": 2 * 10**9 + 5 * 10**8,
        }
        return json.dumps(
            {
                "reason": "stopped",
                "statistics": {"requests": REQUESTS},
                "late_ns": self.late_ns,
                "recorded": None,
                "before": self.facts,
                "after": after,
            }
        )
