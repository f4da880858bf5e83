"""From the laboratory's jobs to fio's options. What fio can't do is refused by name."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab.errors import RequestError
from drivelab.fio.block_sizes import range_sizes
from drivelab.quantities import KIB, NS_PER_MS, NS_PER_US
from drivelab.workload import (
    BlockSize,
    Compressible,
    DataPattern,
    Distribution,
    Job,
    Normal,
    Pareto,
    ParetoTrue,
    RandomBytes,
    Repeating,
    Uniform,
    Zeros,
    Zipf,
    ZipfTrue,
    Zoned,
    ZonedScattered,
)

LOG_INTERVAL_NS_MAX = 600 * 10**9
"""Longer intervals are no series: nothing is logged."""
REPEATED_BYTE = "0x5a"
"""fio's `buffer_pattern` is the same in every write; Iometer's byte changes from write to write."""


def job_options(job: Job, capacity_bytes: int, sector_bytes: int) -> dict[str, str]:
    """The options of a generated job, for a drive that takes multiples of `sector_bytes`.

    Raises RequestError naming job and option for what fio or the drive can't do.
    """
    _check_alignment(job, sector_bytes)
    _check_commands(job)
    options = {
        "rw": job.rw,
        "iodepth": str(job.queue_depth),
        "offset": str(job.offset_bytes),
        "size": str(_span_bytes(job, capacity_bytes)),
        "loops": str(job.loops),
        **_mix(job),
        **_sizes(job),
        **_order(job),
        **_times(job),
        **_rates(job),
        **data_options(job),
    }
    if job.io_bytes is not None:
        # Of every loop, as fio has it; what isn't of whole loops is rounded up, requests likewise.
        options["io_size"] = str(-(-job.io_bytes // job.loops))
    if job.io_requests is not None:
        options["number_ios"] = str(-(-job.io_requests // job.loops))
    if job.flush_at_end:
        options["end_fsync"] = "1"
    if job.flush_every_writes:
        options["fsync"] = str(job.flush_every_writes)
    if job.fua:
        options["sync"] = "dsync"
    return options | measuring_options(job)


def measuring_options(job: Job) -> dict[str, str]:
    """Latencies from submission to completion, of submission included; the job's seed."""
    points = ":".join(f"{percent:.6g}" for percent in job.percentiles)
    return {
        "randseed": str(job.seed),
        "lat_percentiles": "1",
        "clat_percentiles": "0",
        **({"percentile_list": points} if points else {}),
    }


def log_options(job: Job, name: str, always: bool = False) -> dict[str, str]:
    """Logs of throughput and of the longest latency in every interval of the job's series."""
    if job.series_interval_ns > LOG_INTERVAL_NS_MAX and not always:
        return {}
    interval_ms = str(log_interval_ms(job))
    logs = {f"write_{kind}_log": name for kind in ("bw", "iops", "lat")}
    intervals = dict.fromkeys(("log_avg_msec", "bwavgtime", "iopsavgtime"), interval_ms)
    return logs | intervals | {"log_max_value": "1", "per_job_logs": "1"}


