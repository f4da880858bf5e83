"""Job files as they are passed around: options that every tutorial has, and what they come to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fio.job_file import only, read

import drivelab as dl
from drivelab.errors import RequestError
from drivelab.fio.options import ALIASES, IGNORED, INSTEAD, ONLY
from drivelab.fio.readers import READERS
from drivelab.quantities import GIB, KIB, MIB
from drivelab.targets.fio.options import job_options
from drivelab.workload import BlockSize

JOURNAL = """
[journal-test]
ioengine=libaio
direct=1
sync=1
rw=write
bs=4k
numjobs=1
iodepth=1
runtime=60
time_based
group_reporting
"""
"""How drives are tried for the journal of a database or a cluster."""

CLOUD = """
[global]
ioengine=io_uring
registerfiles=1
fixedbufs=1
sqthread_poll=1
nonvectored=1
gtod_reduce=1
verify=0
randrepeat=0
random_generator=tausworthe64
iodepth_batch_submit=64
iodepth_batch_complete_max=64
unlink=1
overwrite=1
fallocate=none
create_serialize=0
unified_rw_reporting=0
group_reporting
[random-writes]
size=2g
rw=randwrite
iodepth=256
numjobs=4
offset_increment=25%
"""
"""How the makers of clouds and of drives have their volumes measured."""


def test_a_journal_is_written_with_fua(tmp_path: Path) -> None:
    job = only(tmp_path, JOURNAL).job
    assert (job.fua, job.flush_every_writes, job.time_based) == (True, 0, True)
    assert not only(tmp_path, JOURNAL.replace("sync=1", "sync=0")).job.fua
    with pytest.raises(RequestError, match="sync=maybe is not possible; allowed: 0, none, 1"):
        only(tmp_path, JOURNAL.replace("sync=1", "sync=maybe"))


def measured(model: str, **options: object) -> dict[str, Any]:
    """The one row of a job on a small version of a new drive."""
    return dl.Drive(model, scale="1/64").run(dl.Job(**options)).summary.row(0, named=True)


def test_a_write_that_must_be_in_flash_takes_its_program() -> None:
    fast, slow = (
        measured("intel-x25-m-g1-80gb", rw="randwrite", size="64m", io_size="4m", sync=sync)
        for sync in (False, True)
    )
    assert slow["latency_mean_us"] > 3 * fast["latency_mean_us"]


def test_options_of_the_host_are_named_with_their_reason_and_clones_lie_beside_each_other(
    tmp_path: Path,
) -> None:
    found = read(tmp_path, CLOUD)
    assert [job.job.offset_bytes for job in found.jobs] == [0, 2 * GIB, 4 * GIB, 6 * GIB]
    assert {job.job.span_bytes for job in found.jobs} == {2 * GIB}
    for name in ("gtod_reduce", "verify", "fixedbufs", "fallocate", "iodepth_batch_submit"):
        assert found.ignored[name] == IGNORED[name] != ""
    with pytest.raises(RequestError, match="offset=8589934592 and size=2147483648"):
        read(tmp_path, CLOUD.replace("numjobs=4", "numjobs=5"))


def test_a_file_begins_where_the_drive_does(tmp_path: Path) -> None:
    text = "[a]\nrw=randread\nfilesize=4g\nnumjobs=4\noffset_increment=1g\nio_size=50%\n"
    found = [job.job for job in read(tmp_path, text).jobs]
    assert [job.span_bytes for job in found] == [4 * GIB, 3 * GIB, 2 * GIB, GIB]
    assert [job.io_bytes for job in found] == [2 * GIB, 3 * GIB // 2, GIB, GIB // 2]
    for wrong, words in (
        (text.replace("numjobs=4", "numjobs=5"), "filesize=4g is not possible; allowed: more than"),
        (text + "size=2g\n", "filesize=4g is not possible; allowed: the same as size"),
        ("[a]\nrw=read\nfilesize=0\n", "filesize=0 is not possible"),
        ("[a]\nrw=read\nfilesize=1000\n", "filesize=1000 is not possible; allowed: multiples"),
        (
            "[a]\nrw=read\noffset_increment=50%\nnumjobs=3\n",
            "offset_increment=50% is not possible; allowed: up to 8589934080 bytes, times 2 for",
        ),
        ("[a]\nrw=read\nbsrange=4k-1m\nsize=64k\n", "bsrange=4k-1m is not possible"),
        ("[a]\nrw=write:8k\n", "rw=write:8k is not possible; allowed: a mode alone"),
        ("[a]\nrw=read\nstartdelay=1-3\n", "startdelay=1-3 is not possible; allowed: one time"),
        ("[a]\nrw=read\nrate_iops=0\n", "rate_iops=0 is not possible; .*nothing limits it"),
    ):
        with pytest.raises(RequestError, match=words):
            read(tmp_path, wrong)


def test_percentages_begin_with_a_block(tmp_path: Path) -> None:
    text = "[a]\nrw=randwrite\nbs=64k\noffset=33%\nsize=1g\nnumjobs=2\noffset_increment=10%\n"
    for job in read(tmp_path, text).jobs:
        assert job.job.offset_bytes % (64 * KIB) == 0
        share = (33 + 10 * (job.number - 1)) / 100
        assert 0 <= job.job.offset_bytes - share * 8 * GIB < 64 * KIB
    [plain] = read(tmp_path, "[a]\nrw=randwrite\nbs=64k\noffset=512\nsize=1g\n").jobs
    assert plain.job.offset_bytes == 512


@pytest.mark.parametrize("name", ONLY)
def test_what_changes_nothing_at_one_value_is_refused_at_others_with_the_reason(
    tmp_path: Path, name: str
) -> None:
    values, reason = ONLY[name]
    for value in values:
        assert reason in only_ignored(tmp_path, f"{name}={value}")[name]
    for text in (f"{name}=other", name):
        with pytest.raises(RequestError) as raised:
            read(tmp_path, f"[a]\nrw=read\n{text}\n")
        assert str(raised.value).endswith(f"allowed: {' or '.join(values)}: {reason}")


def only_ignored(tmp_path: Path, text: str) -> dict[str, str]:
    """The options of a job that have no effect."""
    return read(tmp_path, f"[a]\nrw=read\n{text}\n").ignored


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4k-16k", {4: 1, 8: 1, 12: 1, 16: 1}),
        # Drawn evenly from 4 to 14 KiB, and rounded down to 4, 8 and 12, which is 10 then.
        ("4k-10k", {4: 2, 8: 2, 10: 1}),
        ("8k-8k", {8: 1}),
    ],
)
def test_a_range_of_blocks_has_fios_shares(
    tmp_path: Path, text: str, expected: dict[int, int]
) -> None:
    sizes = only(tmp_path, f"[a]\nrw=randread\nbsrange={text}\n").job.block_sizes
    total = sum(size.weight for size in sizes)
    whole = sum(expected.values())
    shares = {size.bytes // KIB: size.weight / total for size in sizes}
    assert shares == pytest.approx({size: share / whole for size, share in expected.items()})


def test_ranges_are_told_apart_by_direction_and_wrong_ones_refused(tmp_path: Path) -> None:
    job = only(tmp_path, "[a]\nrw=randrw\nblocksize_range=512-1k,4k-4k\n").job
    assert job.block_sizes == (
        BlockSize(bytes=512, weight=512.0),
        BlockSize(bytes=1024, weight=512.0),
    )
    assert job.write_block_sizes == (BlockSize(bytes=4096, weight=4096.0),)
    for text in ("8k-4k", "4k-", "512-1g"):
        with pytest.raises(RequestError, match="allowed: SMALLEST-LARGEST"):
            only(tmp_path, f"[a]\nrw=randread\nbsrange={text}\n")


def test_a_number_of_requests_is_that_of_every_loop(tmp_path: Path) -> None:
    job = only(tmp_path, "[a]\nrw=randread\nnumber_ios=100\nloops=3\n").job
    assert (job.io_requests, job.loops) == (300, 3)
    # fio writes 7680 blocks of 4 KiB.
    job = only(tmp_path, "[a]\nrw=write\nsize=64m\nio_size=10m\nloops=3\n").job
    assert (job.io_bytes, job.loops) == (30 * MIB, 3)
    assert job_options(job, GIB, 512)["io_size"] == str(10 * MIB)
    assert only(tmp_path, "[a]\nrw=randread\nnumber_ios=0\n").job.io_requests is None
    assert measured("intel-x25-m-g1-80gb", rw="randread", number_ios=100)["ios"] == 100


def test_a_rate_of_blocks_of_several_sizes_is_of_bytes(tmp_path: Path) -> None:
    """fio's own count: of `bssplit=4k/50:16k/50 rate_iops=1000` in 3 s 1196 blocks, 12.3 MB."""
    for sizes in ("bssplit=4k/50:16k/50", "bsrange=4k-16k"):
        job = only(tmp_path, f"[a]\nrw=randwrite\n{sizes}\nnorandommap\nrate_iops=1000\n").job
        assert (job.rate_iops, job.rate_bytes_per_s) == (None, 4096 * 1000)
    job = only(tmp_path, "[a]\nrw=randwrite\nbs=16k\nrate_iops=1000\n").job
    assert (job.rate_iops, job.rate_bytes_per_s) == (1000, None)
    with pytest.raises(RequestError, match="rate=1m is not possible; allowed: rate or rate_iops"):
        read(tmp_path, "[a]\nrw=randwrite\nrate=1m\nrate_iops=100\n")


