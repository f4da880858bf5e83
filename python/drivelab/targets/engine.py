"""A drive of the engine as a target: virtual time, independent copies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from drivelab import _engine
from drivelab.errors import RequestError, WorkError
from drivelab.model import Model
from drivelab.progress import TaskProgress
from drivelab.targets.target import Original, Report
from drivelab.workload import Job, Requests, jobs_to_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

Columns: TypeAlias = "dict[str, NDArray[Any]]"
"""Columns of one length, by name."""

PARTITION_KEYS = ("partition_bytes", "member.partition_bytes")


class EngineTarget:
    """A drive of the engine, in virtual time."""

    def __init__(self, model: Model, seed: int) -> None:
        with engine_errors():
            self._drive = _engine.Drive(model.engine, seed)
        self._model = model
        self._seed = seed

    @property
    def model(self) -> Model:
        """What the drive is one of."""
        return self._model

    @property
    def seed(self) -> int:
        """What the drive draws its own random choices from."""
        return self._seed

    @property
    def capacity_bytes(self) -> int:
        """Bytes that the host can address."""
        return self._model.user_capacity_bytes

    @property
    def original(self) -> Original | None:
        """The drive that this is, or is a small version of; None of a hard disk."""
        if self._model.is_disk:
            return None
        whole = self._model.with_overrides([("scale_divisor", "1")])
        return Original(
            whole.user_capacity_bytes,
            whole.raw_capacity_bytes,
            any(whole.value(key) is not None for key in PARTITION_KEYS),
        )

    @property
    def scale_remarks(self) -> tuple[str, ...]:
        """What a small version has to say of itself."""
        return tuple(self._model.scale_remarks)

    @property
    def queue_depth(self) -> int:
        """Commands that the drive accepts at once."""
        return self._model.queue_depth

    @property
    def now_ns(self) -> int:
        """Virtual time that the drive has reached."""
        return self._drive.now_ns

    def clone(self) -> EngineTarget:
        """An independent copy of the drive in its present state."""
        copy = object.__new__(EngineTarget)
        copy._model = self._model
        copy._seed = self._seed
        copy._drive = self._drive.clone()
        return copy

    @property
    def engine(self) -> _engine.Drive:
        """The drive in the engine, for who puts it to work in another way."""
        return self._drive

    def inside(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Columns of every block, and of every die; empty of a hard disk."""
        return self._drive.inside()

    def record_timeline(self, from_ns: int, until_ns: int, most: int) -> None:
        """Notes from now on what dies and buses do: what begins in this time of the drive's clock,
        the first `most` operations of each member of an array."""
        _engine.record_timeline(self._drive, from_ns, until_ns, most)

    def take_timeline(self) -> tuple[Columns, int]:
        """What was noted, and how many operations found no room; nothing is noted from now on."""
        return _engine.take_timeline(self._drive)

    def write_state(self, path: Path, key: str) -> None:
        """Writes the whole state to a file, for `read_state` with the same key and engine; raises
        OSError where that can't be."""
        _engine.write_state(self._drive, path, key)

    def read_state(self, path: Path, key: str) -> bool:
        """Becomes the drive, of this model, that was written under a key. False for any other file:
        then it is what it was. Raises OSError for one that can't be read."""
        found = _engine.read_state(self._model.engine, path, key)
        if found is not None:
            self._drive = found
        return found is not None

    def variant(self, overrides: Sequence[tuple[str, str]]) -> EngineTarget:
        """A new drive of the same model with other parameters; raises RequestError."""
        return EngineTarget(self._model.with_overrides(overrides), self._seed)

    def parameter(self, key: str) -> float | None:
        """A number of the model, or one that follows from it; None where it says none."""
        found = self._model.value(key)
        if found is None:
            found = self._model.description["derived"].get(key)
        return found if isinstance(found, int | float) else None

    def run(self, jobs: Sequence[Job], progress: TaskProgress, share: float = 1.0) -> Report:
        """Runs jobs that start together; raises RequestError for a job that can't be."""
        engine_progress = _engine.Progress()
        with engine_errors(), progress.stage(share, engine_progress):
            report: Report = json.loads(self._drive.run(jobs_to_json(jobs), engine_progress))
        return report

    def run_requests(
        self, job: Job, requests: Requests, progress: TaskProgress, share: float = 1.0
    ) -> Report:
        """Runs given requests; raises RequestError for one that can't be."""
        return self._run_requests(job, requests, progress, share, False)[0]

    def run_requests_logged(
        self, job: Job, requests: Requests, progress: TaskProgress, share: float = 1.0
    ) -> tuple[Report, Columns]:
        """The same, and every request of it."""
        report, columns = self._run_requests(job, requests, progress, share, True)
        assert columns is not None
        return report, columns

    def _run_requests(
        self, job: Job, requests: Requests, progress: TaskProgress, share: float, log: bool
    ) -> tuple[Report, Columns | None]:
        engine_progress = _engine.Progress()
        with engine_errors(), progress.stage(share, engine_progress):
            report, columns = self._drive.run_requests(
                job.to_json(),
                requests.op,
                requests.lba,
                requests.sector_count,
                requests.arrival_ns,
                engine_progress,
                requests.program,
                log,
            )
        return json.loads(report), columns

    def idle(self, duration_ns: int) -> None:
        """Lets virtual time pass without commands."""
        with engine_errors():
            self._drive.idle(duration_ns)

    def age(self, duration_ns: int) -> None:
        """What is in flash becomes older, as on a shelf, without power."""
        with engine_errors():
            self._drive.age(duration_ns)

    @property
    def erase_method(self) -> str:
        """How `secure_erase` is done, in words."""
        return "secure erase of every block"

    def secure_erase(self) -> None:
        """Erases every block: the new state."""
        self._drive.secure_erase()

    def counters(self) -> dict[str, float]:
        """Cumulative counters since the drive was made."""
        counters: dict[str, float] = json.loads(self._drive.counters())
        return counters

    def page_states(self) -> list[dict[str, Any]]:
        """The state of every page, per block; for drives of a few pages."""
        blocks: list[dict[str, Any]] = json.loads(self._drive.page_states())
        return blocks


@contextmanager
def engine_errors() -> Iterator[None]:
    """The only mapping from the engine's errors to the laboratory's."""
    try:
        yield
    except _engine.WorkloadError as error:
        raise RequestError(_in_options(str(error))) from None
    except _engine.ModelError as error:
        raise RequestError(str(error), error.key) from None
    except _engine.Cancelled:
        raise WorkError("stopped") from None


_OPTIONS = {"queue": "nvme_queue", "queue_class": "nvme_queue_class", "queue_depth": "iodepth"}
"""Keys of a job that only the engine can judge, which knows the drive, with their options."""
_KEY = re.compile(rf"^(job '.*?': |sum of |)({'|'.join(_OPTIONS)})(?= = )", re.DOTALL)


def _in_options(text: str) -> str:
    """What is wrong with a job, by the option that its key comes from.

    >>> _in_options("job 'a': queue = 9: must be less than 1, the drive's submission queues")
    "job 'a': nvme_queue = 9: must be less than 1, the drive's submission queues"
    """
    return _KEY.sub(lambda found: found[1] + _OPTIONS[found[2]], text)
