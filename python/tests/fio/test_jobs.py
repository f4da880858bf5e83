from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import drivelab as dl
from drivelab import cli
from drivelab.errors import RequestError
from drivelab.fio import buffers
from drivelab.fio.jobs import FioJob, Workload, read_workload
from drivelab.fio.options import IGNORED
from drivelab.progress import TaskProgress
from drivelab.quantities import GIB, KIB, MIB, NS_PER_S
from drivelab.targets import EngineTarget
from drivelab.workload import (
    BlockSize,
    Compressible,
    DataPattern,
    Job,
    Normal,
    Pareto,
    ParetoTrue,
    RandomBytes,
    Repeating,
    Zeros,
    Zipf,
    ZipfTrue,
    Zone,
    Zoned,
    ZonedScattered,
)

CAPACITY = 8 * GIB
COMPRESSIBLE_46 = Compressible(compressed_percent=46)


def read(folder: Path, text: str, **environment: str) -> Workload:
    path = folder / "job.fio"
    path.write_text(text, encoding="utf-8")
    return read_workload(path, CAPACITY, 1, environment)


def only(folder: Path, text: str) -> FioJob:
    [job] = read(folder, text).jobs
    return job


def test_jobs_inherit_what_stands_in_global_above_them(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "[global]\nbs=8k\niodepth=4\n[a]\nrw=randread\n[global]\niodepth=16\n[b]\nbs=64k\nrw=write\n",
    )
    a, b = found.jobs
    assert (a.job.block_sizes[0].bytes, a.job.queue_depth) == (8 * KIB, 4)
    assert (b.job.block_sizes[0].bytes, b.job.queue_depth) == (64 * KIB, 16)
    assert b.options == {"bs": "64k", "rw": "write"}
    assert found.global_options == {"bs": "8k", "iodepth": "16"}


def test_comments_aliases_and_spaces_are_understood(tmp_path: Path) -> None:
    job = only(
        tmp_path, "; head\n# more\n[ a b ]\n  readwrite = randwrite ; tail\nblocksize=16k\n"
    ).job
    assert job.name == " a b "
    assert job.rw == "randwrite"
    assert job.block_sizes[0].bytes == 16 * KIB


def test_included_files_stand_where_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "shared.inc").write_text("bs=32k\n", encoding="utf-8")
    assert only(tmp_path, "[a]\ninclude shared.inc\nrw=read\n").job.block_sizes[0].bytes == 32 * KIB


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="include each other"):
        read(tmp_path, "[a]\ninclude job.fio\n")


def test_variables_come_from_the_environment(tmp_path: Path) -> None:
    [job] = read(tmp_path, "[a]\nbs=${BLOCK}\nsize=1g\n", BLOCK="128k").jobs
    assert job.job.block_sizes[0].bytes == 128 * KIB
    with pytest.raises(RequestError, match=r'job.fio:2: the environment has no variable "BLOCK"'):
        read(tmp_path, "[a]\nbs=${BLOCK}\n")


def test_stonewall_starts_the_next_group_and_numjobs_makes_copies(tmp_path: Path) -> None:
    found = read(tmp_path, "[a]\nrw=write\n[b]\nrw=randread\nstonewall\nnumjobs=3\n[c]\nrw=read\n")
    assert [[job.name for job in group] for group in found.groups] == [["a"], ["b", "b", "b", "c"]]
    seeds = {job.job.seed for job in found.jobs}
    assert len(seeds) == 5


def test_a_job_may_name_its_submission_queue_and_processors_are_said_to_have_no_effect(
    tmp_path: Path,
) -> None:
    text = "[a]\nnvme_queue=3\nnvme_queue_class=urgent\ncpus_allowed=0-3\n[b]\nnumjobs=2\n"
    found = read(tmp_path, text)
    queues = [(job.job.queue, job.job.queue_class) for job in found.jobs]
    assert queues == [(3, "urgent"), (None, "medium"), (None, "medium")]
    assert "submission queues" in found.ignored["cpus_allowed"]


def test_sizes_may_be_shares_of_the_drive(tmp_path: Path) -> None:
    job = only(tmp_path, "[a]\nrw=read\noffset=25%\nsize=50%\nio_size=50%\n").job
    assert (job.offset_bytes, job.span_bytes, job.io_bytes) == (2 * GIB, 4 * GIB, 2 * GIB)


