"""What a job is: the requests of one stream, as the engine reads them. The words are fio's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from drivelab.quantities import NS_PER_S, SECTOR_BYTES

if TYPE_CHECKING:
    # Takes a while to load, which processes that only measure jobs don't need.
    import numpy as np
    from numpy.typing import NDArray

READ, WRITE, FLUSH, TRIM = 0, 1, 2, 3
"""Request kinds in the arrays of `Requests`."""
OUTCOMES = ("done", "uncorrectable", "refused", "failed")
"""How requests end, by the engine's number of it: the last two moved nothing."""
HINT_MAX = 255
"""The engine's hints have so many numbers."""

PERCENTILES = (
    1.0,
    5.0,
    10.0,
    *map(float, range(20, 100, 10)),
    95.0,
    99.0,
    99.5,
    99.9,
    99.95,
    99.99,
)
"""fio's default list."""

Rw = Literal["read", "write", "randread", "randwrite", "rw", "randrw", "trim", "randtrim"]
RateProcess = Literal["linear", "poisson"]
QueueClass = Literal["urgent", "high", "medium", "low"]
Bytes = Annotated[int, Field(ge=0)]
Nanoseconds = Annotated[int, Field(ge=0)]
Percent = Annotated[float, Field(ge=0, le=100)]


class Part(BaseModel):
    """A part of a job: immutable, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BlockSize(Part):
    """A block size in bytes and how often it is drawn, relative to the others."""

    bytes: Annotated[int, Field(gt=0)]
    weight: Annotated[float, Field(gt=0)] = 1.0


class Generated(Part):
    """Requests are made up from the job's description."""

    kind: Literal["generated"] = "generated"


class Recorded(Part):
    """Requests are handed over beside the job, as arrays.

    `arrival`: at their times, however many are outstanding; `capped`: the same with long gaps
    shortened to `idle_cap_ns`; `closed`: always `queue_depth` of them outstanding; `think`: as a
    program does that waits for its reads and then computes (see `Requests.think_ns`).
    """

    kind: Literal["requests"] = "requests"
    pacing: Literal["arrival", "closed", "capped", "think"] = "closed"
    idle_cap_ns: Nanoseconds | None = None


class Uniform(Part):
    """Every block equally often."""

    kind: Literal["uniform"] = "uniform"


class Zipf(Part):
    """Zipf as fio draws it, offset for offset; theta is not 1.

    `center`: where the most popular rank is before hashing, as a share of the region; without it
    anywhere.
    """

    kind: Literal["zipf"] = "zipf"
    theta: float
    center: float | None = None


class ZipfTrue(Part):
    """The k-th most popular block proportionally to k^-theta, for every theta."""

    kind: Literal["zipf_true"] = "zipf_true"
    theta: float


class Pareto(Part):
    """Pareto as fio draws it, offset for offset; h above 0 and below 1. `center` as for zipf."""

    kind: Literal["pareto"] = "pareto"
    h: float
    center: float | None = None


class ParetoTrue(Part):
    """The share h of the blocks gets the share 1 - h of the accesses, and so on within it."""

    kind: Literal["pareto_true"] = "pareto_true"
    h: float


class Normal(Part):
    """Around the middle of the region; deviation in percent of the region."""

    kind: Literal["normal"] = "normal"
    deviation_percent: float


class Zone(Part):
    """A share of the accesses that goes to a share of the region."""

    access_percent: float
    size_percent: float


class Zoned(Part):
    """Zones in ascending order over the region."""

    kind: Literal["zoned"] = "zoned"
    zones: tuple[Zone, ...]


class ZonedScattered(Part):
    """As zoned, but the blocks of a zone lie scattered over the region: hot and cold ones are
    neighbours."""

    kind: Literal["zoned_scattered"] = "zoned_scattered"
    zones: tuple[Zone, ...]


class Zeros(Part):
    """Zeros only."""

    kind: Literal["zeros"] = "zeros"


class Repeating(Part):
    """One byte value over and over, another in each write: what Iometer 2008 writes by default."""

    kind: Literal["repeating"] = "repeating"


class RandomBytes(Part):
    """Neither compresses nor repeats."""

    kind: Literal["random"] = "random"


RANDOM_BYTES = RandomBytes()
"""What is written unless somebody says otherwise."""


class Compressible(Part):
    """Every block compresses to a share of its size; a share of the blocks are copies."""

    kind: Literal["compressible"] = "compressible"
    compressed_percent: Percent = 100.0
    """Size after compression over size before; counts in steps of 0.1."""
    duplicate_percent: Percent = 0.0
    """Share of the blocks that are copies; counts in steps of 0.1."""
    duplicate_pool: Annotated[int, Field(ge=1, le=65_535)] = 1024
    """Different contents among the copies."""


Source = Annotated[Generated | Recorded, Field(discriminator="kind")]
Distribution = Annotated[
    Uniform | Zipf | ZipfTrue | Pareto | ParetoTrue | Normal | Zoned | ZonedScattered,
    Field(discriminator="kind"),
]
DataPattern = Annotated[Zeros | Repeating | RandomBytes | Compressible, Field(discriminator="kind")]


