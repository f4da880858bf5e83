"""fio's JSON and logs, recorded, as reports."""

from __future__ import annotations

import json
from pathlib import Path

from drivelab.procedures.pts import rates
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


def test_no_percentile_is_beyond_the_extremes() -> None:
    """fio tells the middle of a bin that the longest may lie below, and the shortest above."""
    times = {"N": 2, "min": 997, "max": 1000, "mean": 998.5, "stddev": 1.5}
    found = measurement.latency_report({**times, "percentile": {"1": 992, "99.9": 1004}})
    assert found is not None
    assert found["percentiles"] == {"1": 997, "99.9": 1000}


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


def test_a_request_counts_in_the_interval_in_which_it_ended() -> None:
    second = 1_000_000_000
    job = Job(name="each", rw="read", series_interval_ns=second)
    # Ten requests a second, the last of each second just before its end, one just after the run.
    times_ms = [index * 100 + 99 for index in range(30)] + [3001]
    times_ms[10] = 1000
    text = "".join(f"{time_ms}, {time_ms * 1000}, 0, 4096, 0\n" for time_ms in times_ms)
    logs = measurement.read_logs({"lat": text}, {"log_avg_msec": "0"})
    series = measurement.job_report(job, entry(31, 1000.0, 3001), logs)["read"]["series"]
    assert series["ios"] == [10, 10, 11]
    assert series["bytes"] == [40_960, 40_960, 45_056]
    assert series["latency_max_ns"] == [999_000, 1_999_000, 3_001_000]


def test_a_mean_latency_that_nobody_measured_is_no_column() -> None:
    reports = [recorded(mixed()), measurement.job_report(Job(name="sums"), entry(8, 1e6, 8), {})]
    assert [report["read"]["series"]["latency_mean_ns"] for report in reports] == [None, None]
    for report in reports:
        samples = rates.samples({"jobs": [report | {"write": report["read"]}]})
        whole = report["read"]["runtime_ns"] // report["read"]["series"]["interval_ns"]
        assert [sample.mean_ms for sample in samples] == [None] * whole
        assert whole > 0
