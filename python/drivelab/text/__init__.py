"""What documents look like as text: for each kind of document a module that gives its lines and
tables, `layout.py` what those are, and `terminal.py` how they become letters on a screen."""
