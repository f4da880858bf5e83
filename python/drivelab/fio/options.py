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
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "file_size": "filesize",
    "fileoffset": "offset",
    "timeout": "runtime",
    "nr_files": "nrfiles",
    "fill_fs": "fill_device",
    "data_placement": "dataplacement",
    "ratecycle": "rate_cycle",
    "ratemin": "rate_min",
    "plids": "fdp_pli",
    "io_limit": "io_size",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "wait_for_previous": "stonewall",
    **steady.ALIASES,
}


def option_meaning(name: str) -> str:
    """An option's name, the same for options that say the same thing."""
    name = ALIASES.get(name, name)
    return min(name, OPPOSITES.get(name, name))


_MODEL = "the drive is a model"
_HOST = "how the host submits and waits costs no time in a model"
_FILES = "the drive is a model without a file system: a job's file is its region"
_MEASURING = "measuring costs no time in a model"
_LATENCY = "a latency here is that of the whole request; submission takes none of it"
_UNVERIFIED = "nothing is verified: what is read is not modelled"
ONLY = {
    "verify": (
        ("0", "none"),
        "bytes are not modelled; a served drive keeps them, and fio can verify it (drivelab serve)",
    ),
    "zonemode": (("none",), "a job's region is one piece"),
    "nrfiles": (("1",), "a job's file is its region"),
    "fill_device": (("0",), "a model has no file system to fill; without a size a job fills it"),
    "create_only": (("0",), "there are no files to create"),
    "iodepth_batch_complete_min": (
        ("0", "1"),
        "the host of a model takes each completion, and submits the next request at once",
    ),
    "bs_unaligned": (("0",), "blocks are whole multiples"),
    "bs_is_seq_rand": (("0",), "a block size each for reads, writes and trims"),
    "thinktime_blocks_type": (("complete",), "a pause begins when all requests before it are done"),
    "pre_read": (("0",), "nothing is read before a job; a job before it can"),
    "serialize_overlap": (("0",), "requests to the same blocks are outstanding together"),
    "iodepth_low": (("0",), "a model's queue is filled again with every completion"),
    **dict.fromkeys(
        ("rate_min", "rate_iops_min"),
        (("0",), "no rate ends a job; the report has the rate of every interval"),
    ),
    "latency_target": (("0",), "compare queue depths with `drivelab sweep`"),
    "max_latency": (("0",), "no latency ends a job; the report has the longest"),
}
"""Options that change nothing at the values that are allowed, each with why no others are."""
IGNORED = {
    "ioengine": f"{_MODEL}; it takes up to iodepth commands at once, as asynchronous engines do",
    "direct": f"{_MODEL} without a page cache above it",
    "buffered": f"{_MODEL} without a page cache above it",
    "invalidate": f"{_MODEL} without a page cache above it",
    "filename": f"{_MODEL}; --drive names it",
    "directory": f"{_MODEL} without a file system",
    **dict.fromkeys(
        (
            *("thread", "iodepth_batch", "iodepth_batch_submit"),
            *("iodepth_batch_complete_max", "hipri", "hipri_percentage", "fixedbufs"),
            *("registerfiles", "sqthread_poll", "sqthread_poll_cpu", "nonvectored", "uncached"),
            *("force_async", "userspace_reap", "mem", "iomem", "iomem_align"),
            *("mem_align", "hugepage-size", "lockmem", "nice", "prio", "prioclass", "ioscheduler"),
            *("cgroup", "cgroup_weight", "cgroup_nodelete", "uid", "gid", "numa_mem_policy"),
            *("thinktime_spin", "continue_on_error", "ignore_error", "error_dump"),
            *("exitall_on_error", "cmd_type"),
        ),
        _HOST,
    ),
    **dict.fromkeys(
        (
            *("create_serialize", "create_fsync", "create_on_open", "unlink", "unlink_each_loop"),
            *("fallocate", "fadvise_hint", "allow_file_create"),
            *("allow_mounted_write", "openfiles", "file_service_type", "filename_format"),
            "opendir",
        ),
        _FILES,
    ),
    **dict.fromkeys(
        (
            "gtod_reduce",
            "gtod_cpu",
            "clocksource",
            "disk_util",
            "disable_lat",
            "disable_clat",
            "disable_slat",
            "disable_bw_measurement",
            "disable_bw",
            "rate_cycle",
            "log_entries",
            "significant_figures",
        ),
        _MEASURING,
    ),
    "io_submit_mode": "no request of a model waits to be submitted",
    "overwrite": "what is written before is the drive's state",
    "unified_rw_reporting": "reads, writes and trims are told apart in any case",
    **dict.fromkeys(("lat_percentiles", "clat_percentiles", "slat_percentiles"), _LATENCY),
    **dict.fromkeys(
        (
            "do_verify",
            "verify_fatal",
            "verify_dump",
            "verify_async",
            "verify_backlog",
            "verify_interval",
            "verify_state_save",
            "verifysort",
        ),
        _UNVERIFIED,
    ),
    **dict.fromkeys(("fdp_pli_select", "plid_select"), "a job has one placement identifier"),
    **dict.fromkeys(
        ("random_generator", "softrandommap"),
        "offsets are drawn as `random_distribution` and `norandommap` say",
    ),
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
    **{name: f"it changes nothing: {reason}" for name, (_, reason) in ONLY.items()},
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
    "write_iolog": "every request is in the file of `drivelab run --request-log`",
    "exitall": "every job ends by itself: give the others a runtime",
    **dict.fromkeys(
        ("latency_window", "latency_percentile", "latency_run"),
        "compare queue depths with `drivelab sweep`",
    ),
    "verify_pattern": "bytes are not modelled; a served drive keeps them (drivelab serve)",
    "wait_for": "stonewall waits for all jobs before",
    "rw_sequencer": "percentage_random mixes random and sequential requests",
    "bwavgtime": "log_avg_msec is the interval of all logs",
    "iopsavgtime": "log_avg_msec is the interval of all logs",
    "write_barrier": "use fsync",
}
"""What to use in place of well-known options that are refused."""
