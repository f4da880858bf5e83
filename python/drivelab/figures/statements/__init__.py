"""What reviews say in words, held against the models like figures and orderings.

One TOML file a review: each row a claim, what is measured for it, and the checks that it has to
pass (`rows.py`); `checks.py` has the vocabulary, `judging.py` makes records of it all.
"""

from __future__ import annotations

from drivelab.figures.statements.judging import judge_statements, statement_readings
from drivelab.figures.statements.rows import Statement, statements

__all__ = ["Statement", "judge_statements", "statement_readings", "statements"]
