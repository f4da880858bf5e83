"""A plausible results.json of a review, made up for the tests of the report."""

from __future__ import annotations

import math
from typing import Any

import documents
import numpy as np

from drivelab.records import SCHEMA

MODEL = "intel-x25-m-g1-80gb"
KIB, MIB, GIB = 2**10, 2**20, 2**30
USER_BYTES = 80_026_361_856

# id, title, direction, block, queue depth, alignment, span; then per state (new, used): MiB/s,
# write amplification, factor from median to 99.99 %, split of the mean latency.
TESTS: list[tuple[Any, ...]] = [
    (
        "sequential-read-2m",
        "2 MB sequential read",
        "read",
        2 * MIB,
        1,
        2 * MIB,
        USER_BYTES,
        (264.1, None, 1.02, (0, 0.93, 0.01, 0.06, 0)),
        (231.4, None, 1.6, (0, 0.55, 0.01, 0.44, 0)),
    ),
    (
        "sequential-write-2m",
        "2 MB sequential write",
        "write",
        2 * MIB,
        1,
        2 * MIB,
        USER_BYTES,
        (79.4, 1.0, 1.3, (0.10, 0.28, 0.01, 0.61, 0)),
        (72.6, 1.09, 2.4, (0.10, 0.26, 0.01, 0.53, 0.10)),
    ),
    (
        "random-read-4k-qd3-aligned",
        "4 KB random read, queue depth 3, 4K-aligned",
        "read",
        4 * KIB,
        3,
        4096,
        USER_BYTES,
        (66.2, None, 1.1, (0.12, 0.28, 0.60, 0, 0)),
        (52.8, None, 3.1, (0.15, 0.15, 0.25, 0.45, 0)),
    ),
    (
        "random-write-4k-qd3-sector",
        "4 KB random write, queue depth 3, sector-aligned",
        "write",
        4 * KIB,
        3,
        512,
        8 * GIB,
        (39.1, 1.31, 6.0, (0.18, 0.06, 0.26, 0.50, 0)),
        (22.6, 2.74, 60.0, (0.14, 0.03, 0.14, 0.27, 0.42)),
    ),
    (
        "random-write-4k-qd3-aligned",
        "4 KB random write, queue depth 3, 4K-aligned",
        "write",
        4 * KIB,
        3,
        4096,
        8 * GIB,
        (52.4, 1.06, 4.0, (0.12, 0.09, 0.39, 0.40, 0)),
        (31.7, 2.05, 48.0, (0.11, 0.05, 0.24, 0.26, 0.34)),
    ),
    (
        "random-write-4k-qd32-aligned",
        "4 KB random write, queue depth 32, 4K-aligned",
        "write",
        4 * KIB,
        32,
        4096,
        8 * GIB,
        (53.0, 1.06, 4.5, (0.88, 0.01, 0.04, 0.07, 0)),
        (32.3, 2.08, 30.0, (0.82, 0.01, 0.03, 0.05, 0.09)),
    ),
    (
        "random-read-4k-qd32-aligned",
        "4 KB random read, queue depth 32, 4K-aligned",
        "read",
        4 * KIB,
        32,
        4096,
        USER_BYTES,
        (138.0, None, 1.2, (0.86, 0.05, 0.09, 0, 0)),
        (131.2, None, 2.6, (0.80, 0.04, 0.08, 0.08, 0)),
    ),
    (
        "access-time",
        "Access time, 512 B random reads over the whole drive, queue depth 1",
        "read",
        512,
        1,
        512,
        USER_BYTES,
        (8.1, None, 1.1, (0, 0.05, 0.95, 0, 0)),
        (4.44, None, 2.0, (0, 0.03, 0.37, 0.60, 0)),
    ),
]


def _percentiles(mean_us: float, tail: float) -> list[list[float]]:
    levels = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99]
    start = mean_us * (0.75 if tail > 3 else 0.97)
    points = []
    for level in levels:
        nines = -math.log10(1 - level / 100)
        points.append([level, start * tail ** (nines / 4) * (1 + 0.03 * math.tanh(nines - 1))])
    return points


def _series(mean: float, state: str, writes: bool, rng: np.random.Generator) -> list[float]:
    noise = 0.05 if state == "used" and writes else 0.006
    bend = 0.12 if state == "used" and writes else 0.0
    return [
        float(mean * (1 + bend * math.exp(-second / 25) - bend / 8 + rng.normal(0, noise)))
        for second in range(180)
    ]


