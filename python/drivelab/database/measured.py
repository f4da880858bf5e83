"""Tables of what was measured: runs, drives, tests, and their requests.

Units are in the column names: MiB is 2^20 bytes, MB 10^6; us are microseconds of the drive's own
time. Every table has `run_id` first, which is not repeated here.
"""

from __future__ import annotations

from drivelab.database.layout import table

RUNS = table(
    "runs",
    "A run: a review, a job file, a replay of a trace",
    """
    kind VARCHAR (kind IN ('review', 'run', 'replay')) `review`, `run` or `replay`
    schema INTEGER? of a review's document
    engine_version VARCHAR of drivelab
    command_line VARCHAR repeats it
    seed UBIGINT same seed, same results
    quick BOOLEAN whether tests were cut short
    span_bytes UBIGINT? with --span: the first bytes of each drive, which were used
    wall_s DOUBLE? of the machine's time
    """,
    (),
)
MODELS = table(
    "models",
    "A drive that was measured",
    """
    model VARCHAR its name
    title VARCHAR its name for people
    hash VARCHAR SHA-256 over every parameter, overrides included
    user_capacity_bytes UBIGINT what the host can address
    raw_capacity_bytes UBIGINT? of flash
    effective_spare_ratio DOUBLE? spare area over user capacity less what the drive holds back
    family VARCHAR? named by its mapping scheme
    released VARCHAR? year and month
    controller_name VARCHAR? with its makers
    firmware VARCHAR? its version
    price_usd DOUBLE? when it was new
    price_usd_per_gib_flash DOUBLE? per 2^30 bytes of flash
    price_usd_per_gib_user DOUBLE? per 2^30 bytes that the host can address
    """,
    ("model",),
    RUNS,
)
PARAMETERS = table(
    "parameters",
    "A parameter of a drive; its value is in one of three columns, in none if there is none",
    """
    key VARCHAR as in the model's file, and for --set
    number DOUBLE? its value, if that is a number
    text VARCHAR? its value, if that is a text; members of an array separated by commas
    boolean BOOLEAN? its value, if that is true or false
    unit VARCHAR? of the number
    source VARCHAR? where the value comes from
    role VARCHAR? of the source: cited, specified, fitted, informed or assumed
    is_default BOOLEAN? whether the model leaves it at its default
    """,
    ("key",),
    MODELS,
)
STATES = table(
    "states",
    "How a state of a drive came about",
    """
    state VARCHAR its name
    description VARCHAR? what was done
    host_write_bytes UBIGINT? since the drive was new
    program_bytes UBIGINT? programmed into flash
    write_amplification DOUBLE? bytes programmed over bytes that the host wrote
    erases UBIGINT? blocks that the drive erased
    wall_s DOUBLE? of the machine's time
    """,
    ("state",),
    MODELS,
)
TESTS = table(
    "tests",
    "A test of a drive in a state; of a run or a replay, the whole of it",
    """
    state VARCHAR in which it was
    test VARCHAR its id; the jobs' names, or the trace's
    kind VARCHAR (kind IN ('stream', 'compound', 'run', 'replay')) which kind of test
    title VARCHAR? for people
    test_group VARCHAR? as in `drivelab list --tests`
    data VARCHAR? what is written; null where the test doesn't decide it
    span_bytes UBIGINT? size of the region that was used
    duration_s DOUBLE? measured time
    drive_count UINTEGER? drives that took part
    write_amplification DOUBLE? bytes programmed over bytes that the host wrote
    host_read_bytes UBIGINT? that the host read
    unmapped_read_share DOUBLE? part of them that was never written, or trimmed
    read_errors UBIGINT? reads that failed; null where none can, and of real drives
    refused_commands UBIGINT? writes, trims and flushes that weren't done, null likewise
    host_write_bytes UBIGINT? that the host wrote
    flash_program_bytes UBIGINT? programs of all purposes
    erases UBIGINT? blocks that the drive erased
    energy_j DOUBLE? of the whole drive
    mean_power_w DOUBLE? the same per second
    wall_s DOUBLE? of the machine's time
    """,
    ("state", "test"),
    MODELS,
)
MEASUREMENTS = table(
    "measurements",
    "Requests of one direction of one job, or its flushes; a test of kind stream is one",
    """
    job VARCHAR the test's id; of a run the job's name, of namesakes and clones with a number
    direction VARCHAR (direction IN ('read', 'write', 'trim', 'flush')) of the requests
    job_name VARCHAR the job's name alone
    block_bytes UBIGINT? size of a request, of tests
    queue_depth UINTEGER? requests outstanding, of tests
    align_bytes UBIGINT? requests begin at multiples of it, of tests
    ios UBIGINT requests done
    bytes UBIGINT? bytes done; flushes move none
    iops DOUBLE? requests per second
    mib_per_s DOUBLE? throughput
    latency_min_us DOUBLE? the shortest
    latency_mean_us DOUBLE? the mean
    latency_stddev_us DOUBLE? standard deviation
    latency_max_us DOUBLE? the longest
    write_amplification DOUBLE? of runs: of this job and direction, null if nobody can tell
    flash_program_bytes UBIGINT? the same
    erases UBIGINT? the same
    """,
    ("job", "direction"),
    TESTS,
)
PERCENTILES = table(
    "percentiles",
    "A percentile of latency",
    """
    percentile DOUBLE (percentile BETWEEN 0 AND 100) percent of the requests
    latency_us DOUBLE took no longer
    """,
    ("percentile",),
    MEASUREMENTS,
)
HISTOGRAM_BINS = table(
    "histogram_bins",
    "A bin of a histogram of latency; bins of all histograms have the same edges",
    """
    latency_below_us DOUBLE its upper edge; it is 3 to 6 % wide
    requests UBIGINT (requests > 0) how many it holds
    """,
    ("latency_below_us",),
    MEASUREMENTS,
)
LATENCY_PARTS = table(
    "latency_parts",
    "A part of the mean latency of all requests, or of the slowest ones",
    """
    share_of_requests DOUBLE (share_of_requests BETWEEN 0 AND 1) 1: all; 0.001: the slowest 0.1 %
    part VARCHAR `queueing`, `link`, `firmware`, `flash` or `cleaning`
    mean_us DOUBLE its mean; parts add up to the mean latency of these requests
    requests UBIGINT how many these are
    latency_min_us DOUBLE? the shortest latency of the slowest; null of all
    """,
    ("share_of_requests", "part"),
    MEASUREMENTS,
)
SERIES = table(
    "series",
    "A stream over time, an interval a row",
    """
    interval_index UINTEGER from 0 on
    time_s DOUBLE when the interval begins
    mib_per_s DOUBLE? throughput
    iops DOUBLE? requests per second
    latency_mean_us DOUBLE? the mean, null where nothing was done
    latency_p99_us DOUBLE? 99 % of the requests took no longer, at most 3.2 % too high
    latency_max_us DOUBLE? the longest
    write_amplification DOUBLE? bytes programmed over bytes that the host wrote, of this interval
    queue_depth_mean DOUBLE? requests in the drive, on average
    free_blocks UBIGINT? erased blocks at the end of the interval
    cleaning_share DOUBLE? part of the dies' time that cleaning took for itself
    """,
    ("interval_index",),
    MEASUREMENTS,
)
