from __future__ import annotations

import subprocess
import sys

import drivelab as dl
from drivelab.lab.axes import varied
from drivelab.lab.points import Point, points
from drivelab.lab.turns import Turns

DRIVE = dl.Drive("intel-x25-m-g1-80gb", scale="1/64")
JOB = dl.Job(rw="randwrite", bs="4k", io_size="1m")
GRID = {"spare_ratio": [0.07, 0.28], "job.iodepth": [1, 2, 4]}


def found() -> list[Point]:
    return points(DRIVE, varied(GRID, None), JOB, "new", 1)


def measured(workers: int, prepare_s: float, point_s: float) -> list[list[Point]]:
    """What each of these workers measures if preparations and points take so long."""
    turns = Turns(found())
    done: list[list[Point]] = [[] for _ in range(workers)]
    free_s = dict.fromkeys(range(workers), 0.0)
    while free_s:
        worker = min(free_s, key=lambda index: free_s[index])
        prepared = done[worker][-1].drive.key if done[worker] else None
        point = turns.next(prepared)
        if point is None:
            del free_s[worker]
            continue
        own_s = 0.0 if point.drive.key == prepared else prepare_s
        free_s[worker] += own_s + point_s
        turns.took(point, own_s, point_s)
        done[worker].append(point)
    return done


def preparations(done: list[list[Point]]) -> list[int]:
    """How many drives each worker prepared."""
    return [len({point.drive.key for point in part}) for part in done]


def test_every_point_is_measured_once_by_any_number_of_workers() -> None:
    for workers in (1, 2, 3, 6, 9):
        keys = [point.key for part in measured(workers, 0.1, 1.0) for point in part]
        assert sorted(keys) == sorted(point.key for point in found()), workers


def test_a_drive_of_one_point_is_nobody_elses() -> None:
    turns = Turns(found())
    assert not any(turns.is_alone(point) for point in found())
    single = points(DRIVE, varied({"spare_ratio": [0.07, 0.28]}, None), JOB, "new", 1)
    turns = Turns(single)
    assert all(turns.is_alone(point) for point in single)


def test_a_worker_stays_with_the_drive_that_it_has() -> None:
    assert preparations(measured(1, 0.1, 1.0)) == [2]
    assert preparations(measured(2, 0.1, 1.0)) == [1, 1]


def test_points_are_shared_where_a_drive_is_soon_prepared_again() -> None:
    assert [len(part) for part in measured(6, 0.1, 1.0)] == [1] * 6
    assert sorted(len(part) for part in measured(4, 0.1, 1.0)) == [1, 1, 2, 2]


def test_a_long_preparation_is_not_done_again_for_what_is_soon_done() -> None:
    turns = Turns(found())
    one, two = turns.next(None), turns.next(None)
    assert one is not None
    assert two is not None
    for point in (one, two):
        turns.took(point, 60.0, 1.0)
    for _ in range(2):
        assert turns.next(two.drive.key) is not None
    # Two points of a second each are left of the other drive, which takes a minute to prepare.
    assert turns.next(two.drive.key) is None
    turns.took(one, 60.0, 90.0)
    assert turns.next(two.drive.key) is not None


def test_a_process_that_measures_loads_no_tables() -> None:
    # Each costs a good part of a second, in every worker of every sweep.
    code = "import sys, drivelab.lab.worker; print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "'drivelab.lab.worker'" in loaded
    for module in ("polars", "duckdb", "drivelab.procedures", "drivelab.figures", "vl_convert"):
        assert f"'{module}'" not in loaded, module
