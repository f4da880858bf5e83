"""Documents of runs, made by hand: small, and with a record of every kind."""

from __future__ import annotations

from typing import Any

from drivelab.results import SCHEMA

Record = dict[str, Any]


def stream(
    model: str = "a", state: str = "new", test_id: str = "random-write-4k", **changed: Any
) -> Record:
    """The record of a test of one stream of requests."""
    rate = float(changed.pop("rate", 20.0))
    duration_s = float(changed.get("duration_s", 180.0))
    ios = round(duration_s * rate * 256)
    return {
        "id": test_id,
        "title": f"Test {test_id}",
        "group": "four corners",
        "model": model,
        "state": state,
        "kind": "stream",
        # The test of no laboratory brings along what it declares.
        "declared": {"pattern": "random"} if test_id == "random-write-4k" else None,
        "direction": "write",
        "block_bytes": 4096,
        "queue_depth": 3,
        "align_bytes": 512,
        "span_bytes": 8 * 2**30,
        "data": "repeating",
        "duration_s": duration_s,
        "ios": ios,
        "bytes": 4096 * ios,
        "iops": rate * 256,
        "mib_per_s": rate,
        "latency_us": {
            "min": 50.0,
            "mean": 3e6 / (rate * 256),
            "stddev": 10.0,
            "p50": 100.0,
            "p90": 200.0,
            "p99": 300.0,
            "p99_9": 400.0,
            "p99_99": 80000.0 / rate,
            "max": 100000.0 / rate,
            "percentiles": [[50.0, 100.0], [90.0, 200.0], [99.0, 300.0], [99.99, 80000.0 / rate]],
            "histogram": {"latency_below_us": [135.168, 270.336], "requests": [900, 100]},
        },
        "split_mean_us": dict.fromkeys(("queueing", "link", "firmware", "flash", "cleaning"), 10.0),
        "tails": None,
        "drive_count": 1,
        "write_amplification": 1.5,
        "host_read_bytes": 0,
        "unmapped_read_share": None,
        "host_write_bytes": 4096000,
        "flash_program_bytes": 6144000,
        "erases": 2,
        "energy_j": 3.0,
        "mean_power_w": 0.5,
        "counters": {"host_write_bytes": 4096000, "energy_nj": 3000000000},
        "series": {
            "interval_s": 1.0,
            "mib_per_s": [rate, rate / 2],
            "latency_max_us": [90.0, None],
            "iops": [rate * 256, rate * 128],
            "latency_mean_us": [60.0, None],
            "latency_p99_us": None,
            "write_amplification": None,
            "queue_depth_mean": None,
            "free_blocks": None,
            "cleaning_share": None,
        },
        "values": [],
        "tables": [],
        "charts": [],
        "deviations": [],
        "notes": [],
        "steady_state": None,
        "wall_s": 0.5,
    } | changed


def compound(
    model: str = "a", state: str = "new", test_id: str = "sweep", **changed: Any
) -> Record:
    """The record of a test with values and a table."""
    rate = float(changed.pop("rate", 20.0))
    columns = [
        {"key": "block_bytes", "title": "Transfer size", "unit": "B"},
        {"key": "direction", "title": "Direction", "unit": ""},
        {"key": "mb_per_s", "title": "Throughput", "unit": "MB/s"},
    ]
    return {
        "id": test_id,
        "title": f"Test {test_id}",
        "group": "sweeps",
        "model": model,
        "state": state,
        "kind": "compound",
        "span_bytes": 2**30,
        "duration_s": 60.0,
        "values": [
            {
                "name": "write",
                "title": "Largest write",
                "value": rate,
                "unit": "MB/s",
                "better": "higher",
            },
            {"name": "dips", "title": "Dips", "value": None, "unit": "", "better": None},
        ],
        "tables": [
            {
                "name": "sizes",
                "title": "Throughput by size",
                "columns": columns,
                "rows": [
                    {"block_bytes": size, "direction": word, "mb_per_s": rate * size / 65536}
                    for word in ("read", "write")
                    for size in (4096, 65536)
                ],
            }
        ],
        "charts": [
            {
                "table": "sizes",
                "title": "Throughput by size",
                "kind": "lines",
                "x": "block_bytes",
                "y": "mb_per_s",
                "by": "direction",
                "log_x": True,
                "log_y": False,
            }
        ],
        "deviations": ["one round instead of five"],
        "notes": ["a note"],
        "steady_state": steady_state(rate),
        "drive_count": 1,
        "write_amplification": 1.1,
        "host_read_bytes": 0,
        "unmapped_read_share": None,
        "host_write_bytes": 10,
        "flash_program_bytes": 11,
        "erases": 0,
        "energy_j": 1.0,
        "mean_power_w": 0.1,
        "counters": {"host_write_bytes": 10},
        "wall_s": 0.1,
    } | changed