def test_without_a_size_the_rest_of_the_drive_is_used(tmp_path: Path) -> None:
    assert only(tmp_path, "[a]\nrw=read\noffset=1g\n").job.span_bytes == 7 * GIB


def test_block_sizes_by_direction(tmp_path: Path) -> None:
    job = only(tmp_path, "[a]\nrw=randrw\nbs=8k,16k\n").job
    assert job.block_sizes[0].bytes == 8 * KIB
    assert job.write_block_sizes is not None
    assert job.write_block_sizes[0].bytes == 16 * KIB
    assert job.trim_block_sizes is not None
    assert job.trim_block_sizes[0].bytes == 16 * KIB


def test_what_a_block_size_split_leaves_is_shared_evenly(tmp_path: Path) -> None:
    sizes = only(tmp_path, "[a]\nrw=randwrite\nbssplit=4k/60:64k/:1m/\n").job.block_sizes
    assert [(size.bytes, size.weight) for size in sizes] == [
        (4 * KIB, 60),
        (64 * KIB, 20),
        (MIB, 20),
    ]
    with pytest.raises(RequestError, match="add up to 100"):
        only(tmp_path, "[a]\nbssplit=4k/60:64k/60\n")


def test_each_random_block_is_hit_once_unless_that_is_impossible(tmp_path: Path) -> None:
    assert only(tmp_path, "[a]\nrw=randread\n").job.random_map
    assert not only(tmp_path, "[a]\nrw=randread\nnorandommap\n").job.random_map
    assert not only(tmp_path, "[a]\nrw=randread\nrandom_distribution=zipf:1.2\n").job.random_map
    assert not only(tmp_path, "[a]\nrw=randread\nbssplit=4k/50:8k/50\n").job.random_map
    assert not only(tmp_path, "[a]\nrw=read\n").job.random_map


def test_distributions(tmp_path: Path) -> None:
    text = "[a]\nrw=randread\nsize=4g\nrandom_distribution="
    assert only(tmp_path, text + "zipf:1.1").job.distribution == Zipf(theta=1.1)
    centered = only(tmp_path, text + "zipf:0.9:0.25").job.distribution
    assert centered == Zipf(theta=0.9, center=0.25)
    assert only(tmp_path, text + "pareto:0.2:-1").job.distribution == Pareto(h=0.2)
    assert only(tmp_path, text + "zipf_true:1").job.distribution == ZipfTrue(theta=1)
    assert only(tmp_path, text + "pareto_true:0.2").job.distribution == ParetoTrue(h=0.2)
    zoned = only(tmp_path, text + "zoned_abs:60/1g:40/3g").job.distribution
    assert isinstance(zoned, Zoned)
    assert [(zone.access_percent, zone.size_percent) for zone in zoned.zones] == [
        (60, 25),
        (40, 75),
    ]
    scattered = only(tmp_path, text + "zoned_scattered:95/5:5/95").job.distribution
    hot, cold = Zone(access_percent=95, size_percent=5), Zone(access_percent=5, size_percent=95)
    assert scattered == ZonedScattered(zones=(hot, cold))
    with pytest.raises(RequestError, match=r"allowed: random, zipf:THETA"):
        only(tmp_path, text + "zipff:1")


def test_times_have_fios_default_units(tmp_path: Path) -> None:
    job = only(tmp_path, "[a]\nrw=read\nruntime=3m\nramp_time=5\nthinktime=250\nstartdelay=1\n").job
    assert job.runtime_ns == 180 * NS_PER_S
    assert job.ramp_ns == 5 * NS_PER_S
    assert job.thinktime_ns == 250_000
    assert job.start_ns == NS_PER_S


def test_a_runtime_of_0_is_no_limit(tmp_path: Path) -> None:
    assert only(tmp_path, "[a]\nrw=read\nruntime=0\n").job.runtime_ns is None


def test_the_rate_of_the_jobs_own_direction_counts(tmp_path: Path) -> None:
    assert only(tmp_path, "[a]\nrw=randwrite\nrate=1m,2m\n").job.rate_bytes_per_s == 2 * MIB
    assert only(tmp_path, "[a]\nrw=write\nrate=1m,\n").job.rate_bytes_per_s is None
    with pytest.raises(RequestError, match=r"rate=1m is not possible; .*not mixed"):
        only(tmp_path, "[a]\nrw=randrw\nrate=1m\n")


