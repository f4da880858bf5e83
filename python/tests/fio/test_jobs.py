"""What a job file's options make of a job."""

from __future__ import annotations

from pathlib import Path

import pytest
from fio.job_file import only, read

from drivelab.errors import RequestError
from drivelab.fio.options import IGNORED
from drivelab.quantities import GIB, KIB, MIB, NS_PER_S
from drivelab.workload import Pareto, ParetoTrue, Zipf, ZipfTrue, Zone, Zoned, ZonedScattered


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


def test_a_byte_order_mark_is_no_part_of_a_job_file(tmp_path: Path) -> None:
    (tmp_path / "more.inc").write_text("bs=16k\n", encoding="utf-8-sig")
    job = only(tmp_path, "\ufeff[a]\ninclude more.inc\n")
    assert (job.job.name, job.job.block_sizes[0].bytes) == ("a", 16 * KIB)


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


def test_sizes_of_a_split_are_multiples_of_its_smallest(tmp_path: Path) -> None:
    sizes = only(tmp_path, "[a]\nrw=randwrite\nbssplit=3k/20:8k/50:10k/30\n").job.block_sizes
    assert [(size.bytes, size.weight) for size in sizes] == [(3072, 20), (6144, 50), (9216, 30)]


def test_each_random_block_is_hit_once_unless_that_is_impossible(tmp_path: Path) -> None:
    assert only(tmp_path, "[a]\nrw=randread\n").job.random_map
    assert not only(tmp_path, "[a]\nrw=randread\nnorandommap\n").job.random_map
    assert not only(tmp_path, "[a]\nrw=randread\nrandom_distribution=zipf:1.2\n").job.random_map
    assert only(tmp_path, "[a]\nrw=randread\nbssplit=4k/50:8k/50\n").job.random_map
    # fio: "Any use of blockalign= turns off randommap", unless it says what is so without it.
    assert not only(tmp_path, "[a]\nrw=randread\nbs=16k\nblockalign=4k\n").job.random_map
    assert only(tmp_path, "[a]\nrw=randread\nbs=16k\nblockalign=16k\n").job.random_map
    assert not only(tmp_path, "[a]\nrw=randread\nbs=16k,4k\nblockalign=16k\n").job.random_map
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


def test_of_what_is_said_again_the_later_counts(tmp_path: Path) -> None:
    """As in fio, whose manual says of the two mixes that the latter overrides the first."""
    job = only(tmp_path, "[a]\nrw=read\nrwmixread=10\nrw=randrw\nrwmixwrite=20\n").job
    assert (job.rw, job.read_percent) == ("randrw", 80)
    job = only(tmp_path, "[global]\nrwmixwrite=20\n[a]\nrw=randrw\nrwmixread=10\n").job
    assert job.read_percent == 10


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