def _test(row: tuple[Any, ...], model: str, state: str, factor: float) -> dict[str, Any]:
    test_id, title, direction, block, depth, align, span, new, used = row
    rate, amplification, tail, split = used if state == "used" else new
    rate *= factor
    rng = np.random.default_rng([*f"{model} {state} {test_id}".encode()])
    iops = rate * MIB / block
    mean_us = depth / iops * 1e6
    points = _percentiles(mean_us, tail)
    at = {point[0]: point[1] for point in points}
    writes = direction == "write"
    written = rate * MIB * 180 if writes else 0
    programmed = written * (amplification or 0)
    power = (2.1 if state == "used" else 1.6) if writes else 1.1
    record = documents.stream(model, state, test_id) | {
        "title": title,
        "direction": direction,
        "data": None,
        "block_bytes": block,
        "queue_depth": depth,
        "align_bytes": align,
        "span_bytes": span,
        "duration_s": 180.0,
        "ios": round(180 * iops),
        "bytes": round(180 * rate * MIB),
        "iops": iops,
        "mib_per_s": rate,
        "latency_us": {
            "min": at[1],
            "mean": mean_us,
            "stddev": mean_us / 10,
            "p50": at[50],
            "p90": at[90],
            "p99": at[99],
            "p99_9": at[99.9],
            "p99_99": at[99.99],
            "max": at[99.99] * 1.7,
            "percentiles": points,
            "histogram": None,
        },
        "split_mean_us": {
            part: share * mean_us
            for part, share in zip(
                ("queueing", "link", "firmware", "flash", "cleaning"), split, strict=True
            )
        },
        "write_amplification": amplification if writes else None,
        "host_write_bytes": round(written),
        "flash_program_bytes": round(programmed),
        "erases": round(programmed / (512 * KIB)) if state == "used" else 0,
        "energy_j": power * 180,
        "mean_power_w": power,
        "counters": {},
    }
    record["series"] |= {
        "mib_per_s": _series(rate, state, writes, rng),
        "latency_max_us": [points[-1][1]] * 180,
        "iops": None,
        "latency_mean_us": None,
    }
    return record


PARAMETERS: list[tuple[str, Any, str | None, str, bool]] = [
    ("geometry.channels", 10, "channels", "[2]", False),
    ("geometry.dies_per_channel", 4, "dies", "[2], 20 packages of 2 dies", False),
    ("geometry.planes_per_die", 2, "planes", "[17]", False),
    ("geometry.blocks_per_plane", 2048, "blocks", "[17]", False),
    ("geometry.pages_per_block", 128, "pages", "[17]", False),
    ("geometry.page_bytes", 4096, "bytes", "[17]", False),
    ("timing.read_ns", 50_000, "ns", "[17]", False),
    ("timing.program_ns", [450_000, 1_350_000], "ns", "fitted to AN-091", False),
    ("timing.erase_ns", 3_500_000, "ns", "[17]", False),
    ("timing.bus_bytes_per_s", 40_000_000, "bytes/s", "[17]", False),
    ("ftl.map_unit_bytes", 4096, "bytes", "[10]", False),
    ("ftl.victim_selection", "greedy", None, "assumed", True),
    ("ftl.cleaning_start_blocks", 40, "blocks", "assumed", False),
    ("buffer.size_bytes", 256 * KIB, "bytes", "[5]", False),
    ("buffer.write_back", True, None, "[5]", False),
    ("link.bytes_per_s", 277_000_000, "bytes/s", "fitted to AN-149", False),
    ("controller.queue_depth", 32, "commands", "[3]", False),
    ("controller.firmware_read_ns", 36_000, "ns", "[4]", False),
    ("controller.firmware_write_ns", 28_000, "ns", "fitted to AN-091", False),
    ("power.idle_w", 0.6, "W", "[36]", False),
]

