"""Applications: scores follow the drive, and mean what they say."""

from __future__ import annotations

import numpy as np
import pytest
from small import small_model

from drivelab import model
from drivelab.applications import desktop, pcmark
from drivelab.applications.scenario import Place
from drivelab.procedures import PROCEDURES
from drivelab.procedures.applications import mean_minutes
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB
from drivelab.targets import EngineTarget


def values_of(test_id: str, target: EngineTarget) -> dict[str, float]:
    found = PROCEDURES[test_id].measure(target, 1, True, TaskProgress(test_id)).found()
    return {value["name"]: value["value"] for value in found["values"]}


def test_the_disk_score_is_proportional_to_the_mean_and_the_other_one_to_its_fourth_root() -> None:
    once = {trace.name: 10.0 for trace in pcmark.TRACES}
    faster = {name: 16 * rate for name, rate in once.items()}
    assert pcmark.hdd_score(faster) == pytest.approx(16 * pcmark.hdd_score(once))
    assert pcmark.overall_score(faster) == pytest.approx(2 * pcmark.overall_score(once))
    assert pcmark.productivity_mb_per_s(faster) == pytest.approx(160)


def test_an_ssd_is_ahead_of_a_disk_in_every_score() -> None:
    disk = EngineTarget(model.load("seagate-momentus-5400-6-500gb"), 1)
    ssd = EngineTarget(small_model(), 1)
    for test_id in ("pcmark-vantage", "sysmark-2007"):
        slow, fast = values_of(test_id, disk.clone()), values_of(test_id, ssd.clone())
        assert slow["score"] < fast["score"]


def test_tasks_score_100_less_what_the_drive_takes() -> None:
    values = values_of("sysmark-2007", EngineTarget(small_model(), 1))
    share = values["disk_s"] / values["time_s"]
    assert values["score"] == pytest.approx(100 * (1 - share))
    assert 0 < share < 0.2


def test_use_stutters_on_a_drive_that_merges_for_every_small_write_and_not_on_others() -> None:
    slow = EngineTarget(model.load("jmicron-jmf602b-64gb"), 1)
    assert values_of("desktop-use", slow)["minutes_to_stutter"] < 5
    values = values_of("desktop-use", EngineTarget(small_model(), 1))
    assert values["minutes_to_stutter"] is None
    assert values["longest_ms"] < desktop.STUTTER_NS / 1e6


def test_who_sees_no_pause_counts_as_long_as_he_was_watched() -> None:
    assert mean_minutes([], 49, 120.0) is None
    assert mean_minutes([10.0, 20.0, 60.0], 3, 120.0) == 30.0
    # Pauses at a constant rate, of which those after the limit are not seen.
    rng = np.random.default_rng(1)
    times = rng.exponential(100.0, 20_000)
    seen = [float(time) for time in times if time < 120.0]
    assert mean_minutes(seen, len(times), 120.0) == pytest.approx(100.0, rel=0.03)
    assert np.mean(seen) < 60.0, "the mean of those who saw one isn't it"


def test_use_comes_in_bursts_that_nobody_waits_for() -> None:
    requests = desktop.hours_of_use(600, Place(0, GIB), 1)
    bursts = 600 // desktop.BURST_PERIOD_S
    assert np.count_nonzero(requests.op == 0) == bursts
    assert requests.background is not None
    assert np.array_equal(requests.background == 0, requests.op == 0)
    assert len(requests) >= bursts * (desktop.BURST_LEAST + 1)
