"""Sweeps on Dask: clusters of processes on this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import cloudpickle
import distributed
import pytest

import drivelab as dl
from drivelab import cli
from drivelab.lab import cluster, workers
from drivelab.lab.axes import varied
from drivelab.lab.points import points

DRIVE = dl.Drive("intel-x25-m-g1-80gb", scale="1/64")
JOB = dl.Job(rw="randwrite", bs="4k", iodepth=4, io_size="64m")
GRID = {"spare_ratio": [0.07, 0.28], "job.iodepth": [1, 4, 32]}


def swept(**options: Any) -> dl.Study:
    given = {"job": JOB, "state": "filled", "progress": False}
    return dl.sweep(DRIVE, GRID, **(given | options))


@pytest.fixture(scope="module")
def alone() -> dl.Study:
    return swept(workers=1)


# Workers can't import tests.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as local,
        distributed.Client(local, set_as_default=False) as found,
    ):
        yield found


@pytest.mark.slow
def test_a_cluster_gives_the_same_as_a_process(
    alone: dl.Study, client: distributed.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.Worker, "start", lambda *_: pytest.fail("measured here"))
    heard: list[float] = []
    found = swept(executor=client, progress=lambda share, words: heard.append(share))
    assert heard == sorted(heard)
    assert heard[-1] == pytest.approx(1)
    assert found.frame().equals(alone.frame())
    assert [one.report for one in found] == [one.report for one in alone]


@pytest.mark.slow
def test_drives_are_prepared_once_where_their_points_run(
    alone: dl.Study, client: distributed.Client
) -> None:
    before = client.run(_made)
    study = swept(executor=client, state="new")
    after = client.run(_made)
    assert len(study) == 6
    made = sum(after[worker] - before[worker] for worker in after)
    # Two drives; Dask may move a point to a worker that has nothing to do.
    assert 2 <= made <= 4


def _made() -> int:
    """How often this process has made a drive since it was asked first."""
    from drivelab.lab import making

    kept: Any = making
    if not hasattr(kept, "made_count"):
        made = kept.made
        kept.made_count = 0

        def counted(*words: Any, **options: Any) -> Any:
            kept.made_count += 1
            return made(*words, **options)

        kept.made = counted
    count: int = kept.made_count
    return count


@pytest.mark.slow
def test_what_a_point_can_not_be_is_said_from_afar(client: distributed.Client) -> None:
    with pytest.raises(dl.RequestError, match="install the same version"):
        client.submit(cluster._prepared, DRIVE, "0.0.0").result()


def test_a_drive_that_is_moved_is_not_measured_by_another_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Prepared by one worker, and sent by Dask to another with its own version of drivelab."""

    class Moving:
        loop = None

        def submit(self, task: Any, *given: Any, pure: bool) -> Any:
            if task is cluster._measured:
                with monkeypatch.context() as elsewhere:
                    elsewhere.setattr(cluster._engine, "engine_version", lambda: "0.0.0")
                    task(*given)
            return task(*given)

        def cancel(self, futures: Any) -> None:
            assert futures == []

    what = varied({"job.iodepth": [1]}, None)
    found = points(DRIVE, what, JOB.with_options(io_size="64k"), None, 1)
    client: Any = Moving()
    with pytest.raises(dl.RequestError, match=r"has engine 0\.0\.0.*install the same version"):
        cluster.measure(client, found, lambda *_: pytest.fail("it was kept"), shown=False)


@contextmanager
def started(*words: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program of Dask's, as one starts it by hand; what it says goes to a file."""
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]],
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        # Its children, too, which outlive one that was killed.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def told(log: Path, pattern: str) -> str:
    """What a program says of itself, as soon as it has."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if found := re.search(pattern, log.read_text(encoding="utf-8")):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(log.read_text(encoding="utf-8"))


WORKER = ("dask_worker", "--nthreads", "1", "--no-dashboard")


@pytest.mark.slow
def test_a_worker_that_dies_costs_its_point_only(
    alone: dl.Study,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs = tmp_path / "scheduler", tmp_path / "one", tmp_path / "two"
    with ExitStack() as open_programs:
        scheduler = ("dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        ports = ("--dashboard-address", ":0")
        open_programs.enter_context(started(*scheduler, *ports, log=logs[0]))
        address = told(logs[0], r"Scheduler at:\s+(tcp://\S+)")
        one = open_programs.enter_context(started(*WORKER, address, log=logs[1]))
        open_programs.enter_context(started(*WORKER, address, log=logs[2]))
        for log in logs[1:]:
            told(log, r"(Registered to)")
        stored: list[str] = []
        add = dl.lab.store.Store.add  # type: ignore[attr-defined]

        def added(self: Any, point: Any, text: str, report: Any) -> None:
            if not stored:
                os.killpg(one.pid, signal.SIGKILL)
            stored.append(point.key)
            add(self, point, text, report)

        monkeypatch.setattr("drivelab.lab.store.Store.add", added)
        found = swept(scheduler=address, store=tmp_path / "study")
        assert one.wait(120) != 0
        assert len(stored) == len(set(stored)) == 6
        assert found.frame().equals(alone.frame())

        file = tmp_path / "s.toml"
        file.write_text(SWEEP, encoding="utf-8")
        assert cli.run(["sweep", str(file), "--scheduler", address]) == 0
        assert capsys.readouterr().out.count("write ") == 2


SWEEP = """
drive = "intel-x25-m-g1-80gb"
scale = "1/128"
[job]
rw = "randwrite"
bs = "4k"
io_size = "4m"
[grid]
job.iodepth = [1, 32]
"""


def test_no_scheduler_and_no_client() -> None:
    with pytest.raises(dl.RequestError, match=r"executor = 3: allowed: a dask.distributed.Client"):
        swept(executor=3)
    with pytest.raises(dl.RequestError, match="workers and scheduler: one of them"):
        swept(workers=2, scheduler="tcp://127.0.0.1:1")
    for address in ("tcp:x", "nonsense", "tcp://127.0.0.1", "foo://1.2.3.4:5"):
        with pytest.raises(dl.RequestError, match=f'scheduler "{address}": allowed: an address'):
            swept(scheduler=address)


@pytest.mark.slow
def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "TIMEOUT_S", 0.5)
    with pytest.raises(dl.RequestError, match="can't be reached"):
        swept(scheduler="tcp://127.0.0.1:1")
