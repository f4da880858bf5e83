"""Placeholder."""


def run() -> None:
    """To come."""
