"""Placeholder."""


def replay() -> None:
    """To come."""
