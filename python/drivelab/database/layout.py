"""How tables of a results database are made: columns, keys, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column with its SQL type; `nullable` where what it tells may not exist."""

    name: str
    kind: str
    text: str
    nullable: bool
    check: str = ""
    """A condition that holds for every value; empty: none."""

    @property
    def sql(self) -> str:
        """Its part of the statement that creates the table."""
        limits = ("" if self.nullable else " NOT NULL") + (
            f" CHECK ({self.check})" if self.check else ""
        )
        return f'"{self.name}" {self.kind}{limits}'


@dataclass(frozen=True)
class Table:
    """A table, without its first column: `run_id`, which all have but `layout`."""

    name: str
    text: str
    """What a row is."""
    columns: tuple[Column, ...]
    key: tuple[str, ...] | None
    """What tells rows apart, and is watched over; None: nothing is."""
    parent: str | None = None
    """The table that has a row for each of these rows' `shared` columns."""
    shared: tuple[str, ...] = ()

    @property
    def column_names(self) -> list[str]:
        """Names of all columns, `run_id` included."""
        return ["run_id", *(column.name for column in self.columns)]

    @property
    def sql(self) -> str:
        """The statement that creates it."""
        parts = ['"run_id" INTEGER NOT NULL', *(column.sql for column in self.columns)]
        if self.key is not None:
            parts.append(f"PRIMARY KEY ({_names(self.key)})")
        if self.parent is not None:
            shared = _names(self.shared)
            parts.append(f'FOREIGN KEY ({shared}) REFERENCES "{self.parent}" ({shared})')
        return f'CREATE TABLE "{self.name}" ({", ".join(parts)})'

    @property
    def comments_sql(self) -> list[str]:
        """The statements that tell the database what the table and its columns are."""
        found = [f"COMMENT ON TABLE \"{self.name}\" IS '{_quoted(self.text)}'"]
        return found + [
            f'COMMENT ON COLUMN "{self.name}"."{column.name}" IS \'{_quoted(column.text)}\''
            for column in self.columns
        ]


def table(
    name: str,
    text: str,
    lines: str,
    key: Sequence[str] | None,
    parent: Table | None = None,
) -> Table:
    """A table from lines of "NAME TYPE[?] [(CHECK)] what it is"; "?" allows null.

    Columns that it shares with its parent's key are not repeated in the lines.
    """
    shared = parent.key if parent is not None and parent.key is not None else ()
    inherited = [c for c in parent.columns if c.name in shared] if parent is not None else []
    own = [_column(line.strip()) for line in lines.strip().splitlines() if line.strip()]
    return Table(
        name,
        text,
        (*inherited, *own),
        None if key is None else ("run_id", *(c.name for c in inherited), *key),
        None if parent is None else parent.name,
        tuple(shared) if shared else (),
    )


def _column(line: str) -> Column:
    name, kind, text = line.split(maxsplit=2)
    check = ""
    if text.startswith("("):
        check, _, text = text[1:].partition(") ")
    return Column(name, kind.removesuffix("?"), text, kind.endswith("?"), check)


def _names(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _quoted(text: str) -> str:
    return text.replace("'", "''")
