"""Views of a results database, for queries of one line."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

WIDE = "parameters_wide"
"""Every drive of every run, with a column for each parameter."""


def views_sql(connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """The statements that make the views anew: the parameters that runs have differ."""
    found = connection.execute(
        "SELECT key, count(number) > 0, count(text) > 0, count(boolean) > 0 FROM parameters"
        " GROUP BY key ORDER BY min(rowid)"
    ).fetchall()
    columns = ["run_id", "model"]
    for key, *used in found:
        kinds = [kind for kind, has in zip(("number", "text", "boolean"), used, strict=True) if has]
        # A parameter of two types in two runs is shown as text.
        value = kinds[0] if len(kinds) == 1 else "coalesce(text, number::VARCHAR, boolean::VARCHAR)"
        named = key.replace("'", "''"), key.replace('"', '""')
        columns.append(f"any_value({value}) FILTER (key = '{named[0]}') AS \"{named[1]}\"")
    yield (
        f"CREATE OR REPLACE VIEW {WIDE} AS SELECT {', '.join(columns)} FROM parameters"
        " GROUP BY run_id, model ORDER BY run_id, model"
    )
