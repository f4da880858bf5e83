"""A drive under a PTS test: purge, preconditioning, stimuli one after the other without a gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drivelab.procedures import outstanding
from drivelab.procedures.measured import Column, Table
from drivelab.procedures.pts.settings import REVISION, Lengths, Settings
from drivelab.progress import TaskProgress
from drivelab.quantities import KIB, MIB, NS_PER_S, bytes_text, derive_seed
from drivelab.targets import Report, Target
from drivelab.workload import RANDOM_BYTES, BlockSize, Distribution, Job, Rw, Uniform

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99, 99.999)
PATTERN = "random: neither compresses nor repeats"
PRECONDITION_BYTES = 128 * KIB
UNIFORM = Uniform()


@dataclass(frozen=True)
class Stimulus:
    """Requests of one kind. Threads share one generator: for uniform places it is all the same."""

    label: str
    block_sizes: tuple[BlockSize, ...]
    read_percent: float
    outstanding: int
    random: bool = True
    distribution: Distribution = UNIFORM

    @property
    def rw(self) -> Rw:
        """In fio's words."""
        words: tuple[Rw, Rw, Rw] = ("write", "read", "rw")
        if self.random:
            words = ("randwrite", "randread", "randrw")
        return words[0 if self.read_percent == 0 else 1 if self.read_percent == 100 else 2]


def one_size(block_bytes: int) -> tuple[BlockSize, ...]:
    """Blocks of one size."""
    return (BlockSize(bytes=block_bytes),)


class Bench:
    """One drive and its settings; every step has a seed of its own, by number."""

    def __init__(
        self,
        target: Target,
        settings: Settings,
        lengths: Lengths,
        seed: int,
        progress: TaskProgress,
    ) -> None:
        self.settings = settings
        self.lengths = lengths
        self._target = target
        self._seed = seed
        self._progress = progress
        self._step = 0
        self._deepest = 0

    @property
    def span_bytes(self) -> int:
        """The active range, in whole MiB if there is room for one."""
        size = self._target.capacity_bytes * self.settings.active_range_percent // 100
        return size - size % MIB if size >= MIB else size

    @property
    def capacity_bytes(self) -> int:
        """User capacity."""
        return self._target.capacity_bytes

    def deviations(self) -> tuple[str, ...]:
        """Where the active range isn't quite the standard's, nor what is outstanding."""
        left = self._target.capacity_bytes * self.settings.active_range_percent // 100
        left -= self.span_bytes
        text = f"The active range ends with a whole MiB: {left} bytes short of the standard's."
        waiting = outstanding.waiting(self._target, self._deepest)
        return (*([text] if left else []), *(f"{one[:1].upper()}{one[1:]}." for one in waiting))

    def counters(self) -> dict[str, float]:
        """Cumulative counters of the drive."""
        return self._target.counters()

    def purge(self) -> None:
        """Brings the drive into the state before its first use."""
        self._target.secure_erase()

    def precondition(self, share: float) -> None:
        """Workload-independent: capacities' worth of writes, over and over the active range."""
        self.fill(round(self.lengths.precondition_fills * self.capacity_bytes), share)

    def fill(self, byte_count: int, share: float) -> None:
        """Writes so many bytes in ascending order, from the first block of the active range on."""
        stimulus = Stimulus(
            "fill",
            one_size(min(PRECONDITION_BYTES, self.span_bytes)),
            0,
            self.settings.outstanding,
            random=False,
        )
        self.apply(stimulus, None, share, bytes_max=byte_count)

    def apply(
        self,
        stimulus: Stimulus,
        seconds: float | None,
        share: float,
        *,
        bytes_max: int | None = None,
        sample_s: float | None = None,
    ) -> Report:
        """Runs a stimulus for a time, or until so many bytes were moved, whichever comes first.

        `share` of the test's progress; `sample_s` is the width of a sample of the report's series.
        """
        self._step += 1
        self._deepest = max(self._deepest, stimulus.outstanding)
        width_s = sample_s or seconds or self.lengths.stimulus_s
        job = Job(
            name=stimulus.label,
            rw=stimulus.rw,
            read_percent=stimulus.read_percent,
            block_sizes=stimulus.block_sizes,
            span_bytes=self.span_bytes,
            io_bytes=bytes_max,
            runtime_ns=None if seconds is None else round(seconds * NS_PER_S),
            time_based=bytes_max is None,
            queue_depth=stimulus.outstanding,
            distribution=stimulus.distribution,
            fua=not self.settings.write_cache,
            data=RANDOM_BYTES,
            seed=derive_seed(self._seed, stimulus.label, str(self._step)),
            series_interval_ns=round(width_s * NS_PER_S),
            percentiles=PERCENTILES,
        )
        return self._target.run([job], self._progress, share)

    def idle(self, seconds: float) -> None:
        """Lets time pass without requests."""
        self._target.idle(round(seconds * NS_PER_S))

    def header(
        self, title: str, facts: Sequence[tuple[str, str]], *, before: str | None = None
    ) -> Table:
        """What the standard wants at the head of a report.

        `before`: what was written before the test's own workload, where it isn't the standard's
        workload-independent preconditioning.
        """
        settings = self.settings
        if before is None:
            times = f"{self.lengths.precondition_fills:g}"
            before = f"128 KiB sequential writes, {times} times the user capacity"
        rows = (
            ("Test", title),
            ("Revision", REVISION),
            ("Settings", settings.name),
            ("User capacity", bytes_text(self.capacity_bytes)),
            ("Purge", self._target.erase_method),
            ("Data pattern", PATTERN),
            ("Active range", f"{settings.active_range_percent} %: {self.span_bytes} bytes"),
            ("Volatile write cache", "on" if settings.write_cache else "off: every write is FUA"),
            ("Preconditioning, workload-independent", before),
            *facts,
        )
        return Table(
            "header",
            "Test conditions",
            (Column("item", "Item"), Column("value", "Value")),
            tuple({"item": item, "value": value} for item, value in rows),
        )
