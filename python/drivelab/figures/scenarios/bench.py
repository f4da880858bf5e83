"""What scenarios do to a drive, in few words, and a scenario as a test of the laboratory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from drivelab.counters import spent_in, write_amplification, write_amplification_of
from drivelab.data_patterns import parse_data_pattern
from drivelab.errors import RequestError
from drivelab.model import Model
from drivelab.procedures import PROCEDURES
from drivelab.procedures.flow import flow
from drivelab.procedures.measured import Measured, Value
from drivelab.procedures.procedure import Procedure
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, MIB, NS_PER_S, derive_seed
from drivelab.states import steps
from drivelab.states.steps import RANDOM, REPEATING
from drivelab.targets import EngineTarget, Report, Target, trims
from drivelab.targets.account import AccountedTarget
from drivelab.workload import FLUSH, BlockSize, Job, Recorded, Requests, Rw

Found = Mapping[str, float | None]
BLOCKS_KEYS = (
    ("flash.blocks_per_plane", "user_capacity_bytes", 1),
    ("member.flash.blocks_per_plane", "member.user_capacity_bytes", 2),
)
"""What scales a drive, and how many of it there are: of a drive, and of an array of two."""


@dataclass(frozen=True)
class Bench:
    """A drive on the bench: `target` is in the wanted state and stays as it is."""

    target: Target
    seed: int
    progress: TaskProgress

    @property
    def model(self) -> Model:
        """What the drive is one of; scenarios run on models only."""
        target = self.target.drive if isinstance(self.target, AccountedTarget) else self.target
        assert isinstance(target, EngineTarget)
        return target.model

    def other(self, model: Model, seed: int) -> Target:
        """A new drive of another model."""
        drive = EngineTarget(model, seed)
        return self.target.beside(drive) if isinstance(self.target, AccountedTarget) else drive

    def own_seed(self, name: str) -> int:
        """A seed for one part of the scenario."""
        return derive_seed(self.seed, name)

    def variant(self, *overrides: tuple[str, str]) -> Target:
        """A new drive of the same model with other parameters."""
        return self.target.variant(list(overrides))

    def small(self, parts: int, *overrides: tuple[str, str], spare: float | None = None) -> Target:
        """A new drive with one part of the flash, of `parts`, and the same share of spare area.

        `spare`: this share of the user capacity instead.
        """
        for blocks_key, capacity_key, drives in BLOCKS_KEYS:
            blocks = self.model.value(blocks_key)
            if blocks is None:
                continue
            raw = self.model.raw_capacity_bytes
            user = self.target.capacity_bytes if spare is None else raw / (1 + spare)
            size = int(user / drives / parts)
            size -= size % MIB
            scaled = [(blocks_key, str(int(blocks) // parts)), (capacity_key, str(size))]
            return self.target.variant([*scaled, *overrides])
        raise RequestError("a drive without flash can't be made smaller")

    def fill(self, drive: Target, data: str = REPEATING, span: int | None = None) -> None:
        """One sequential pass over a drive, or over its first `span` bytes."""
        self.write(drive, "fill", rw="write", block=128 * KIB, depth=1, data=data, span=span)

    def torture(self, drive: Target, minutes: float, data: str = REPEATING) -> Report:
        """Random writes over the whole drive, as the reviews' torture."""
        return self.write(drive, "torture", seconds=minutes * 60, data=data)

    def settle(self, drive: Target, parts: int = 1) -> None:
        """Flush and a minute of rest; for a part of a drive a part of it, as what a drive does when
        it rests is in proportion to its size."""
        job = Job(name="flush", source=Recorded(pacing="closed"))
        drive.run_requests(job, Requests.of([(FLUSH, 0, 0)]), self.progress, 0.0)
        drive.idle(steps.REST_NS // parts)

    def trim(self, drive: Target) -> None:
        """Says of all logical blocks that they are free."""
        steps.trim(drive, self.own_seed("trim"), self.progress, 0.0)

    def write(
        self,
        drive: Target,
        name: str,
        *,
        rw: Rw = "randwrite",
        block: int = 4 * KIB,
        depth: int = 32,
        data: str = RANDOM,
        offset: int = 0,
        span: int | None = None,
        moved: int | None = None,
        seconds: float | None = None,
        random_percent: float = 100.0,
    ) -> Report:
        """A stream of writes over a span, for a time, or until so many bytes are moved."""
        size = drive.capacity_bytes if span is None else span
        size -= size % block
        job = Job(
            name=name,
            rw=rw,
            block_sizes=(BlockSize(bytes=block),),
            offset_bytes=offset,
            span_bytes=size,
            io_bytes=None if moved is None else max(block, moved - moved % block),
            runtime_ns=None if seconds is None else round(seconds * NS_PER_S),
            time_based=seconds is not None and moved is None,
            queue_depth=min(depth, drive.queue_depth),
            random_percent=random_percent,
            data=parse_data_pattern(data),
            seed=self.own_seed(name),
        )
        return drive.run([job], self.progress, 0.0)

    def measured(self, test_id: str, drive: Target, quick: bool = False) -> Measured:
        """A test of the laboratory on this very drive."""
        inner = TaskProgress(test_id)
        self.progress.follow(inner, 0.0)
        found = PROCEDURES[test_id].measure(drive, self.own_seed(test_id), quick, inner)
        inner.finish()
        return found


def rate(report: Report, direction: str = "write") -> float | None:
    """MiB/s of one direction of a report."""
    return flow(report, "write" if direction == "write" else "read")["mib_per_s"]


def amplification(report: Report) -> float | None:
    """Write amplification of what a report covers."""
    return write_amplification(spent_in(report))


def value_of(measured: Measured, name: str) -> float | None:
    """One of the values of a compound test."""
    return next(value.value for value in measured.values if value.name == name)


def steady(
    bench: Bench, drive: Target, span: int, free: int, data: str = RANDOM
) -> tuple[float | None, float | None]:
    """MiB/s and write amplification of random writes within the first `span` bytes, once what is
    free of the flash, `free` bytes, was written, and half of the span after it: the mean of the
    next quarter. Shorter than the studies' steady state, and the same for all that is compared."""
    bench.write(drive, "warm-up", span=span, moved=free + span // 2, data=data)
    parts = [
        bench.write(drive, f"round-{index}", span=span, moved=span // 16, data=data)
        for index in range(4)
    ]
    seconds = sum(float(flow(part, "write")["duration_s"] or 0.0) for part in parts)
    moved = sum(float(flow(part, "write")["bytes"] or 0.0) for part in parts)
    return (moved / seconds / MIB if seconds else None), write_amplification_of(parts)


def bytes_at_peak(bench: Bench, drive: Target, data: str, most: float = 1.5) -> float:
    """Bytes, as a share of the drive, that it takes at random until it is slower than 0.8 of its
    start, in pieces of 1/128; at most `most`."""
    piece = drive.capacity_bytes // 128
    first: float | None = None
    count = 0
    while count < most * 128:
        report = bench.write(drive, f"piece-{count}", moved=piece, data=data)
        now = rate(report) or 0.0
        first = now if first is None else first
        if now < 0.8 * first:
            break
        count += 1
    return count / 128


def trim_range(bench: Bench, drive: Target, first: int, size: int) -> None:
    """TRIM of a range of bytes, in commands as long as they may be."""
    job = Job(name="trim", source=Recorded(pacing="closed"))
    drive.run_requests(job, trims.of_range(first, first + size), bench.progress, 0.0)


@dataclass(frozen=True, kw_only=True)
class Scenario(Procedure):
    """A test that only a statement asks for."""

    run: Callable[[Bench], Found]
    group: str = "studies"
    cost: float = 1.0
    extra_drives: int = 1

    def cost_on(self, capacity_bytes: int, quick: bool) -> float:
        """Work, in units of a stream of 3 minutes."""
        return self.cost

    def measure(self, target: Target, seed: int, quick: bool, progress: TaskProgress) -> Measured:
        """Runs it; what it found has no unit but the statement's."""
        found = self.run(Bench(target, seed, progress))
        values = tuple(Value(name, name, value, "") for name, value in found.items())
        return Measured(target.capacity_bytes, values=values)


def scenarios(*rows: tuple[str, str, Callable[[Bench], Found]]) -> Sequence[Scenario]:
    """Scenarios from (identity, title, function)."""
    return tuple(Scenario(id=name, title=title, run=run) for name, title, run in rows)