def test_what_cannot_matter_is_listed_with_its_reason(tmp_path: Path) -> None:
    found = read(tmp_path, "[global]\nioengine=libaio\ndirect=1\n[a]\nrw=read\nfilename=/dev/sdb\n")
    assert found.ignored == {name: IGNORED[name] for name in ("ioengine", "direct", "filename")}
    assert all(found.ignored.values())


def test_a_flush_is_asked_for_by_either_name(tmp_path: Path) -> None:
    for text in ("fsync=8", "fdatasync=8", "fsync=8\nfdatasync=0", "fsync=0\nfdatasync=8"):
        assert only(tmp_path, f"[a]\nrw=write\n{text}\n").job.flush_every_writes == 8
    assert only(tmp_path, "[a]\nrw=randrw\nblockalign=4k,4096\n").job.align_bytes == 4096


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\nrw=randwrit\n", r'job.fio:2: job "a": rw=randwrit .*did you mean "randwrite"'),
        ("[a]\niodepht=3\n", r'option "iodepht" is not supported; did you mean "iodepth"'),
        ("[a]\nverify=crc32c\n", r'job "a": option "verify" is not supported'),
        ("[a]\nread_iolog=x\n", r"drivelab replay"),
        ("[a]\nbs=4q\n", r"bs=4q is not possible; allowed: a number of bytes"),
        ("[a]\nbs=1000\n", r"bs=1000 is not possible; allowed: multiples of 512"),
        ("[a]\nbs=1k,2k,4k,8k\n", r"at most three values"),
        ("[a]\niodepth=0\n", r"iodepth=0 is not possible; allowed: a whole number from 1"),
        ("[a]\niodepth=3.9\n", r"iodepth=3.9 is not possible; allowed: a whole number from 1"),
        ("[a]\nnumjobs=1.5\n", r"numjobs=1.5 is not possible; allowed: a whole number from 1"),
        ("[a]\nnvme_queue=-1\n", r"nvme_queue=-1 is not possible; allowed: a whole number"),
        (
            "[a]\niodepth=1t\n",
            r"iodepth=1t is not possible; allowed: a whole number from 1 to 65536",
        ),
        ("[a]\nrate=0\n", r"a.: rate=0 is not possible; allowed: from one byte a second on"),
        ("[a]\nrate_iops=2g\n", r"rate_iops=2g is not possible; allowed: .* 1 to 1000000000"),
        ("[a]\nio_size=0%\n", r"io_size=0% is not possible; allowed: one byte or more, of the"),
        ("[a]\nblocksize=2g\n", r"blocksize=2g is not possible; allowed: .*up to 1073741824"),
        ("[a]\nsize=4k\nbs=8k\n", r"bs=8k is not possible; allowed: blocks up to its region of 4"),
        ("[a]\nsize=1k\n", r"size=1k is not possible; allowed: from 4096 bytes on, which is one"),
        (
            f"[a]\noffset={CAPACITY - 512}\n",
            r"offset=8589934080 is not possible; allowed: up to 8589930496 bytes, which leaves one",
        ),
        (
            "[a]\nrw=randread\nrandom_distribution=zoned_abs:60/1g:40/3g\n",
            r"=zoned_abs:60/1g:40/3g .*sizes that add up to the job's size of 8589934592 bytes, ",
        ),
        ("[a]\nrw=randread\nsize=0\nrandom_distribution=zoned_abs:1/1g\n", r"ACCESS that add"),
        ("[a]\nrw=randread\nsize=0\nrandom_distribution=zoned_abs:100/1g\n", r"size of 0 bytes"),
        ("[a]\nsize=1000\nbs=512\n", r"size=1000 is not possible; allowed: multiples of 512"),
        ("[a]\nblockalign=0\n", r"blockalign=0 is not possible; allowed: multiples of 512"),
        ("[a]\nnvme_queue=1t\n", r"nvme_queue=1t is not possible; allowed: .* from 0 to 65535"),
        ("[a]\nloops=9999999t\n", r"loops=9999999t .*a whole number from 1, below 2\^63$"),
        ("[a]\nruntime=999999d\n", r"runtime=999999d is not possible; .*, below 2\^63 ns$"),
        ("[a]\nrw=randread\nrandom_distribution=zipf:1\n", r"=zipf:1 .*THETA above 0 and up to 20"),
        ("[a]\nrw=randread\nrandom_distribution=zipf:nan\n", r"=zipf:nan .*THETA above 0"),
        ("[a]\nrw=randread\nrandom_distribution=pareto:2\n", r"=pareto:2 .*H above 0 and below 1"),
        ("[a]\nrw=randread\nrandom_distribution=zipf:2:3\n", r"=zipf:2:3 .*CENTER from 0 to 1"),
        ("[a]\nrw=randread\nrandom_distribution=normal:0\n", r"=normal:0 .*DEVIATION above 0"),
        (
            "[a]\nrw=randread\nrandom_distribution=zoned:50/5:40/95\n",
            r"=zoned:50/5:40/95 .*percentages of ACCESS that add up to 100, not 90",
        ),
        ("[a]\nnvme_queue_class=first\n", r"allowed: urgent, high, medium, low"),
        ("[a]\nsize=0.3k\n", r"size=0.3k is not possible; allowed: .* whole in bytes"),
        (
            "[a]\nrw=randrw\nblockalign=4k,512\n",
            r"blockalign=4k,512 is not possible; allowed: one alignment, the same for reads",
        ),
        (
            "[a]\nrw=write\nfsync=8\nfdatasync=1\n",
            r"fsync=8 is not possible; allowed: fsync or fdatasync, not both",
        ),
        ("[a]\nsize=9g\n", r"leave the drive; allowed: together 512 to 8589934592 bytes"),
        ("[a]\nsize=0\n", r"leave the drive"),
        ("[a]\noffset=8g\nsize=4k\n", r"leave the drive"),
        ("[a]\ntime_based\n", r"time_based= is not possible"),
        ("[a]\nrw=read\npercentage_random=50\n", r"only jobs with a random rw"),
        ("[a]\npercentile_list=50:50\n", r"1 to 20 different percentages"),
        ("[a]\nrwmixread=120\n", r"a percentage from 0 to 100"),
        ("[a]\nbuffer_compress_percentage=101\n", r"=101 .*allowed: a percentage from 0 to 100"),
        ("[a]\nbuffer_compress_percentage=5.5\n", r"a whole percentage from 0 to 100"),
        (
            "[a]\nbs=1m\nbuffer_compress_percentage=50\nbuffer_compress_chunk=8k\n",
            r"buffer_compress_chunk=8k is not possible; allowed: 1 to 4096 bytes",
        ),
        (
            "[a]\nbs=1m\nbuffer_compress_percentage=50\nbuffer_compress_chunk=0\n",
            r"buffer_compress_chunk=0 .*0 means the whole buffer",
        ),
        ("[a]\nbuffer_pattern='file'\n", r"buffer_pattern='file' .*files have no meaning"),
        ("[a]\nbuffer_pattern=\n", r"buffer_pattern= is not possible"),
        ("[a]\nzero_buffers=2\n", r"zero_buffers=2 is not possible; allowed: 1 or 0"),
        ("[a]\ndedupe_percentage=5\ndedupe_mode=rpeat\n", r"allowed: repeat, working_set"),
        (
            "[a]\ndedupe_percentage=96\ndedupe_mode=working_set\n",
            r"dedupe_percentage=96 .*0 to 95 with a working set of 5 percent",
        ),
        (
            "[a]\ndedupe_percentage=60\ndedupe_mode=working_set\n"
            "dedupe_working_set_percentage=50\n",
            r"dedupe_working_set_percentage=50 .*0 to 40 with dedupe_percentage=60",
        ),
        ("bs=4k\n", r'option "bs" stands before any \[section\]'),
        ("[a\nbs=4k\n", r"expected \[NAME\]"),
        ("[global]\nbs=4k\n", r"there is no job in it"),
        ("", r"there is no job in it"),
        ("[a]\ninclude nowhere.inc\n", r"nowhere.inc.*can't read it"),
    ],
)
def test_wrong_job_files_are_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        read(tmp_path, text)


