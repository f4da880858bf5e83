"""Drives in image files, and what serves them: addresses, clocks, faults, SMART, control."""
