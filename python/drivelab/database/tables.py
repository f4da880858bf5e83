"""All tables of a results database, and the version of their layout."""

from __future__ import annotations

from drivelab.database import details, measured
from drivelab.database.layout import Table

VERSION = 8
"""Of these tables; in table `layout` of every file. A file of another version isn't written to."""
READABLE = (3, 4, 5, 6, 7, VERSION)
"""Versions of files whose runs are read: of the older ones, the documents."""
RUN_SINCE = 4
"""Runs of job files in older files lack what their groups did together."""

TABLES: dict[str, Table] = {
    table.name: table
    for module in (measured, details)
    for table in vars(module).values()
    if isinstance(table, Table)
}
"""By name, in the order in which they are created and filled: a row's parent comes before it."""

LAYOUT_SQL = f"CREATE TABLE layout AS SELECT {VERSION}::INTEGER AS version"
