"""Points measured on a cluster, by the workers of a Dask scheduler.

Every drive is prepared by one task, and its points are tasks after that, which Dask puts where the
drive is. A drive travels as what was done to it and is prepared again where it arrives, so what
comes back is the same wherever it was measured. Workers need drivelab, of the same version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from drivelab import _engine
from drivelab.errors import RequestError, WorkError
from drivelab.lab.drive import Drive
from drivelab.lab.job import Job
from drivelab.lab.points import Point, by_drive
from drivelab.lab.running import measured
from drivelab.lab.trace import Trace
from drivelab.lab.workers import Take
from drivelab.progress import Bar, Heard, TaskProgress

if TYPE_CHECKING:
    from distributed import Client, Future

TIMEOUT_S = 10.0
"""How long a scheduler is waited for."""


@contextmanager
def connected(scheduler: str) -> Iterator[Client]:
    """A client of the scheduler at this address; raises RequestError if there is none."""
    distributed = _distributed()
    _check_address(scheduler)
    try:
        client = distributed.Client(scheduler, timeout=TIMEOUT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f'scheduler "{scheduler}": can\'t be reached: {reason}'
        raise RequestError(message, "scheduler") from None
    with client:
        yield client


def _check_address(scheduler: str) -> None:
    """Raises RequestError for what is no address: a client of one complains twice, and late."""
    comm = _distributed().comm
    try:
        scheme, place = comm.addressing.parse_address(scheduler)
        comm.addressing.parse_host_port(place)
        comm.registry.get_backend(scheme)
    except ValueError:
        raise RequestError(
            f'scheduler "{scheduler}": allowed: an address such as tcp://10.0.0.1:8786',
            "scheduler",
        ) from None


def check(client: Any) -> None:
    """Raises RequestError for what is no client; engines are compared by each task."""
    if not isinstance(client, _distributed().Client):
        raise RequestError(f"executor = {client!r}: allowed: a dask.distributed.Client, or None")


def measure(
    client: Client,
    points: Sequence[Point],
    take: Take,
    shown: bool,
    heard: Heard | None = None,
) -> None:
    """Measures points on a cluster; raises the first failure. `heard` hears of how far it is."""
    as_completed = _distributed().as_completed
    waiting: dict[Future[str], Point] = {}
    task, version = TaskProgress("", len(points)), _engine.engine_version()
    try:
        with Bar(len(points), shown, heard) as bar:
            for own in by_drive(points).values():
                prepared = client.submit(_prepared, own[0].drive, version, pure=False)
                for point in own:
                    future = client.submit(_measured, prepared, point.job, version, pure=False)
                    waiting[future] = point
            for future in as_completed(list(waiting), loop=client.loop):
                point = waiting.pop(future)
                task.label = f"{point.drive.name}, {point.values}"
                take(point, _result(future, point))
                task.add(1 / len(points))
                bar.show([task])
    finally:
        client.cancel(list(waiting))


def _result(future: Future[str], point: Point) -> str:
    from distributed import KilledWorker

    try:
        return str(future.result())
    except RequestError:
        raise
    except WorkError as error:
        raise WorkError(f"{point.drive.name}, {point.values}: {error}") from None
    except KilledWorker:
        raise WorkError(
            f"{point.drive.name}, {point.values}: several workers of the cluster died of this "
            "point, perhaps for want of memory"
        ) from None
    except Exception as error:
        raise WorkError(
            f"{point.drive.name}, {point.values}: {type(error).__name__} on the cluster: {error}"
        ) from error


def _prepared(drive: Drive, engine_version: str) -> Drive:
    _check_engine(engine_version)
    drive.make()
    return drive


def _measured(drive: Drive, job: Job | Trace, engine_version: str) -> str:
    # Dask may have moved the drive to a worker that prepares it again, and has another engine.
    _check_engine(engine_version)
    return json.dumps(measured(drive, [job]))


def _check_engine(engine_version: str) -> None:
    if engine_version != _engine.engine_version():
        raise RequestError(
            f"a worker of the cluster has engine {_engine.engine_version()}, here it is "
            f"{engine_version}: install the same version of drivelab there",
            "executor",
        )


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise RequestError(
            "a cluster needs dask.distributed: pip install 'drivelab[dask]'", "executor"
        ) from None
    return distributed
