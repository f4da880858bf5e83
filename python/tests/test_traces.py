from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from drivelab import traces
from drivelab.errors import RequestError, WorkError
from drivelab.progress import TaskProgress
from drivelab.text.measured import trace_notes
from drivelab.traces import Trace, TraceFile

EXCERPTS = Path(__file__).parent / "traces"
SYSTOR17 = (
    "Timestamp,Response,IOType,LUN,Offset,Size\n"
    "1455592841.120461000,0.000806000,R,0,8192,131072\n"
    "1455592841.120961500,0.000200000,R,0,4096,4096\n"
    "1455592841.130000000,,W,0,4096,8192\n"
)


def read(file: TraceFile, capacity_bytes: int | None = None, beyond: str = "reject") -> Trace:
    return traces.read_trace(file, TaskProgress("reading"), capacity_bytes, beyond)


def test_an_excerpt_is_what_its_columns_say() -> None:
    path = EXCERPTS / "tpcc-excerpt.trace"
    lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    found = read(TraceFile(path))
    assert (found.name, found.format, len(found.requests)) == (path.name, "mqsim", 300)
    assert found.requests.lba.tolist() == [int(line[2]) for line in lines]
    record = found.record()
    assert record["bytes"] == sum(int(line[3]) for line in lines) * 512
    assert record["read"]["ios"] == sum(line[4] == "1" for line in lines)
    assert record["write"]["ios"] == sum(line[4] == "0" for line in lines)
    assert record["duration_s"] == (int(lines[-1][0]) - int(lines[0][0])) / 1e9
    assert found.response_ns is None
    assert record["read"]["recorded_latency_us"] is None


def test_recorded_response_times_and_dropped_requests_are_told(tmp_path: Path) -> None:
    path = tmp_path / "hour.csv.gz"
    path.write_bytes(gzip.compress(SYSTOR17.encode()))
    record = read(TraceFile(path)).record()
    assert (record["format"], record["dropped"], record["reordered"]) == ("systor17", 1, 0)
    recorded = record["read"]["recorded_latency_us"]
    assert (recorded["count"], recorded["max"]) == (2, 806.0)
    assert recorded["mean"] == pytest.approx(503.0)
    assert record["write"]["recorded_latency_us"] is None


def test_one_device_is_read_without_the_others() -> None:
    path = EXCERPTS / "wsrch-excerpt.trace"
    whole = read(TraceFile(path))
    counts = [len(read(TraceFile(path, device=name)).requests) for name in whole.devices]
    assert sum(counts) == len(whole.requests)
    with pytest.raises(RequestError, match="--device 99: must be a device of the trace"):
        read(TraceFile(path, device="99"))


def test_a_trace_fits_the_drive_that_is_asked_for() -> None:
    file = TraceFile(EXCERPTS / "tpcc-excerpt.trace")
    with pytest.raises(RequestError, match="--out-of-range"):
        read(file, 10**9)
    fitted = read(file, 10**9, "compact").requests
    assert int((fitted.lba + fitted.sector_count).max()) * 512 <= 10**9
    assert fitted.byte_count == read(file).requests.byte_count


def test_errors_name_file_line_and_option(tmp_path: Path) -> None:
    path = tmp_path / "broken"
    path.write_text("1 0 8 8 1\n2 0 8 8\n", encoding="ascii")
    with pytest.raises(RequestError, match=r"broken, line 2: 4 columns: must be 5"):
        read(TraceFile(path))
    path.write_bytes(gzip.compress(b"1 0 8 8 1\n" * 1000)[:40])
    with pytest.raises(RequestError, match=r"can't read .*broken: "):
        read(TraceFile(path))
    with pytest.raises(RequestError, match=r"can't read .*absent: No such file"):
        read(TraceFile(tmp_path / "absent"))
    with pytest.raises(RequestError, match="--arrival-event Q: has a meaning in the format blkp"):
        read(TraceFile(EXCERPTS / "tpcc-excerpt.trace", arrival_event="Q"))


def test_reading_can_be_stopped() -> None:
    progress = TaskProgress("reading")
    progress.cancel()
    with pytest.raises(WorkError, match="stopped"):
        traces.read_trace(TraceFile(EXCERPTS / "tpcc-excerpt.trace"), progress)


def test_a_request_beyond_the_drive_names_file_and_request(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("0,h,0,Write,4096,4096,0\n10,h,0,Write,512000,4096,0\n")
    with pytest.raises(RequestError) as refused:
        read(TraceFile(path), 8192)
    assert f"{path}, request 2 in order of arrival: lba = 1000" in str(refused.value)
    assert "--out-of-range" in str(refused.value)


@pytest.mark.parametrize(
    ("version", "line"), [(2, "drive write 0 4096\n"), (3, "20 drive write 0 4096\n")]
)
def test_logs_of_several_jobs_in_one_file_are_told(version: int, line: str, tmp_path: Path) -> None:
    path = tmp_path / "two.log"
    path.write_text(f"fio version {version} iolog\n{line}" * 2)
    with pytest.raises(RequestError, match=r"two\.log, line 3: another iolog begins .* its own"):
        read(TraceFile(path))


def test_what_of_a_trace_is_not_as_in_its_file_is_said() -> None:
    whole = {"devices": ["0"], "dropped": 0, "reordered": 0}
    assert list(trace_notes(whole)) == []
    assert list(trace_notes({"devices": ["0", "1"], "dropped": 1, "reordered": 2})) == [
        "requests of 2 devices stand as if they were one drive's",
        "1 request without a response or data was left out",
        "2 requests stood behind later ones in the file and were put in order of time",
    ]
