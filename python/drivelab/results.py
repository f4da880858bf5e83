"""The records of results.json, from what was measured; `records/` defines them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from drivelab import counters
from drivelab.counters import energy_j as energy_j
from drivelab.counters import erase_count as erase_count
from drivelab.counters import map_read_bytes as map_read_bytes
from drivelab.counters import program_bytes as program_bytes
from drivelab.counters import read_bytes as read_bytes
from drivelab.counters import spent as spent
from drivelab.counters import unmapped_note as unmapped_note
from drivelab.counters import unmapped_read_share as unmapped_read_share
from drivelab.counters import write_amplification as write_amplification
from drivelab.documents import to_json as to_json
from drivelab.errors import WorkError
from drivelab.latencies import QUOTED_PERCENTILES as QUOTED_PERCENTILES
from drivelab.latencies import SPLIT_PARTS as SPLIT_PARTS
from drivelab.latencies import latency_us as latency_us
from drivelab.latencies import split_us as split_us
from drivelab.latencies import us
from drivelab.procedures.flow import longest_of_buckets
from drivelab.procedures.measured import Measured, Value
from drivelab.procedures.procedure import Procedure
from drivelab.procedures.stream import Stream
from drivelab.quantities import MIB, NS_PER_S, mib
from drivelab.records import SCHEMA as SCHEMA

if TYPE_CHECKING:
    from drivelab.states import State
    from drivelab.subject import Subject

STREAM, COMPOUND = "stream", "compound"
"""Kinds of records of tests: with the figures of one stream, or with values and tables only."""


def model_result(model: Subject) -> dict[str, Any]:
    """The record of a reviewed model, or of a real drive; `real` says how that was measured."""
    real, smart = getattr(model, "real", None), getattr(model, "smart", None)
    remarks = getattr(model, "scale_remarks", None)
    return {
        "name": model.name,
        "title": model.title,
        **model.identity,
        "hash": model.hash,
        "user_capacity_bytes": model.user_capacity_bytes,
        "raw_capacity_bytes": model.raw_capacity_bytes,
        "effective_spare_ratio": getattr(model, "effective_spare_ratio", None),
        "parameters": model.parameters,
        **({"scale_remarks": remarks} if remarks else {}),
        **({"real": real} if real is not None else {}),
        **({"smart": smart.record()} if smart is not None else {}),
    }


def measured_record(
    model_name: str,
    state: str,
    procedure: Procedure,
    measured: Measured,
    spending: Spending | None = None,
) -> dict[str, Any]:
    """The record of one test, from what it measured; `wall_s` is added by the caller.

    `spending` is what a compound test did to its drives; a stream's is in its report.
    """
    record: dict[str, Any] = {
        "id": procedure.id,
        "title": procedure.title,
        "group": procedure.group,
        "model": model_name,
        "state": state,
    }
    if isinstance(procedure, Stream):
        record |= {"kind": STREAM} | _stream(procedure, measured)
    else:
        assert spending is not None
        record |= {"kind": COMPOUND, "span_bytes": measured.span_bytes}
        record |= {"duration_s": spending.duration_ns / NS_PER_S} | spending.record()
    record |= measured.found() | measured.more
    if procedure.origin is not None:
        record |= {"origin": procedure.origin.record(), "declared": asdict(procedure.traits)}
        record["notes"] = [*record["notes"], f"the test is from {procedure.origin.text}"]
    record["notes"] = [*record["notes"], *counters.notes(record["counters"])]
    return record


def checked_test(record: Mapping[str, Any]) -> dict[str, Any]:
    """A test's whole record, which must be as `records/test.py` defines it.

    Raises WorkError: what is wrong costs a test, not the review that it is in.
    """
    # Loading the definitions takes a tenth of a second.
    from pydantic import ValidationError

    from drivelab.records import faults
    from drivelab.records.test import Compound, Stream

    try:
        return (Stream if record["kind"] == STREAM else Compound).checked(record)
    except ValidationError as error:
        wrong = faults.in_words(record, error)
        raise WorkError(
            f'test "{record["id"]}": what it found is no record of results.json: {wrong}'
        ) from None


@dataclass(frozen=True)
class Spending:
    """What a part of a drive's life did to it: the drive's time in ns, and counters as added."""

    duration_ns: int
    used: Mapping[str, Any]
    drive_count: int = 1
    """Drives that took part: copies and variants are drives of their own."""

    def record(self) -> dict[str, Any]:
        """Traffic of host and flash, erases and energy, as in results.json."""
        energy = energy_j(self.used)
        seconds = self.duration_ns / NS_PER_S
        return {
            "drive_count": self.drive_count,
            "write_amplification": write_amplification(self.used),
            "host_read_bytes": self.used["host_read_bytes"],
            "unmapped_read_share": unmapped_read_share(self.used),
            "host_write_bytes": self.used["host_write_bytes"],
            "flash_program_bytes": program_bytes(self.used),
            "erases": erase_count(self.used),
            "energy_j": energy,
            "mean_power_w": energy / seconds if seconds and energy is not None else None,
            "counters": dict(self.used),
        }


def _stream(procedure: Stream, measured: Measured) -> dict[str, Any]:
    report = measured.report
    assert report is not None
    direction = report["jobs"][0][procedure.direction]
    spending = Spending(
        report["end_ns"] - report["measure_start_ns"],
        spent(report["counters_before"], report["counters_after"]),
    )
    # A time without commands has none of these.
    has_requests = procedure.block_bytes > 0
    workload = {
        "direction": procedure.direction,
        "block_bytes": procedure.block_bytes,
        "queue_depth": procedure.queue_depth,
        "align_bytes": procedure.align_bytes,
        "span_bytes": measured.span_bytes,
    }
    return {
        **(workload if has_requests else dict.fromkeys(workload)),
        "data": procedure.data if _data_matters(procedure) else None,
        "duration_s": direction["runtime_ns"] / NS_PER_S,
        "ios": direction["ios"],
        "bytes": direction["bytes"],
        "iops": direction["iops"],
        "mib_per_s": mib(direction["bytes_per_s"]),
        "latency_us": latency_us(direction["latency_ns"]),
        "split_mean_us": split_us(direction["split_mean_ns"]),
        "tails": tails_record(direction.get("tails")),
        **spending.record(),
        "series": series_record(direction, report.get("drive_series")),
        "latency_field": field_record(direction),
    }


STREAM_VALUES: tuple[tuple[str, str, str, Literal["higher", "lower"]], ...] = (
    ("iops", "Requests per second", "IOPS", "higher"),
    ("mib_per_s", "Throughput", "MiB/s", "higher"),
    ("latency_mean_us", "Mean latency", "us", "lower"),
    ("latency_p99_us", "99 % of latencies under", "us", "lower"),
    ("latency_max_us", "Longest latency", "us", "lower"),
    ("write_amplification", "Write amplification", "", "lower"),
    ("mean_power_w", "Mean power", "W", "lower"),
)
"""What a test of one stream is about, in numbers: name, title, unit, which way is better."""


def with_values(procedure: Procedure, measured: Measured, used: Mapping[str, Any]) -> Measured:
    """What a test measured, with the notes on reads that its record has, by the counters of all its
    drives; of one stream with its numbers as values, which others bring along."""
    record = _stream(procedure, measured) if isinstance(procedure, Stream) else None
    told = counters.notes(used if record is None else record["counters"])
    measured = replace(measured, notes=(*measured.notes, *told))
    if record is None:
        return measured
    known = record | {f"latency_{key}_us": value for key, value in record["latency_us"].items()}
    values = (
        Value(name, title, known[name], unit, better) for name, title, unit, better in STREAM_VALUES
    )
    return replace(measured, values=tuple(value for value in values if value.value is not None))


def _data_matters(procedure: Stream) -> bool:
    """Whether the test itself decides what its data are."""
    return procedure.direction == "write" or procedure.written_first


def state_origin(state: State) -> dict[str, Any]:
    """What a record says of a state that doesn't come with drivelab; of others nothing."""
    if state.origin is None:
        return {}
    return {"origin": state.origin.record(), "declared": asdict(state.traits)}