class Job(Part):
    """One job. Jobs of one run start together and share the drive.

    It ends at `io_bytes` (default: the span times `loops`), `io_requests` or `runtime_ns`,
    whichever comes first; with `time_based` only at `runtime_ns`. The engine checks values against
    the drive.
    """

    name: str
    source: Source = Generated()
    rw: Rw = "read"
    read_percent: Percent = 50.0
    block_sizes: tuple[BlockSize, ...] = (BlockSize(bytes=4096),)
    write_block_sizes: tuple[BlockSize, ...] | None = None
    trim_block_sizes: tuple[BlockSize, ...] | None = None
    align_bytes: Annotated[int, Field(gt=0)] | None = None
    offset_bytes: Bytes = 0
    span_bytes: Bytes | None = None
    io_bytes: Bytes | None = None
    io_requests: Annotated[int, Field(ge=1)] | None = None
    runtime_ns: Nanoseconds | None = None
    time_based: bool = False
    loops: Annotated[int, Field(ge=1)] = 1
    ramp_ns: Nanoseconds = 0
    start_ns: Nanoseconds = 0
    queue_depth: Annotated[int, Field(ge=1)] = 1
    distribution: Distribution = Uniform()
    random_map: bool = False
    random_percent: Percent = 100.0
    rate_iops: Annotated[int, Field(ge=1)] | None = None
    rate_bytes_per_s: Annotated[int, Field(ge=1)] | None = None
    rate_process: RateProcess = "linear"
    thinktime_ns: Nanoseconds = 0
    thinktime_blocks: Annotated[int, Field(ge=1)] = 1
    flush_every_writes: Annotated[int, Field(ge=0)] = 0
    flush_at_end: bool = False
    fua: bool = False
    write_hint: Annotated[int, Field(ge=0, le=HINT_MAX)] = 0
    queue: Annotated[int, Field(ge=0, lt=2**16)] | None = None
    """Submission queue of a drive with several; None: one of its own, in the order of the jobs."""
    queue_class: QueueClass = "medium"
    data: DataPattern = RANDOM_BYTES
    seed: Annotated[int, Field(ge=0, lt=2**64)] = 1
    series_interval_ns: Annotated[int, Field(gt=0)] = NS_PER_S
    percentiles: tuple[float, ...] = PERCENTILES

    @property
    def writes(self) -> bool:
        """Whether any of its requests is a write."""
        return "write" in self.rw or (self.rw in ("rw", "randrw") and self.read_percent < 100)

    def to_json(self) -> str:
        """The job as the engine reads it."""
        return self.model_dump_json()


_JOBS = TypeAdapter(tuple[Job, ...])


def jobs_to_json(jobs: Sequence[Job]) -> str:
    """Jobs as the engine reads them: a JSON array."""
    return _JOBS.dump_json(tuple(jobs)).decode()


@dataclass(frozen=True)
class Requests:
    """Given requests as columns: kind, first sector, sectors of 512 bytes, arrival in ns.

    For pacing `think` also the program's part. Request i is handed over as soon as fewer than the
    job's `queue_depth` are outstanding and

    - `think_ns[i]` is 0: request i - 1 was handed over;
    - otherwise: `think_ns[i]` has passed since the program had all that it waits for, that is since
      the last completion of the requests before i that are not in the background, but not since
      before request i - 1 was handed over. (Before any request: since the start.)

    So requests with 0 after one with processor time go out together, and 1 ns orders requests one
    after another. `background[i]` not 0: the program doesn't wait for it, as for a write that the
    operating system has taken over. The report's `waited_ns` is the time to the last completion
    that the program waited for.
    """

    op: NDArray[np.uint8]
    lba: NDArray[np.uint64]
    sector_count: NDArray[np.uint32]
    arrival_ns: NDArray[np.uint64] | None = None
    think_ns: NDArray[np.uint64] | None = None
    background: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        return len(self.op)

    @property
    def program(self) -> tuple[NDArray[np.uint64], NDArray[np.uint8]] | None:
        """Processor time and what is in the background, as the engine takes them."""
        if self.think_ns is None:
            return None
        background = self.background
        if background is None:
            import numpy as np

            background = np.zeros(len(self.think_ns), dtype=np.uint8)
        return self.think_ns, background

    @property
    def byte_count(self) -> int:
        """Bytes that all requests together move or trim."""
        return int(self.sector_count.sum(dtype="uint64")) * SECTOR_BYTES

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, int]]) -> Requests:
        """Requests from (op, lba, sector_count) rows that arrive at once."""
        import numpy as np

        columns = np.array(rows, dtype=np.uint64).reshape(-1, 3)
        return cls(
            columns[:, 0].astype(np.uint8),
            columns[:, 1].copy(),
            columns[:, 2].astype(np.uint32),
            np.zeros(len(columns), dtype=np.uint64),
        )
