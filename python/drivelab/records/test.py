"""One test of one drive in one state."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from drivelab.records import ROUNDS_TABLE
from drivelab.records.findings import Chart, Estimate, Pass, Table, Value
from drivelab.records.latency import Latency, LatencyField, Split, Tail
from drivelab.records.record import Amount, Count, Origin, Record, Share, misfit
from drivelab.records.series import Series
from drivelab.records.smart import Readings
from drivelab.records.steady_state import SteadyState


class AnyTest(Record):
    """What every test says of itself; `kind` is `stream` or `compound`."""

    id: str
    """Which test"""
    title: str
    """For people"""
    group: str
    """As in `drivelab list --tests`"""
    model: str
    """Of which drive"""
    state: str
    """In which state it was"""
    span_bytes: Count | None
    """Size of the region that was used"""
    duration_s: Amount | None
    """Measured time, to the last completion; of a compound test the time of all of its drives, one
    after the other. Null only of files of schema 2, which didn't know it"""
    drive_count: Count | None
    """Drives that took part: a compound test may work on copies of the drive, or on variants"""
    write_amplification: Amount | None
    """See below; null if nothing was written"""
    host_read_bytes: Count | None
    """Of a stream over the measured part; of a compound test over all of its drives, with
    everything that it did to them"""
    unmapped_read_share: Share | None
    """Part of the bytes read that were never written, or trimmed: the map alone answered, and no
    flash was touched, but for lines of a map that isn't in memory (`read_bytes_map` of the
    counters); from 1 % on a note says it, too. Null if nothing was read, or the drive doesn't
    tell"""
    host_write_bytes: Count | None
    """Over the same parts"""
    flash_program_bytes: Count | None
    """Programs of all purposes; null of drives without flash"""
    erases: Count | None
    """Blocks that the drive erased on its own account, each with all that is erased at once: planes
    of one operation and chips in lockstep count as one block; null of drives without flash"""
    energy_j: Amount | None
    """Of the whole drive, over the same parts"""
    mean_power_w: Amount | None
    """The same per second"""
    counters: dict[str, float]
    """Every counter of the drives over the same parts"""
    values: list[Value]
    """Headline numbers"""
    tables: list[Table]
    """What was measured, by rows"""
    charts: list[Chart]
    """How the tables are drawn"""
    deviations: list[str]
    """Where the test departs from what it repeats"""
    notes: list[str]
    """What a reader must know"""
    steady_state: SteadyState | None
    """Of tests that look for one; else null"""
    trace: dict[str, JsonValue] | None = None
    """Only of a storage bench: what its trace is made of"""
    repeats: dict[str, Estimate] | None = None
    """Only with `--repeat N`: every number that was repeated, by name"""
    origin: Origin | None = None
    """Only of a [test of one's own](python.md): where it comes from"""
    declared: dict[str, JsonValue] | None = None
    """Only of these: what reports know of it beside its numbers"""
    smart: Readings | None = None
    """Only of a real drive that can be asked: what it says of itself"""
    wall_s: Amount
    """Of the machine's time"""

    @model_validator(mode="after")
    def _rounds_are_numbered(self) -> Self:
        if self.steady_state is None:
            return self
        for at, table in enumerate(self.tables):
            for index, row in enumerate(table.rows if table.name == ROUNDS_TABLE else ()):
                place = f"tables[{at}].rows[{index}]"
                if not isinstance(row.get("variable"), str):
                    raise misfit(f"{place}.variable is no text; allowed: what is tracked")
                if not isinstance(row.get("round"), int | float):
                    raise misfit(f"{place}.round is no number; allowed: from 1 on")
        return self


class Stream(AnyTest):
    """A test of one stream of requests says more."""

    kind: Literal["stream"]
    """`stream`"""
    direction: Literal["read", "write"] | None
    """Of the requests; null, as the workload below, of a time without requests"""
    block_bytes: Count | None
    """Size of a request"""
    queue_depth: Count | None
    """Requests outstanding"""
    align_bytes: Count | None
    """Requests begin at multiples of it"""
    data: str | None
    """What is written; null where the test doesn't decide it"""
    ios: Count
    """Requests of the tested direction"""
    bytes: Count
    """Bytes of the tested direction"""
    iops: Amount | None
    """Requests per second; null if there was none"""
    mib_per_s: Amount | None
    """Throughput in 2^20 bytes per second; null if there was none"""
    latency_us: Latency
    """Of the requests of the tested direction"""
    split_mean_us: Split
    """Mean parts of their latency"""
    tails: list[Tail] | None
    """What the slowest requests waited for, from the slowest 10 % to the slowest 0.01 %, as far as
    that is one request; one is left out where more than four times as many took about as long.
    Null where nobody measured it"""
    series: Series
    """Over time"""
    latency_field: LatencyField | None = None
    """All latencies over time; null if there was no request, or nobody kept them"""
    pass_: Annotated[Pass | None, Field(alias="pass")] = None
    """Only of a pass over the whole drive"""

    @property
    def writes(self) -> bool:
        """Whether its requests are writes."""
        return self.direction == "write"


class Compound(AnyTest):
    """Any other test than one stream: `values` and `tables` say what it found."""

    kind: Literal["compound"]
    """`compound`"""


Test = Annotated[Stream | Compound, Field(discriminator="kind")]
