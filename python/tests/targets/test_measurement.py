"""fio's JSON and logs, recorded, as reports."""

from __future__ import annotations

import json
from pathlib import Path

from drivelab.targets.fio import measurement
from drivelab.workload import BlockSize, Job

RECORDED = Path(__file__).parent / "recorded"


def recorded(job: Job) -> measurement.Record:
    entry = json.loads((RECORDED / "fio-3.33.json").read_text())
    return measurement.job_report(
        job, entry, measurement.read_logs(measurement.log_texts(RECORDED, "log0"), {})
    )


def mixed(interval_ns: int = 500_000_000) -> Job:
    return Job(
        name="mixed",
        rw="randrw",
        block_sizes=(BlockSize(bytes=262_144),),
        queue_depth=2,
        series_interval_ns=interval_ns,
        percentiles=(50.0, 99.9),
    )


def test_amounts_rates_and_latencies_are_those_that_fio_states() -> None:
    report = recorded(mixed())
    read, write = report["read"], report["write"]
    assert report["runtime_ns"] == 2_201_000_000
    assert (read["ios"], read["bytes"]) == (330, 86_507_520)
    assert (write["ios"], write["bytes"]) == (220, 57_671_680)
    assert round(read["bytes_per_s"]) == 39_303_735
    assert round(read["latency_ns"]["mean"], 1) == 762_038.2
    assert list(read["latency_ns"]["percentiles"]) == ["50.000000", "99.900000"]
    assert sum(count for _, count in read["latency_ns"]["bins"]) == 330
    assert report["flush"]["count"] == 4


def test_what_did_not_happen_is_nothing_and_not_zero() -> None:
    trim = recorded(mixed())["trim"]
    assert trim["ios"] == 0
    assert trim["latency_ns"] is None
    assert trim["iops"] is None


def test_series_add_up_to_the_bytes_and_keep_the_longest_latency_of_each_interval() -> None:
    series = recorded(mixed())["read"]["series"]
    assert len(series["bytes"]) == 5
    assert sum(series["bytes"]) == 86_507_520
    assert sum(series["ios"]) == 330
    assert series["latency_max_ns"] == [4_655_132, 5_495_680, 5_464_378, 22_502_144, 3_974_418]
    # 38 MiB/s for half a second.
    assert abs(series["bytes"][0] - 38_912 * 1024 // 2) < 4096


def test_a_stall_is_an_interval_without_bytes() -> None:
    second = 1_000_000_000
    job = Job(name="stalled", rw="write", series_interval_ns=second)
    found = entry(0, 0, 5000)
    written = {"total_ios": 300, "io_bytes": 300 * 1024, "runtime": 5000, "lat_ns": {"N": 0}}
    # 100 KiB/s in the first, second and fifth second; fio writes nothing of the two between.
    rows = [(1000, 100), (2000, 100), (5000, 100)]
    logs = {"bw write": rows, "iops write": rows, "lat write": [(5000, 3 * second)]}
    report = measurement.job_report(job, found | {"write": written}, logs)
    series = report["write"]["series"]
    assert series["bytes"] == [102_400, 102_400, 0, 0, 102_400]
    assert series["ios"] == [100, 100, 0, 0, 100]
    assert series["latency_max_ns"] == [None, None, None, None, 3 * second]


def test_a_direction_without_requests_has_no_longest_latency() -> None:
    assert measurement.no_series(0, 0, 1000, None)["latency_max_ns"] == [None]


def test_the_last_milliseconds_are_no_interval_of_their_own() -> None:
    series = recorded(mixed(2_200_000_000))["read"]["series"]
    assert len(series["bytes"]) == 1


def entry(total_ios: int, mean_ns: float, runtime_ms: int) -> measurement.Record:
    nothing = {"total_ios": 0, "io_bytes": 0, "runtime": 0, "lat_ns": {"N": 0}}
    latency = {
        **dict.fromkeys(("min", "max", "mean"), mean_ns),
        "stddev": 0.0,
        "N": total_ios,
        "bins": {str(round(mean_ns)): total_ios},
    }
    read = {"total_ios": total_ios, "io_bytes": 4096 * total_ios, "lat_ns": latency}
    return {
        "job_runtime": runtime_ms,
        "read": read | {"runtime": runtime_ms},
        "write": nothing,
        "trim": nothing,
        "sync": {"total_ios": 0, "lat_ns": {"N": 0}},
    }


def test_a_run_shorter_than_fios_clock_is_timed_by_its_latencies() -> None:
    report = measurement.job_report(Job(name="short"), entry(8, 100_000.0, 1), {})
    assert report["read"]["runtime_ns"] == 800_000


def test_lanes_of_a_replay_are_one_job() -> None:
    whole = measurement.merged([entry(10, 1000.0, 5), entry(30, 3000.0, 9)], (25.0, 50.0))
    latency = whole["read"]["lat_ns"]
    assert whole["job_runtime"] == 9
    assert (whole["read"]["total_ios"], latency["N"]) == (40, 40)
    assert latency["mean"] == 2500.0
    assert latency["percentile"] == {"25.000000": 1000, "50.000000": 3000}