def test_poisson_needs_a_rate_and_keeps_it(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="allowed: poisson together with rate or rate_iops"):
        only(tmp_path, "[a]\nrw=randread\nrate_process=poisson\n")
    wanted: dict[str, Any] = {"iodepth": 256, "runtime": 2, "time_based": True, "rate_iops": 20_000}
    even, by_chance = (
        measured("micron-7450-max-800gb", rw="randread", rate_process=process, **wanted)
        for process in ("linear", "poisson")
    )
    assert even["ios"] == 40_000
    assert by_chance["ios"] != 40_000
    assert by_chance["ios"] == pytest.approx(40_000, rel=0.02)


def test_a_placement_identifier_is_the_hint_of_every_write(tmp_path: Path) -> None:
    text = "[a]\nrw=randwrite\nioengine=io_uring_cmd\ncmd_type=nvme\nfdp=1\nfdp_pli=3\n"
    assert only(tmp_path, text).job.write_hint == 3
    other = text.replace("fdp=1\nfdp_pli", "dataplacement=fdp\nplids")
    assert only(tmp_path, other).job.write_hint == 3
    assert only(tmp_path, text.replace("fdp=1", "fdp=0")).job.write_hint == 0
    for wrong, allowed in (
        (text.replace("fdp_pli=3", ""), "together with fdp_pli"),
        (text.replace("=3", "=0,1"), "one placement identifier a job"),
        (text + "write_hint=short\n", "a placement identifier or a write_hint"),
    ):
        with pytest.raises(RequestError, match=allowed):
            only(tmp_path, wrong)


def test_the_flush_at_the_end_is_in_the_rate(tmp_path: Path) -> None:
    for name in ("end_fsync", "fsync_on_close"):
        assert only(tmp_path, f"[a]\nrw=randrw\n{name}=1\n").job.flush_at_end
        assert not only(tmp_path, f"[a]\nrw=randread\n{name}=1\n").job.flush_at_end
    assert only(tmp_path, "[a]\nrw=write\nend_fsync=1\nfsync_on_close=0\n").job.flush_at_end
    without, flushed = (
        measured("intel-x25-m-g1-80gb", rw="write", bs="64k", io_size="4m", end_fsync=flush)
        for flush in (False, True)
    )
    assert flushed["mib_per_s"] < without["mib_per_s"]


def test_every_option_that_is_known_has_a_name_of_fio() -> None:
    known = {*IGNORED, *INSTEAD, *ONLY, *READERS, *ALIASES}
    assert min(map(len, known)) >= 2
    assert not READERS.keys() & (IGNORED.keys() | INSTEAD.keys() | ONLY.keys() | ALIASES.keys())
    assert ONLY.keys() <= IGNORED.keys()
    assert not INSTEAD.keys() & IGNORED.keys()