def state_result(
    model_name: str, state: State, description: str, used: Mapping[str, Any]
) -> dict[str, Any]:
    """The record of a state's preparation, from the counters that it added."""
    source = f" (from {state.origin.text})" if state.origin is not None else ""
    return {
        "model": model_name,
        "state": state.name,
        "description": description + source,
        **state_origin(state),
        "host_write_bytes": used["host_write_bytes"],
        "program_bytes": program_bytes(used),
        "write_amplification": write_amplification(used),
        "erases": erase_count(used),
    }


def tails_record(tails: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]] | None:
    """What the slowest requests waited for; None where nobody measured it."""
    if tails is None:
        return None
    return [
        {
            "share_of_requests": tail["share_of_requests"],
            "count": tail["count"],
            "latency_min_us": us(tail["latency_ns_min"]),
            "split_mean_us": split_us(tail["split_mean_ns"]),
        }
        for tail in tails
    ]


def series_record(direction: Mapping[str, Any], drive: Mapping[str, Any] | None) -> dict[str, Any]:
    """A stream over time, with what the drive did meanwhile if it tells.

    A last interval that is cut short is left out.
    """
    series = direction["series"]
    interval_ns = series["interval_ns"]
    count = min(max(1, direction["runtime_ns"] // interval_ns), len(series["bytes"]))
    interval_s = interval_ns / NS_PER_S
    # Intervals of another width say nothing of these.
    own = drive if drive is not None and drive["interval_ns"] == interval_ns else {}
    die_ns = interval_ns * (own.get("die_count") or 0)

    def column(found: Sequence[Any] | None, value: Callable[[Any], float | None]) -> Any:
        """Values of the whole intervals, None where there is none; None for no column at all."""
        if found is None:
            return None
        known = [None if item is None else value(item) for item in found[:count]]
        return known + [None] * (count - len(known))

    return {
        "interval_s": interval_s,
        "mib_per_s": column(series["bytes"], lambda size: size / MIB / interval_s),
        "latency_max_us": column(longest_of_buckets(series), us),
        "iops": column(series["ios"], lambda ios: ios / interval_s),
        "latency_mean_us": column(series.get("latency_mean_ns"), us),
        "latency_p99_us": column(series.get("latency_p99_ns"), us),
        "write_amplification": column(amplification_of_intervals(own), float),
        "queue_depth_mean": column(own.get("outstanding_mean"), float),
        "free_blocks": column(own.get("free_blocks"), int),
        "cleaning_share": column(
            own.get("cleaning_ns") if die_ns else None, lambda ns: ns / die_ns
        ),
    }


def field_record(direction: Mapping[str, Any]) -> dict[str, Any] | None:
    """How long the requests of a stream took over time; None if nobody counted them."""
    found = direction["series"].get("latencies")
    if found is None:
        return None
    return {
        "interval_s": found["interval_ns"] / NS_PER_S,
        "edges_us": [us(edge) for edge in found["edges_ns"]],
        "requests": found["counts"],
    }


def amplification_of_intervals(drive: Mapping[str, Any]) -> list[float | None] | None:
    """Write amplification of every interval; None of drives that don't tell both of its sides.

    The host's bytes count when a command comes, flash's when they are programmed. What is
    programmed while nothing comes belongs to the next command, so that no program is left out.
    """
    written, programmed = (drive.get(key) for key in ("host_write_bytes", "flash_program_bytes"))
    if written is None or programmed is None:
        return None
    found: list[float | None] = []
    owed = 0
    for host, flash in zip(written, programmed, strict=True):
        owed += flash
        found.append(owed / host if host else None)
        owed = 0 if host else owed
    return found


def without_wall_clock(document: Any) -> Any:
    """A copy without the fields that depend on the clock: those whose name starts with `wall_`."""
    if isinstance(document, dict):
        return {
            key: without_wall_clock(value)
            for key, value in document.items()
            if not key.startswith("wall_")
        }
    if isinstance(document, list):
        return [without_wall_clock(item) for item in document]
    return document
