"""Job files that are refused, with what is allowed: what the engine would refuse, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fio.job_file import CAPACITY, read
from hypothesis import given
from hypothesis import strategies as st

import drivelab as dl
from drivelab import cli
from drivelab.errors import RequestError
from drivelab.fio import buffers
from drivelab.progress import TaskProgress
from drivelab.quantities import MIB
from drivelab.targets import EngineTarget
from drivelab.workload import BlockSize, Job, Normal, Pareto, Zipf, ZipfTrue, Zone, Zoned


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\nrw=randwrit\n", r'job.fio:2: job "a": rw=randwrit .*did you mean "randwrite"'),
        ("[a]\niodepht=3\n", r'option "iodepht" is not supported; did you mean "iodepth"'),
        (
            "[a]\nverify=crc32c\n",
            r"verify=crc32c is not possible; allowed: 0 or none: bytes",
        ),
        ("[a]\nread_iolog=x\n", r"drivelab replay"),
        ("[a]\nbs=4q\n", r"bs=4q is not possible; allowed: a number of bytes"),
        ("[a]\nbs=1000\n", r"bs=1000 is not possible; allowed: multiples of 512"),
        ("[a]\nbs=1k,2k,4k,8k\n", r"at most three values"),
        ("[a]\niodepth=0\n", r"iodepth=0 is not possible; allowed: a whole number from 1"),
        ("[a]\niodepth=3.9\n", r"iodepth=3.9 is not possible; allowed: a whole number from 1"),
        ("[a]\nnumjobs=1.5\n", r"numjobs=1.5 is not possible; allowed: a whole number from 1"),
        ("[a]\nnumjobs=513\n", r"numjobs=513 is not possible; allowed: .* from 1 to 512"),
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
        # Told as it was written, not as whole blocks make it.
        ("[a]\nsize=900g\noffset=1536\nbs=48k\n", r"offset=1536 and size=966367641600 "),
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
        ("[a]\n\nsize=0\n", r"job.fio:3: .*size=0 is not possible; allowed: 512 bytes or more"),
        ("[a]\noffset=8g\nsize=4k\n", r"job.fio:2: .*leave the drive"),
        ("[a]\noffset=4g\nsize=5g\n", r"job.fio:3: .*leave the drive"),
        (
            "[a]\noffset=100%\n",
            r"job.fio:2: .*offset=100% is not possible; allowed: up to 8589934080",
        ),
        ("[a]\nname=\n", r"job.fio:2: .*name= is not possible; allowed: a name of at least one"),
        ("[a]\ntime_based\n", r"time_based= is not possible"),
        ("[a]\nruntime=0\ntime_based\n", r"runtime=0 is not possible; allowed: more than 0"),
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
        ("[a]\ninclude nowhere.inc\n", r'job.fio:2: include ".*nowhere.inc": can\'t read it'),
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


def test_all_jobs_of_a_file_are_counted(tmp_path: Path) -> None:
    text = "[global]\nrw=randread\nnumjobs=300\n[a]\n[b]\n"
    with pytest.raises(RequestError, match=r'job "b": with it the file has 600 jobs; allowed: 512'):
        read(tmp_path, text)
