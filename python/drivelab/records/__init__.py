"""The one definition of results.json: what it holds, by subject, and what each field means.

What writes results is checked against it as it is written, what reads them as it is read; the
tables of docs/results.md and the JSON schema are made from it.
"""

SCHEMA = 5
"""Of what is written. It goes up by one when a field is added or means something else; `upgrade.py`
then says what the field is in older files."""

ROUNDS_TABLE = "convergence"
"""The table of a test with a steady state that has its tracked variables round by round."""
