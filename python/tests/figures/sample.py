"""Records of models and tests, as in results.json, for comparisons."""

from __future__ import annotations

from typing import Any

from drivelab.figures import compared_ids, constants
from drivelab.figures.bindings import Moves, Row
from drivelab.variation import Scope

LINK, READ_PATH, PROGRAM = "link.overhead", "controller.read_path", "flash.program"
X25_M = {
    "name": "intel-x25-m-g1-80gb",
    "title": "Intel X25-M G1 80 GB",
    "user_capacity_bytes": 80 * 10**9,
    "parameters": [
        {"key": "link.overhead", "source": "fitted to AN-149: sequential read of a new drive"},
        {"key": "controller.read_path", "source": "specified: 250 MB/s"},
        {"key": "flash.program", "source": "[S17]"},
        {"key": "price_usd", "value": 400, "source": "[AN]"},
    ],
}


ROWS = {
    "intel-x25-m-g1-80gb": Row(
        hash="None",
        constants=constants.digest(Scope.of("intel-x25-m-g1-80gb").own("intel-x25-m-g1-80gb")),
        figures=compared_ids(),
        moves={
            LINK: {"AN-149": Moves(0.05, -0.05), "AN-150": Moves(0.0, -0.03)},
            READ_PATH: {"AN-031": Moves(-0.08, 0.05), "AN-150": Moves(-0.08, 0.05)},
            PROGRAM: {"AN-092": Moves(0.05, -0.05)},
        },
    )
}
"""What binds the figures of the first model. What restates nothing and was fitted to nothing
binds nothing."""


def model(name: str, *sources: str, **values: float) -> dict[str, Any]:
    """A model with parameters of these sources and values."""
    parameters: list[dict[str, Any]] = [{"key": "x", "source": source} for source in sources]
    parameters += [{"key": key, "value": value, "source": "[AN]"} for key, value in values.items()]
    capacity = 100 * 10**9
    return {"name": name, "user_capacity_bytes": capacity, "parameters": parameters}


def measured(
    test_id: str,
    state: str,
    mib_per_s: float,
    mean_us: float = 1.0,
    max_us: float = 1.0,
    model_name: str = "intel-x25-m-g1-80gb",
) -> dict[str, Any]:
    """The record of a test."""
    return {
        "model": model_name,
        "id": test_id,
        "state": state,
        "mib_per_s": mib_per_s,
        "iops": mib_per_s * 256,
        "latency_us": {"mean": mean_us, "max": max_us},
        "mean_power_w": 0.5,
        "pass": {"mean_mb_per_s": 1.0, "median_mb_per_s": 2.0, "floor_mb_per_s": 0.0},
    }


RANDOM = "random-write-4k-qd3-sector"
TESTS = [
    measured("sequential-read-2m", "new", 260.0),
    measured("sequential-read-2m", "used", 230.0),
    measured(RANDOM, "new", 40.0, 290.0),
    measured(RANDOM, "used", 21.0, 1100.0),
    measured("random-write-4k-qd1-drive", "new", 10.0, 1.0, 94_000.0),
]
