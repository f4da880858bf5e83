"""The tables of a results database: names, columns and types.

Units are in the column names: MiB is 2^20 bytes, MB 10^6; us are microseconds of the drive's own
time. Every table has `run_id` first, which is not repeated here.
"""

from __future__ import annotations

from dataclasses import dataclass

VERSION = 4
"""Of these tables; in table `layout` of every file. A file of another version is refused."""


@dataclass(frozen=True)
class Table:
    """A table: columns with their SQL types, in order, without `run_id`."""

    name: str
    columns: tuple[tuple[str, str], ...]

    @property
    def column_names(self) -> list[str]:
        """Names of all columns, `run_id` included."""
        return ["run_id", *(name for name, _ in self.columns)]

    @property
    def sql(self) -> str:
        """The statement that creates it."""
        columns = ", ".join(f'"{name}" {kind}' for name, kind in self.columns)
        return f'CREATE TABLE "{self.name}" (run_id INTEGER, {columns})'


def _table(name: str, text: str) -> Table:
    pairs = (item.split() for item in text.split(","))
    return Table(name, tuple((column, kind) for column, kind in pairs))


MEASURED = "model VARCHAR, state VARCHAR, test VARCHAR"

TABLES = {
    table.name: table
    for table in (
        _table(
            "runs",
            "kind VARCHAR, schema INTEGER, engine_version VARCHAR, command_line VARCHAR,"
            "seed UBIGINT, quick BOOLEAN, wall_s DOUBLE",
        ),
        _table(
            "models",
            "model VARCHAR, title VARCHAR, hash VARCHAR, user_capacity_bytes UBIGINT,"
            "raw_capacity_bytes UBIGINT, family VARCHAR, released VARCHAR, controller_name VARCHAR,"
            "firmware VARCHAR, price_usd DOUBLE, price_usd_per_gib_flash DOUBLE,"
            "price_usd_per_gib_user DOUBLE",
        ),
        _table(
            "parameters",
            "model VARCHAR, key VARCHAR, value_json VARCHAR, unit VARCHAR, source VARCHAR,"
            "is_default BOOLEAN",
        ),
        _table(
            "states",
            "model VARCHAR, state VARCHAR, description VARCHAR, host_write_bytes UBIGINT,"
            "program_bytes UBIGINT, write_amplification DOUBLE, erases UBIGINT, wall_s DOUBLE",
        ),
        _table(
            "tests",
            f"{MEASURED}, kind VARCHAR, title VARCHAR, test_group VARCHAR, direction VARCHAR,"
            "block_bytes UBIGINT, queue_depth UINTEGER, align_bytes UBIGINT, span_bytes UBIGINT,"
            "data VARCHAR, duration_s DOUBLE, ios UBIGINT, bytes UBIGINT, iops DOUBLE,"
            "mib_per_s DOUBLE, latency_mean_us DOUBLE, latency_max_us DOUBLE, queueing_us DOUBLE,"
            "link_us DOUBLE, firmware_us DOUBLE, flash_us DOUBLE, cleaning_us DOUBLE,"
            "drive_count UINTEGER, write_amplification DOUBLE, host_read_bytes UBIGINT,"
            "unmapped_read_share DOUBLE, host_write_bytes UBIGINT, flash_program_bytes UBIGINT,"
            "erases UBIGINT, energy_j DOUBLE, mean_power_w DOUBLE, wall_s DOUBLE",
        ),
        _table(
            "jobs",
            f"{MEASURED}, job VARCHAR, direction VARCHAR, ios UBIGINT, bytes UBIGINT, iops DOUBLE,"
            "mib_per_s DOUBLE, latency_mean_us DOUBLE, latency_max_us DOUBLE,"
            "write_amplification DOUBLE, flash_program_bytes UBIGINT, erases UBIGINT",
        ),
        _table(
            "job_groups",
            f"{MEASURED}, group_index UINTEGER, jobs VARCHAR, duration_s DOUBLE,"
            "host_read_bytes UBIGINT, unmapped_read_share DOUBLE, host_write_bytes UBIGINT,"
            "write_amplification DOUBLE, flash_program_bytes UBIGINT, erases UBIGINT,"
            "energy_j DOUBLE",
        ),
        _table("job_options", f"{MEASURED}, job VARCHAR, option VARCHAR, value VARCHAR"),
        _table("series", f"{MEASURED}, time_s DOUBLE, mib_per_s DOUBLE, latency_max_us DOUBLE"),
        _table("zones", f"{MEASURED}, position_bytes UBIGINT, mb_per_s DOUBLE"),
        _table(
            "percentiles",
            f"{MEASURED}, job VARCHAR, direction VARCHAR, percentile DOUBLE, latency_us DOUBLE",
        ),
        _table("counters", f"{MEASURED}, counter VARCHAR, value DOUBLE"),
        _table(
            "test_values",
            f"{MEASURED}, name VARCHAR, title VARCHAR, value DOUBLE, unit VARCHAR, better VARCHAR",
        ),
        _table(
            "test_cells",
            f"{MEASURED}, table_name VARCHAR, row_index UINTEGER, column_key VARCHAR,"
            "column_title VARCHAR, unit VARCHAR, number DOUBLE, text VARCHAR",
        ),
        _table(
            "test_charts",
            f"{MEASURED}, table_name VARCHAR, title VARCHAR, kind VARCHAR, x VARCHAR, y VARCHAR,"
            "series VARCHAR, log_x BOOLEAN, log_y BOOLEAN",
        ),
        _table(
            "repeats",
            f"{MEASURED}, direction VARCHAR, number VARCHAR, repeat_index UINTEGER, seed UBIGINT,"
            "value DOUBLE",
        ),
        _table(
            "intervals",
            f"{MEASURED}, direction VARCHAR, number VARCHAR, mean DOUBLE, low DOUBLE, high DOUBLE,"
            "method VARCHAR",
        ),
        _table("test_remarks", f"{MEASURED}, kind VARCHAR, remark VARCHAR"),
        _table("steady_states", f"{MEASURED}, key VARCHAR, value_json VARCHAR"),
        _table(
            "figures",
            "id VARCHAR, drive VARCHAR, firmware VARCHAR, state VARCHAR, metric VARCHAR,"
            "unit VARCHAR, relation VARCHAR, published DOUBLE, modelled DOUBLE, error_ratio DOUBLE,"
            "satisfied BOOLEAN, role VARCHAR, model VARCHAR, test VARCHAR, model_state VARCHAR,"
            "note VARCHAR",
        ),
        _table("documents", "document VARCHAR, models VARCHAR"),
    )
}
"""By name, in the order in which they are created."""

LAYOUT_SQL = f"CREATE TABLE layout AS SELECT {VERSION}::INTEGER AS version"