def test_what_only_the_drive_can_refuse_is_refused_by_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[a]\nrw=read\nsize=1m\nnvme_queue=9\n", encoding="utf-8")
    assert cli.run(["run", str(path), "--drive", "intel-x25-m-g1-80gb", "--scale", "1/64"]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == (
        "drivelab: job 'a': nvme_queue = 9: must be less than 1, the drive's submission queues"
    )
    job = dl.Job(rw="read", size="1m", nvme_queue=9)
    with pytest.raises(RequestError, match="nvme_queue = 9"):
        dl.Drive("intel-x25-m-g1-80gb", scale="1/64").run(job, progress=False)


def test_zones_in_bytes_are_those_of_the_drive_that_the_job_runs_on() -> None:
    """A script writes them for its drive, and needs no size beside them."""
    drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/64")
    capacity = drive.capacity_bytes
    for offset in (None, 64 * MIB):
        rest = capacity - (offset or 0)
        zones = f"zoned_abs:60/{MIB}:40/{rest - MIB}"
        job = dl.Job(rw="randread", offset=offset, random_distribution=zones, io_size="64k")
        drive.run(job, progress=False)
        dl.Job(rw="randread", size=rest, offset=offset, random_distribution=zones)
    job = dl.Job(rw="randread", random_distribution="zoned_abs:60/1m:40/2m", size="50%")
    told = f"sizes that add up to the job's size of {capacity // 2} bytes, not {3 * MIB}$"
    with pytest.raises(RequestError, match=told):
        drive.run(job, progress=False)
    with pytest.raises(RequestError, match="the job's size of 4194304 bytes"):
        job.with_options(size="4m")


def test_an_offset_is_refused_that_leaves_less_than_a_block_of_the_drive() -> None:
    drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/64")
    job = dl.Job(rw="read", offset=drive.capacity_bytes - 512)
    with pytest.raises(RequestError, match=f"{job.options['offset']} is not possible; .* block of"):
        drive.run(job, progress=False)


def zones(count: int) -> str:
    """So many zones, alike."""
    return "zoned:" + ":".join(f"{100 / count}/{100 / count}" for _ in range(count))


def alike(count: int) -> Zoned:
    """The same in words of the engine."""
    return Zoned(zones=(Zone(access_percent=100 / count, size_percent=100 / count),) * count)


LIMITS: list[tuple[str, object, object, dict[str, Any], dict[str, Any]]] = [
    ("iodepth", 65536, 65537, {"queue_depth": 65536}, {"queue_depth": 65537}),
    ("rate_iops", 10**9, 10**9 + 1, {"rate_iops": 10**9}, {"rate_iops": 10**9 + 1}),
    (
        *("bs", 2**30, 2**30 + 512),
        {"block_sizes": (BlockSize(bytes=2**30),)},
        {"block_sizes": (BlockSize(bytes=2**30 + 512),)},
    ),
    *(
        (
            *("random_distribution", most, beyond),
            {"distribution": allowed},
            {"distribution": refused},
        )
        for most, beyond, allowed, refused in (
            ("zipf:20", "zipf:20.5", Zipf(theta=20), Zipf(theta=20.5)),
            ("zipf:0.999", "zipf:1", Zipf(theta=0.999), Zipf(theta=1)),
            ("zipf_true:20", "zipf_true:20.5", ZipfTrue(theta=20), ZipfTrue(theta=20.5)),
            ("pareto:0.999", "pareto:1", Pareto(h=0.999), Pareto(h=1)),
            (
                "normal:100",
                "normal:101",
                Normal(deviation_percent=100),
                Normal(deviation_percent=101),
            ),
            (zones(256), zones(257), alike(256), alike(257)),
        )
    ),
]


@pytest.mark.parametrize(
    ("option", "most", "beyond", "allowed", "refused"),
    LIMITS,
    ids=[f"{option}={str(beyond)[:16]}" for option, _, beyond, *_ in LIMITS],
)
def test_the_limits_are_those_of_the_engine(
    option: str, most: object, beyond: object, allowed: dict[str, Any], refused: dict[str, Any]
) -> None:
    """What an option takes the engine runs, and what it refuses the engine would refuse, too."""
    drive = dl.Drive("intel-x25-m-g1-80gb", scale="1/64")
    size = most if option == "bs" else 4096
    usual: dict[str, Any] = {"rw": "randread", "bs": size, "io_size": size, option: most}
    drive.run(dl.Job(**usual), progress=False)
    with pytest.raises(RequestError, match=f"{option}={str(beyond)[:40]}"):
        dl.Job(**usual | {option: beyond})

    target = EngineTarget(drive.model, 1)
    job = Job(name="limit", rw="randread", io_bytes=2**30)
    once = {"io_bytes": size}
    target.run([job.model_copy(update=once | allowed)], TaskProgress("limit"), 1)
    field = next(iter(refused)).removesuffix("s")
    with pytest.raises(RequestError, match=f"({field}|{option}).* must be"):
        target.run([job.model_copy(update=once | refused)], TaskProgress("limit"), 1)


OPTIONS = ["rw", "bs", "size", "iodepth", "runtime", "rate", "bssplit", "zz", *buffers.OPTIONS]
BUFFERS: list[tuple[str, DataPattern]] = [
    ("", RandomBytes()),
    ("refill_buffers", RandomBytes()),
    ("scramble_buffers=1", RandomBytes()),
    ("zero_buffers", Zeros()),
    ("zero_buffers=0", RandomBytes()),
    ("zero_buffers\nscramble_buffers=1", Compressible(compressed_percent=4.6875)),
    ("buffer_pattern=0xdeadface", Repeating()),
    ('buffer_pattern="abc"-12', Repeating()),
    ("buffer_pattern=0x0000", Zeros()),
    ("buffer_compress_percentage=54", COMPRESSIBLE_46),
    ("buffer_compress_percentage=100", Zeros()),
    ("buffer_compress_percentage=0", RandomBytes()),
    ("buffer_compress_percentage=54\nbuffer_pattern=0x1", COMPRESSIBLE_46),
    ("buffer_compress_percentage=54\nzero_buffers", COMPRESSIBLE_46),
    ("buffer_compress_percentage=54\nbuffer_compress_chunk=4k\nbs=128k", COMPRESSIBLE_46),
    ("buffer_compress_percentage=54\nbuffer_compress_chunk=0\nbs=4k", COMPRESSIBLE_46),
    ("dedupe_percentage=30", Compressible(duplicate_percent=30, duplicate_pool=1)),
    ("dedupe_percentage=0", RandomBytes()),
    (
        "dedupe_percentage=30\nbuffer_compress_percentage=50\nbs=64k\niodepth=32",
        Compressible(compressed_percent=50, duplicate_percent=30, duplicate_pool=16),
    ),
    (
        "dedupe_percentage=30\ndedupe_mode=working_set\nsize=80m",
        Compressible(duplicate_percent=30, duplicate_pool=1024),
    ),
    (
        "dedupe_percentage=30\ndedupe_mode=working_set\ndedupe_working_set_percentage=50",
        Compressible(duplicate_percent=30, duplicate_pool=65_535),
    ),
    (
        "dedupe_percentage=100\nbs=64k",
        Compressible(duplicate_percent=100, duplicate_pool=1),
    ),
    # The buffers of the start, over and over.
    (
        "scramble_buffers=0\nbs=4k,8k\niodepth=4",
        Compressible(duplicate_percent=100, duplicate_pool=4),
    ),
    (
        "buffer_compress_percentage=54\nrefill_buffers=0",
        Compressible(compressed_percent=46, duplicate_percent=100, duplicate_pool=1),
    ),
]


@pytest.mark.parametrize(("options", "pattern"), BUFFERS)
def test_buffer_options_say_what_is_written(
    tmp_path: Path, options: str, pattern: DataPattern
) -> None:
    found = read(tmp_path, f"[a]\nrw=randwrite\n{options}\n")
    assert found.jobs[0].job.data == pattern
    assert found.ignored == {}


def test_what_a_job_says_of_its_buffers_counts_more_than_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[a]\nrw=write\n[b]\nrw=write\nzero_buffers\n", encoding="utf-8")
    found = read_workload(path, CAPACITY, 1, {}, Repeating())
    assert [job.job.data for job in found.jobs] == [Repeating(), Zeros()]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(OPTIONS),
            st.text(st.characters(codec="ascii", exclude_characters="\r\n"), max_size=8),
        ),
        max_size=6,
    )
)
def test_any_options_make_a_job_or_a_message(
    tmp_path_factory: pytest.TempPathFactory, options: list[tuple[str, str]]
) -> None:
    text = "[a]\n" + "".join(f"{name}={value}\n" for name, value in options)
    message = ""
    try:
        assert read(tmp_path_factory.getbasetemp(), text).jobs
    except RequestError as error:
        message = str(error)
    assert not message or "job.fio" in message
