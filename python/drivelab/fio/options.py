"""fio's options that need no reading: other names, those without effect, those that are refused."""

from __future__ import annotations

from drivelab.fio import buffers, logs, steady

MODES = {
    "read": "read",
    "write": "write",
    "trim": "trim",
    "randread": "randread",
    "randwrite": "randwrite",
    "randtrim": "randtrim",
    "rw": "rw",
    "readwrite": "rw",
    "randrw": "randrw",
}
OPPOSITES = {"rwmixread": "rwmixwrite", "rwmixwrite": "rwmixread"}
"""Options that say one thing from two sides."""
ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "ba": "blockalign",
    "io_limit": "io_size",
    "wait_for_previous": "stonewall",
    **steady.ALIASES,
}
_MODEL = "the drive is a model"
IGNORED = {
    "ioengine": f"{_MODEL}; it takes up to iodepth commands at once, as asynchronous engines do",
    "direct": f"{_MODEL} without a page cache above it",
    "buffered": f"{_MODEL} without a page cache above it",
    "invalidate": f"{_MODEL} without a page cache above it",
    "filename": f"{_MODEL}; --drive names it",
    "directory": f"{_MODEL} without a file system",
    "thread": "the host's processes cost no time in a model",
    **dict.fromkeys(
        ("cpus_allowed", "cpus_allowed_policy", "cpumask", "numa_cpu_nodes"),
        "the host's processors are not modelled; where the drive has several submission queues, "
        "each job has its own",
    ),
    "group_reporting": "every job is reported; only steadystate goes by it",
    "description": "it says nothing to the drive",
    "randrepeat": "runs always repeat; the seed is --seed",
    "allrandrepeat": "runs always repeat; the seed is --seed",
    "dedupe_global": "all jobs of a model draw their copies from the same contents",
    **dict.fromkeys((*buffers.OPTIONS, *logs.OPTIONS, *steady.OPTIONS), ""),
    "stonewall": "",
    "numjobs": "",
    "kb_base": "",
    "name": "",
}
"""Options without an effect on the drive, with the reason; no reason: read elsewhere."""

INSTEAD = {
    "read_iolog": "replay a trace with `drivelab replay`",
    "replay_no_stall": "replay a trace with `drivelab replay --pacing closed`",
    "replay_time_scale": "replay a trace with `drivelab replay`",
    "log_unix_epoch": "a drive's time begins with the run and has no date",
    "log_hist_msec": "every latency is in the file of `drivelab run --request-log`",
    "write_hist_log": "every latency is in the file of `drivelab run --request-log`",
    "log_compression": "logs are written as text",
    "bwavgtime": "log_avg_msec is the interval of all logs",
    "iopsavgtime": "log_avg_msec is the interval of all logs",
    "write_barrier": "use fsync",
}
"""What to use in place of well-known options that are refused."""