def log_interval_ms(job: Job) -> int:
    """Interval of the logs, in ms."""
    return max(1, job.series_interval_ns // NS_PER_MS)


def data_options(job: Job) -> dict[str, str]:
    """What a job's writes contain, in fio's words."""
    if job.rw in ("read", "randread", "trim", "randtrim"):
        return {}
    return _data(job.name, job.data)


def _data(name: str, data: DataPattern) -> dict[str, str]:
    match data:
        case Zeros():
            return {"zero_buffers": "1", "scramble_buffers": "0"}
        case Repeating():
            return {"buffer_pattern": REPEATED_BYTE, "scramble_buffers": "0"}
        case RandomBytes():
            return {"refill_buffers": "1"}
        case Compressible():
            options = {"refill_buffers": "1", "buffer_compress_chunk": "512"}
            saved = whole(
                name, "data: percent that compression saves", 100 - data.compressed_percent
            )
            copies = whole(name, "data: percent of copies", data.duplicate_percent)
            if copies != "0":
                options["dedupe_percentage"] = copies
            if saved != "0":
                options["buffer_compress_percentage"] = saved
            return options


def _span_bytes(job: Job, capacity_bytes: int) -> int:
    rest = capacity_bytes - job.offset_bytes
    span = rest if job.span_bytes is None else job.span_bytes
    if span > rest or span <= 0:
        raise RequestError(
            f'job "{job.name}": offset {job.offset_bytes} and span {span} leave the drive; '
            f"allowed: together up to {capacity_bytes} bytes"
        )
    return span


def _check_alignment(job: Job, sector_bytes: int) -> None:
    sizes = [*job.block_sizes, *(job.write_block_sizes or ()), *(job.trim_block_sizes or ())]
    values = {"block size": [size.bytes for size in sizes], "offset": [job.offset_bytes]}
    if job.align_bytes is not None:
        values["alignment"] = [job.align_bytes]
    for what, given in values.items():
        for value in given:
            if value % sector_bytes:
                raise RequestError(
                    f'job "{job.name}": {what} {value}: this drive takes multiples of '
                    f"{sector_bytes} bytes only"
                )


def _check_commands(job: Job) -> None:
    """Raises RequestError for what only commands to a model can say."""
    for what, given in (
        ("write_hint, or a placement identifier", job.write_hint != 0),
        ("nvme_queue", job.queue is not None),
        ("nvme_queue_class", job.queue_class != "medium"),
    ):
        if given:
            raise RequestError(
                f'job "{job.name}": {what}: allowed on models only; a real drive\'s commands come '
                "by the way that its system has"
            )


def _mix(job: Job) -> dict[str, str]:
    if job.rw not in ("rw", "randrw"):
        return {}
    return {"rwmixread": whole(job.name, "read_percent", job.read_percent)}


def _sizes(job: Job) -> dict[str, str]:
    given = (
        job.block_sizes,
        job.write_block_sizes or job.block_sizes,
        job.trim_block_sizes or job.block_sizes,
    )
    if all(len(sizes) == 1 for sizes in given):
        return {"bs": ",".join(str(sizes[0].bytes) for sizes in given)}
    if all(map(_is_range, given)):
        return {"bsrange": ",".join(f"{sizes[0].bytes}-{sizes[-1].bytes}" for sizes in given)}
    return {"bssplit": ",".join(_split(job.name, sizes) for sizes in given)}


def _is_range(sizes: Sequence[BlockSize]) -> bool:
    first, last = sizes[0].bytes, sizes[-1].bytes
    return first <= last and tuple(sizes) == range_sizes(first, last)


def _split(name: str, sizes: Sequence[BlockSize]) -> str:
    total = sum(size.weight for size in sizes)
    shares = [
        whole(name, f"share of blocks of {size.bytes} bytes", 100 * size.weight / total)
        for size in sizes
    ]
    return ":".join(f"{size.bytes}/{share}" for size, share in zip(sizes, shares, strict=True))


def _order(job: Job) -> dict[str, str]:
    if not job.rw.startswith("rand"):
        return {}
    options = {"norandommap": "0" if job.random_map else "1"}
    if job.align_bytes is not None:
        options["blockalign"] = str(job.align_bytes)
    if job.random_percent < 100:
        options["percentage_random"] = whole(job.name, "random_percent", job.random_percent)
    return options | _distribution(job.name, job.distribution)


def _distribution(name: str, distribution: Distribution) -> dict[str, str]:
    match distribution:
        case Uniform():
            return {}
        case Zipf(theta=theta, center=center):
            text = f"zipf:{theta:g}" + _center(center)
        case Pareto(h=h, center=center):
            text = f"pareto:{h:g}" + _center(center)
        case ZipfTrue() | ParetoTrue():
            raise RequestError(
                f'job "{name}": distribution.kind = {distribution.kind}: fio draws zipf and pareto '
                "only in its own way"
            )
        case ZonedScattered():
            raise RequestError(
                f'job "{name}": distribution.kind = {distribution.kind}: fio has zones only one '
                "behind the other"
            )
        case Normal(deviation_percent=deviation):
            text = f"normal:{deviation:g}"
        case Zoned(zones=zones):
            pairs = [
                f"{whole(name, 'access_percent of a zone', zone.access_percent)}/"
                f"{whole(name, 'size_percent of a zone', zone.size_percent)}"
                for zone in zones
            ]
            text = "zoned:" + ":".join(pairs)
    return {"random_distribution": text}


def _center(share: float | None) -> str:
    return "" if share is None else f":{share:g}"


def _times(job: Job) -> dict[str, str]:
    options: dict[str, str] = {}
    if job.runtime_ns:
        options["runtime"] = f"{max(1, round(job.runtime_ns / NS_PER_MS))}ms"
        options["time_based"] = "1" if job.time_based else "0"
    if job.ramp_ns:
        options["ramp_time"] = f"{round(job.ramp_ns / NS_PER_MS)}ms"
    if job.start_ns:
        options["startdelay"] = f"{round(job.start_ns / NS_PER_MS)}ms"
    return options


def _rates(job: Job) -> dict[str, str]:
    options: dict[str, str] = {}
    if job.rate_iops is not None:
        options["rate_iops"] = str(job.rate_iops)
    if job.rate_bytes_per_s is not None:
        if job.rate_bytes_per_s < KIB:
            raise RequestError(
                f'job "{job.name}": rate {job.rate_bytes_per_s} bytes/s: fio allows from {KIB} on'
            )
        options["rate"] = str(job.rate_bytes_per_s)
    if job.rate_process != "linear":
        options["rate_process"] = job.rate_process
    if job.thinktime_ns:
        options["thinktime"] = f"{max(1, round(job.thinktime_ns / NS_PER_US))}us"
        options["thinktime_blocks"] = str(job.thinktime_blocks)
    return options


def whole(name: str, what: str, value: float) -> str:
    """A percentage as fio takes it; raises RequestError for one that isn't whole."""
    if abs(value - round(value)) > 1e-6:
        raise RequestError(f'job "{name}": {what} = {value:g}: fio takes whole percentages only')
    return str(round(value))