# id | drive | state | metric | published, MiB/s or ms | role | modelled in this state
FIGURES = """
AN-149 | Intel X25-M G1 80GB | new (secure erased) | seq_read_2mb | 264.1 | fitted | new
AN-150 | Intel X25-M G1 80GB | used | seq_read_2mb | 230.2 | predicted | used
AN-032 | Intel X25-M G1 80GB | used | seq_write_2mb | 71 | predicted | used
AN-091 | Intel X25-M G1 80GB | new (secure erased) | 4k_random_write | 39.3 | fitted | new
AN-092 | Intel X25-M G1 80GB | used (seasoned) | 4k_random_write | 23.1 | predicted | used
AN-033 | Intel X25-M G1 80GB | used | 4k_random_write | 23 | predicted | used
AN-109 | Intel X25-M G1 80GB | new | 4k_random_write_latency_avg | <0.3 | predicted | new
AN-110 | Intel X25-M G1 80GB | used | 4k_random_write_latency_avg | 0.51 | predicted | used
AN-027 | Intel X25-M G1 80GB | unstated | random_read_latency | 0.11 | predicted | used
AN-200 | Intel X25-M G1 80GB | unstated | 4k_random_write_latency_max | 94 | predicted |
AN-100 | OCZ Vertex | used (seasoned) | 4k_random_write | 2.41 | |
AN-099 | OCZ Vertex | new (secure erased) | 4k_random_write | 8.2 | |
AN-090 | Intel X25-E | used | 4k_random_write | 31.7 | |
AN-009 | WD VelociRaptor 300GB | unstated | 4k_random_write | 1.63 | |
AN-112 | OCZ Vertex | used | 4k_random_write_latency_avg | 4.86 | |
AN-148 | Intel X25-E | used | seq_read_2mb | 240.1 | |
AN-005 | WD VelociRaptor 300GB | outer tracks | seq_read_2mb | 118 | |
"""

METRIC_TESTS = {
    "seq_read_2mb": "sequential-read-2m",
    "seq_write_2mb": "sequential-write-2m",
    "random_read_latency": "access-time",
}


def _figure(line: str, tests: list[dict[str, Any]]) -> dict[str, Any]:
    cells = [cell.strip() for cell in line.split("|")]
    figure_id, drive, state, metric, text, role, model_state = cells
    published = float(text.lstrip("<"))
    unit = "ms" if "latency" in metric else "MiB/s"
    test_id = METRIC_TESTS.get(metric, "random-write-4k-qd3-sector")
    modelled = None
    for test in tests:
        if (test["model"], test["id"], test["state"]) == (MODEL, test_id, model_state):
            modelled = test["latency_us"]["mean"] / 1e3 if unit == "ms" else test["mib_per_s"]
    return documents.figure() | {
        "id": figure_id,
        "drive": drive,
        "firmware": "unstated",
        "state": state,
        "metric": metric,
        "unit": unit,
        "published": published,
        "modelled": modelled,
        "error_ratio": None if modelled is None else modelled / published - 1,
        "role": role,
        "test_id": test_id,
        "relation": "lt" if text.startswith("<") else "eq",
    }


def _model(name: str, title: str) -> dict[str, Any]:
    return documents.model(name) | {
        "title": title,
        "family": None,
        "released": None,
        "effective_spare_ratio": None,
        "hash": (name.encode().hex() * 4)[:64],
        "user_capacity_bytes": USER_BYTES,
        "raw_capacity_bytes": 85_899_345_920,
        "parameters": [
            {"key": key, "value": value, "unit": unit or "", "source": source, "role": None}
            | {"default": default, "help": "", "allowed": None}
            for key, value, unit, source, default in PARAMETERS
        ],
    }


def _state(model: str, state: str) -> dict[str, Any]:
    written = (80_026_361_856 + 50_000_000_000) if state == "used" else 0
    return {
        "model": model,
        "state": state,
        "description": (
            "Secure erase, sequential fill of every logical block with 128 KB writes, then a "
            "sector-by-sector copy of a 50 GB image (60 % in 128 KB, 25 % in 64 KB, "
            "15 % in 4 KB pieces)"
            if state == "used"
            else "Secure erase: every block erased, no logical block written"
        ),
        "host_write_bytes": written,
        "program_bytes": round(written * 1.12),
        "write_amplification": 1.12 if written else None,
        "erases": round(written * 1.12 / (512 * KIB)),
        "wall_s": 11.0,
    }


def results(model_count: int = 1) -> dict[str, Any]:
    """A review of so many models (1 or 2), each new and used."""
    names = [
        (MODEL, "Intel X25-M G1 80 GB", 1.0),
        ("own-variant", "X25-M with 28 % spare area", 1.18),
    ]
    chosen = names[:model_count]
    tests = [
        _test(row, name, state, factor)
        for name, _, factor in chosen
        for state in ("new", "used")
        for row in TESTS
    ]
    return {
        "drivelab": {
            "schema": SCHEMA,
            "engine_version": "0.1.0",
            "seed": 1,
            "quick": False,
            "unabridged": False,
            "command_line": "drivelab review "
            + " ".join(name for name, _, _ in chosen)
            + " --seed 1",
        },
        "models": [_model(name, title) for name, title, _ in chosen],
        "tests": tests,
        "states": [_state(name, state) for name, _, _ in chosen for state in ("new", "used")],
        "figures": [_figure(line, tests) for line in FIGURES.strip().splitlines()],
        "wall_s": 71.3,
    }
