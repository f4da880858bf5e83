"""What all tests stand on."""

from __future__ import annotations

import os
import signal

import pytest
from served.programs import require

from drivelab import kept_states

# Here and in programs that tests start: what one left on disk would be no test of the next.
os.environ[kept_states.VARIABLE] = kept_states.OFF
# pytest-xdist says 80 to what it starts; tables in tests are as wide as in any other pipe.
os.environ.pop("COLUMNS", None)
# A shell has what it starts in the background ignore Ctrl-C, and all that is started there, too:
# commands that tests interrupt would go on.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before the fixtures of a test, which may run the programs that its mark names."""
    for mark in item.iter_markers("programs"):
        require(*mark.args)
