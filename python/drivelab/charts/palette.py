"""Colours of pages and charts, by name; darker on white, lighter on black.

Okabe and Ito's palette, told apart by colour-blind readers. A chart says "$used"; a page reads the
CSS property --used, a picture takes it from here.
"""

from __future__ import annotations

from typing import Any

LIGHT = {
    "paper": "#fff",
    "raised": "#f6f7f8",
    "ink": "#1b1f24",
    "soft": "#57606a",
    "rule": "#d9dde2",
    "grid": "#e8ebee",
    "axis": "#a8b0b9",
    "accent": "#0a5c99",
    "band": "rgba(90, 100, 112, .14)",
    "new": "#0072b2",
    "used": "#c4560a",
    "tortured": "#8b3a86",
    "trimmed": "#0a7d5c",
    "passed": "#7a6a00",
    "other": "#6b7280",
    "on": "#fff",
    "published": "#7b848e",
    "better": "#0a7d5c",
    "worse": "#b3470a",
    "on-part": "#000",
    "queueing": "#9aa3ad",
    "link": "#56b4e9",
    "firmware": "#cc79a7",
    "flash": "#009e73",
    "cleaning": "#d55e00",
}
DARK = LIGHT | {
    "paper": "#14171a",
    "raised": "#1d2125",
    "ink": "#e7eaed",
    "soft": "#a3abb4",
    "rule": "#333a41",
    "grid": "#262c32",
    "axis": "#59626c",
    "accent": "#7cc0f2",
    "band": "rgba(160, 172, 186, .16)",
    "new": "#4ca9e0",
    "used": "#f0883e",
    "tortured": "#cf8fca",
    "trimmed": "#3cc49a",
    "passed": "#d3bf3f",
    "other": "#9aa3ad",
    "on": "#101418",
    "published": "#8d97a2",
    "better": "#3cc49a",
    "worse": "#f0883e",
    "queueing": "#8a939d",
}
THEMES = {"light": LIGHT, "dark": DARK}
SERIES = ("$new", "$used", "$tortured", "$trimmed", "$passed", "$link", "$ink", "$published")
"""Colours of lines that are not states, in order."""
PARTS = ("queueing", "link", "firmware", "flash", "cleaning")
"""Parts of a latency, in the order of their stacks; each has a colour of its name."""
FONT = "Liberation Sans, Arial, sans-serif"
"""Of pictures; pages have the reader's."""


def css() -> str:
    """The colours as custom properties, for both schemes of a page; what is printed is light."""
    differing = {name: value for name, value in DARK.items() if LIGHT[name] != value}
    return (
        f":root {{ {_properties(LIGHT)} }}\n@media (prefers-color-scheme: dark) {{\n"
        f"  :root:not(.printing) {{ {_properties(differing)} }}\n}}\n"
    )


def _properties(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


def resolved(value: Any, colours: dict[str, str]) -> Any:
    """The value with colours for their names, at any depth."""
    if isinstance(value, str) and value.startswith("$"):
        return FONT if value == "$font" else colours.get(value[1:], value)
    if isinstance(value, dict):
        return {key: resolved(item, colours) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolved(item, colours) for item in value]
    return value
