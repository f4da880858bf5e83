"""Tables of what belongs to single tests and runs: jobs, findings, steady states, figures.

Cells and counters, of which a review has the most rows by far, have no key of their own: the index
that watches over it would be several times as large as all else in the file.
"""

from __future__ import annotations

from drivelab.database.layout import table
from drivelab.database.measured import MODELS, RUNS, TESTS

JOB_GROUPS = table(
    "job_groups",
    "Jobs of a run that ran together",
    """
    group_index UINTEGER from 0 on
    jobs VARCHAR their names
    duration_s DOUBLE? measured time
    host_read_bytes UBIGINT? that the host read
    unmapped_read_share DOUBLE? part of them that was never written, or trimmed
    read_errors UBIGINT? reads that failed; null where none can, and of real drives
    refused_commands UBIGINT? writes, trims and flushes that weren't done, null likewise
    host_write_bytes UBIGINT? that the host wrote
    write_amplification DOUBLE? bytes programmed over bytes that the host wrote
    flash_program_bytes UBIGINT? programs of all purposes
    erases UBIGINT? blocks that the drive erased
    energy_j DOUBLE? of the whole drive
    """,
    ("group_index",),
    TESTS,
)
JOB_OPTIONS = table(
    "job_options",
    "An option of a job of a run",
    """
    job VARCHAR the job's name, of namesakes and clones with a number
    option VARCHAR as in the job file
    value VARCHAR as in the job file
    """,
    ("job", "option"),
    TESTS,
)
ZONES = table(
    "zones",
    "A zone of a pass over the whole drive",
    """
    position_bytes UBIGINT where it begins
    mb_per_s DOUBLE throughput, MB of 10^6 bytes
    """,
    ("position_bytes",),
    TESTS,
)
COUNTERS = table(
    "counters",
    "A counter of a drive over a test",
    """
    counter VARCHAR its name
    value DOUBLE by how much it rose
    """,
    None,
    TESTS,
)
TEST_VALUES = table(
    "test_values",
    "A headline number of a test",
    """
    name VARCHAR for queries
    title VARCHAR for people
    value DOUBLE? null where the test found nothing
    unit VARCHAR of the value
    better VARCHAR? `higher`, `lower`, or neither
    """,
    ("name",),
    TESTS,
)
TEST_CELLS = table(
    "test_cells",
    "A cell of a table of a test",
    """
    table_name VARCHAR which table
    row_index UINTEGER from 0 on
    column_key VARCHAR for queries
    column_title VARCHAR for people
    unit VARCHAR of the number
    number DOUBLE? what the cell holds, if that is a number
    text VARCHAR? what it holds, if that is a text
    """,
    None,
    TESTS,
)
TEST_CHARTS = table(
    "test_charts",
    "How a table of a test is drawn",
    """
    chart_index UINTEGER from 0 on
    table_name VARCHAR which table
    title VARCHAR for people
    kind VARCHAR `lines`, `bars` or `heat`
    x VARCHAR key of a column
    y VARCHAR key of a column
    series VARCHAR? key of the column that tells lines or bars apart
    log_x BOOLEAN whether the axis is logarithmic
    log_y BOOLEAN whether the axis is logarithmic
    """,
    ("chart_index",),
    TESTS,
)
TEST_REMARKS = table(
    "test_remarks",
    "A deviation of a test from what it repeats, or a note",
    """
    kind VARCHAR (kind IN ('deviation', 'note')) which of them
    remark_index UINTEGER from 0 on
    remark VARCHAR the sentence
    """,
    ("kind", "remark_index"),
    TESTS,
)
SMART = table(
    "smart",
    "What a real drive said of itself at one time",
    """
    state VARCHAR? of the test; null before and after everything
    test VARCHAR? before or after which; null before and after everything
    moment VARCHAR (moment IN ('before', 'after')) which of them
    passed BOOLEAN? the drive's own verdict
    temperature_c DOUBLE? degrees Celsius
    temperature_limit_c DOUBLE? up to which the maker allows it to work
    too_hot BOOLEAN? whether it is beyond a threshold of its own
    hot_minutes UBIGINT? of its life beyond its thresholds
    percentage_used DOUBLE? of the endurance that the maker states
    available_spare_percent DOUBLE? spare blocks that are left
    power_on_hours UBIGINT? of its life
    host_write_bytes UBIGINT? that hosts wrote in its life
    media_write_bytes UBIGINT? that it programmed in its life
    """,
    None,
    MODELS,
)
STEADY_STATES = table(
    "steady_states",
    "Whether a test that looks for a steady state found one",
    """
    reached BOOLEAN whether all variables were steady in the same window
    criterion VARCHAR the rule
    round_text VARCHAR what a round is
    rounds UINTEGER how many there were
    """,
    (),
    TESTS,
)
STEADY_WINDOWS = table(
    "steady_windows",
    "The last window of rounds of a tracked variable; all but rounds in its unit",
    """
    variable VARCHAR what is tracked
    unit VARCHAR its unit
    first_round UINTEGER of the window; rounds count from 1
    last_round UINTEGER of the window
    average DOUBLE over the window
    excursion DOUBLE max - min
    allowed_excursion DOUBLE of a steady window
    slope_excursion DOUBLE rise or fall of the fitted line
    allowed_slope_excursion DOUBLE of a steady window
    steady BOOLEAN whether it keeps both limits
    """,
    ("variable",),
    STEADY_STATES,
)
STEADY_ROUNDS = table(
    "steady_rounds",
    "A tracked variable in a round",
    """
    variable VARCHAR what is tracked
    round UINTEGER from 1 on
    value DOUBLE? in the variable's unit
    in_window BOOLEAN whether the round belongs to the last window
    """,
    ("variable", "round"),
    STEADY_STATES,
)
REPEATS = table(
    "repeats",
    "A number of a test that was repeated, of one repeat",
    """
    job VARCHAR? of runs: which job; null of the whole
    direction VARCHAR? of runs: which direction
    number VARCHAR its name
    repeat_index UINTEGER from 0 on
    seed UBIGINT of the repeat
    value DOUBLE what it was
    """,
    None,
    TESTS,
)
INTERVALS = table(
    "intervals",
    "A number of a test that was repeated: its mean with a 95 % interval",
    """
    job VARCHAR? of runs: which job; null of the whole
    direction VARCHAR? of runs: which direction
    number VARCHAR its name
    mean DOUBLE of the repeats
    low DOUBLE lower end of the interval
    high DOUBLE upper end
    method VARCHAR of the interval
    """,
    None,
    TESTS,
)
FIGURES = table(
    "figures",
    "A published figure beside the modelled one",
    """
    id VARCHAR of the figure
    drive VARCHAR in the review's words
    firmware VARCHAR? its version
    state VARCHAR in the review's words
    metric VARCHAR what was measured
    unit VARCHAR of the values
    review VARCHAR? which review
    relation VARCHAR how the truth relates to the published value
    published DOUBLE? the review's value
    published_min DOUBLE? lower end of a range
    published_max DOUBLE? upper end of a range
    modelled DOUBLE? the model's value; null if there is none
    error_ratio DOUBLE? modelled / published - 1; of bounds the distance to them
    satisfied BOOLEAN? of bounds and ranges: whether they hold
    role VARCHAR? what the figure says of the model: `predicted`, ..., `fitted`, `none`
    model VARCHAR? the model of the drive
    test VARCHAR? the test, if it is one measurement
    model_state VARCHAR? the state, if it is one measurement
    reason VARCHAR? why nothing is modelled or judged
    note VARCHAR? remarks
    """,
    ("id",),
    RUNS,
)
DOCUMENTS = table(
    "documents",
    "The whole document of a run, which `export` and `compare` read",
    """
    document VARCHAR results.json; what `run --json` and `replay --json` print
    models VARCHAR records of the models, as in results.json
    """,
    (),
    RUNS,
)