def value(name: str, number: float, unit: str = "", better: str | None = None) -> Record:
    """The record of a headline number."""
    return {"name": name, "title": name, "value": number, "unit": unit, "better": better}


def estimate(low: float, high: float) -> Record:
    """What is said of a number that was repeated twice."""
    mean = (low + high) / 2
    return {"values": [low, high], "mean": mean, "low": low, "high": high, "method": "t"}


def whole_pass(*mb_per_s: float) -> Record:
    """The record of a pass over so many zones."""
    mean = sum(mb_per_s) / len(mb_per_s)
    ends = {"mean_mb_per_s": mean, "median_mb_per_s": mean, "floor_mb_per_s": min(mb_per_s)}
    return {"zone_bytes": 10**9, "mb_per_s": list(mb_per_s), **ends, "dips": 0}


def steady_state(average: float, *, reached: bool = True) -> Record:
    """What a test says of its steady state."""
    return {
        "reached": reached,
        "criterion": "a rule",
        "round": "a minute",
        "rounds": 5,
        "window": "1 to 5",
        "variables": [steady_window(average)],
    }


def steady_window(average: float) -> Record:
    """What a window of five rounds says of one variable."""
    return {
        "variable": "throughput",
        "unit": "MB/s",
        "first_round": 1,
        "last_round": 5,
        "average": average,
        "allowed_excursion": average / 5,
        "excursion": average / 10,
        "excursion_percent": 10.0,
        "allowed_slope_excursion": average / 10,
        "slope_excursion": 0.0,
        "slope_percent": 0.0,
        "slope": 0.0,
        "line_start": average,
        "line_end": average,
        "verdict": "steady",
    }


def model(name: str = "a", **changed: Any) -> Record:
    """The record of a model."""
    return {
        "name": name,
        "title": f"Drive {name.upper()}",
        "family": "page-map",
        "released": "2008-09",
        "controller_name": None,
        "firmware": None,
        "price_usd": None,
        "price_usd_per_gib_flash": None,
        "price_usd_per_gib_user": None,
        "hash": name * 64,
        "user_capacity_bytes": 80 * 10**9,
        "raw_capacity_bytes": 86 * 10**9,
        "effective_spare_ratio": 0.07,
        "parameters": [
            {
                "key": "flash.program_ns",
                "value": 900000,
                "unit": "ns",
                "source": "[ANAND]",
                "role": "cited",
                "default": False,
                "help": "",
                "allowed": "",
            },
            {
                "key": "ftl.victim_selection",
                "value": "greedy",
                "unit": "",
                "source": "assumed: simple",
                "role": "assumed",
                "default": True,
                "help": "",
                "allowed": "",
            },
        ],
    } | changed


def input_of(quantity: str) -> Record:
    """What a figure of one measurement follows from."""
    place = {"model": "a", "test_id": "sweep", "state": "used"}
    return {"name": "a", "quantity": quantity, "value": None, **place}


def figure(**changed: Any) -> Record:
    """The record of a published figure, of which no parameter knew."""
    return {
        "id": "AN-001",
        "drive": "Drive A",
        "firmware": "unstated",
        "state": "used",
        "kind": "measured",
        "metric": "4k_random_write",
        "unit": "MiB/s",
        "review": "AN",
        "relation": "eq",
        "published": 20.0,
        "published_min": None,
        "published_max": None,
        "modelled": None,
        "error_ratio": None,
        "satisfied": None,
        "role": "predicted",
        "bound_by": [],
        "bound_by_stale": False,
        "left_out": [],
        "blind": False,
        "modelled_before": None,
        "error_before_ratio": None,
        "satisfied_before": None,
        "model": None,
        "model_state": None,
        "test_id": "random-write-4k",
        "formula": None,
        "inputs": [],
        "reason": "",
        "note": "",
    } | changed


def review(*tests: Record, models: list[Record] | None = None, **own: Any) -> Record:
    """The document of a review."""
    found = list(tests) or [stream(), compound()]
    names = dict.fromkeys(test["model"] for test in found)
    return {
        "drivelab": {
            "schema": SCHEMA,
            "engine_version": "0.1.0",
            "command_line": f"drivelab review {' '.join(names)} --seed 1",
            "seed": 1,
            "quick": False,
            "unabridged": False,
        }
        | own,
        "models": [model(name) for name in names] if models is None else models,
        "tests": found,
        "states": [
            {
                "model": name,
                "state": "new",
                "description": "erased",
                "host_write_bytes": 0,
                "program_bytes": 0,
                "write_amplification": None,
                "erases": 0,
                "wall_s": 0.1,
            }
            for name in names
        ],
        "figures": [],
        "wall_s": 1.0,
    }
