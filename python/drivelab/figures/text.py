"""Comparisons as text: rows of tables, Markdown, lines of the summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from drivelab.figures.bindings import CERTAIN_RATIO
from drivelab.quantities import counted, number
from drivelab.sources import FIGURE_ROLES, counts_text

Record = Mapping[str, Any]
Row = tuple[str, ...]

ROLE_COLUMNS = (
    *("figure", "drive", "state", "metric", "published", "modelled", "unit", "error", "role"),
)
COLUMNS = (*ROLE_COLUMNS, "bound by", "left out")
NUMBERS = ("published", "modelled", "error", "left out")
PREDICTED = next(iter(FIGURE_ROLES))
"""The role that says most; that there is none is said, too."""
BOUND_MOST = 3
"""So many of the parameters that bind a figure are named in a table."""
ORDER_COLUMNS = ("ordering", "of", "result", "why")
BLIND_COLUMNS = (
    *("figure", "drive", "state", "metric", "published", "modelled before"),
    *("error then", "modelled now", "error now", "unit"),
)
BLIND_NUMBERS = ("published", "modelled before", "error then", "modelled now", "error now")
TRACE_COLUMNS = ("figure", "trace", "metric", "published", "synthesised", "unit", "error", "remark")
TRACE_NUMBERS = ("published", "synthesised", "error")
SIGNS = {"lt": "< ", "le": "≤ ", "gt": "> ", "ge": "≥ ", "approx": "≈ "}
DASH = "-"


def percent(ratio: float | None) -> str:
    """A signed ratio in percent; a dash for None.

    >>> percent(0.0712), percent(-0.4)
    ('+7.1 %', '-40.0 %')
    """
    return DASH if ratio is None else f"{ratio * 100:+.1f} %"


def deviation(modelled: float, published: float, digits: int = 0) -> str:
    """By how many percent a model is off, always with a sign; nothing rounds to "-0 %".

    >>> deviation(1.5, 1.0), deviation(1.0, 1.0), deviation(0.9999, 1.0, digits=1)
    ('+50 %', '+0 %', '+0.0 %')
    """
    return f"{100 * (modelled / published - 1):+z.{digits}f} %"


def published_text(record: Record) -> str:
    """The published value with its relation: "< 0.3", "500 .. 2000"."""
    if record["relation"] == "range":
        return f"{number(record['published_min'])} .. {number(record['published_max'])}"
    return SIGNS.get(record["relation"], "") + number(record["published"])


def verdict(record: Record) -> str:
    """The error, or whether a bound holds."""
    return _verdict(record["error_ratio"], record["satisfied"])


def _verdict(error: float | None, satisfied: bool | None) -> str:
    if satisfied is not None:
        miss = f" ({percent(error)})" if error else ""
        return "holds" if satisfied else f"fails{miss}"
    return percent(error)


def blind_rows(records: Sequence[Record]) -> list[Row]:
    """A row of BLIND_COLUMNS for every figure that was kept back until the models stood."""
    return [
        (
            record["id"],
            record["drive"],
            record["model_state"] or record["state"],
            record["metric"],
            published_text(record),
            number(record["modelled_before"]),
            _verdict(record["error_before_ratio"], record["satisfied_before"]),
            number(record["modelled"]),
            verdict(record),
            record["unit"],
        )
        for record in records
        if record["blind"]
    ]


def figure_rows(records: Sequence[Record]) -> list[Row]:
    """A row of COLUMNS for every figure; the role may be why there is none."""
    return [
        (
            record["id"],
            record["drive"],
            record["model_state"] or record["state"],
            record["metric"],
            published_text(record),
            number(record["modelled"]),
            record["unit"],
            verdict(record),
            "; ".join(filter(None, (record["role"].removeprefix("none"), record["reason"]))),
            bound_text(record) if record["role"] != "none" else "",
            ", ".join(percent(item["error_ratio"]) for item in record["left_out"]),
        )
        for record in records
    ]


def bound_text(record: Record) -> str:
    """What binds a figure, the strongest first, each with its role."""
    found = [f"{_short(item['key'])} ({item['role']})" for item in record["bound_by"]]
    found = list(dict.fromkeys(found))
    more = len(found) - BOUND_MOST
    return ", ".join(found[:BOUND_MOST]) + (f" and {more} more" if more > 0 else "")


def _short(key: str) -> str:
    """A key without the sections that are nearly all of them."""
    return key.removeprefix("member.").removeprefix("controller.")


def parameter_text(found: Record) -> str:
    """Parameters of a model by role, and what they are held against."""
    fitted = found["roles"]["fitted"]
    return (
        f"`{found['model']}`: parameters {counts_text(found['roles'])}"
        f"; held against {found['figures']} figures, {found['values']} of them values"
        + (f"; fitted to these: {found['fitted_to_own']} of {fitted}" if fitted else "")
        + "."
    )


def trace_rows(records: Sequence[Record]) -> list[Row]:
    """A row of TRACE_COLUMNS for every statistic of a trace."""
    return [
        (
            record["id"],
            record["trace"],
            record["metric"],
            published_text(record),
            number(record["synthesised"], 7),
            record["unit"],
            verdict(record),
            record["reason"],
        )
        for record in records
    ]


def order_rows(orders: Sequence[Record]) -> list[Row]:
    """A row of ORDER_COLUMNS for every ordering."""
    rows: list[Row] = []
    for order in orders:
        why = [*order["broken"], order["reason"]]
        if order["role"] == "fitted":
            why.append("a parameter was fitted to it")
        if order["role"] == "informed":
            why.append("a constant of its test was chosen with it in view")
        if order["missing"] and order["holds"] is not None:
            why.append(f"compared without {', '.join(order['missing'])}")
        elif order["missing"]:
            why.append(f"not measured: {', '.join(order['missing'])}")
        rows.append((order["id"], order["metric"], order["result"], "; ".join(filter(None, why))))
    return rows


STATEMENT_COLUMNS = ("statement", "claim", "result", "why")
CHECK_COLUMNS = ("statement", "check", "of", "value", "holds")
CHECK_NUMBERS = ("value",)


def statement_rows(claims: Sequence[Record]) -> list[Row]:
    """A row of STATEMENT_COLUMNS for every statement."""
    rows: list[Row] = []
    for claim in claims:
        why = [*claim["broken"], claim["reason"]]
        if claim["contradicts"]:
            why.append(f"contradicted by {claim['contradicts']}")
        if claim["missing"]:
            why.append(f"not measured: {', '.join(claim['missing'])}")
        rows.append((claim["id"], claim["claim"], claim["result"], "; ".join(filter(None, why))))
    return rows


def check_rows(claims: Sequence[Record]) -> list[Row]:
    """A row of CHECK_COLUMNS for every value that a statement was judged by."""
    return [
        (claim["id"], check["check"], item["of"], number(item["value"]), _holds(check["holds"]))
        for claim in claims
        for check in claim["checks"]
        for item in (check["values"] or [{"of": DASH, "value": None}])
    ]


def _holds(verdict: bool | None) -> str:
    return {True: "holds", False: "does not hold", None: "not measured"}[verdict]


def summary_lines(summary: Record) -> list[str]:
    """The summary in sentences."""
    orders, claims = summary["orderings"], summary["statements"]
    return [
        *(_figures(summary) if summary["figures"] else []),
        *([_orders(orders)] if orders["count"] else []),
        *([_statements(claims)] if claims["count"] else []),
    ]


def _figures(summary: Record) -> list[str]:
    bounds, left_out = summary["bounds"], summary["left_out"]
    roles = {
        role: errors
        for role, errors in summary["roles"].items()
        if errors["count"] or (role == PREDICTED and summary["compared"])
    }
    return [
        f"{counted(summary['figures'], 'figure')}, {summary['compared']} compared with a model: "
        + ", ".join(f"{errors['count']} {role}" for role, errors in roles.items())
        + ".",
        *(
            _errors(f"{role.capitalize()} ({FIGURE_ROLES[role]})", errors)
            for role, errors in roles.items()
        ),
        *_barely_bound(summary["barely_bound"]),
        *(
            [_errors("All that nothing was fitted to", summary["unfitted"])]
            if summary["unfitted"]["values"]
            else []
        ),
        *([_errors("Left out of their fits", left_out)] if left_out["values"] else []),
        *([_stale(summary["bound_by_stale"])] if summary["bound_by_stale"] else []),
        "Drives with more parameters fitted to their own figures than there are values to compare: "
        f"{', '.join(summary['overfitted']) or 'none'}; with more fitted in all, what was fitted "
        f"to other drives' figures or to references included: {_fitted_in_all(summary)}.",
        *([_blind(summary["blind"])] if summary["blind"]["figures"] else []),
        f"Bounds and ranges: {bounds['held']} hold"
        + (
            f", {len(bounds['missed'])} don't ({', '.join(bounds['missed'])})."
            * bool(bounds["missed"])
            or "."
        ),
        _left_out(summary),
    ]


def _barely_bound(errors: Record) -> list[str]:
    """What a wider threshold would call predicted."""
    if not errors["count"]:
        return []
    name = (
        f"Barely bound (nothing moves it by {CERTAIN_RATIO * 100:g} %: {', '.join(errors['ids'])})"
    )
    return [f"{_errors(name, errors)} They count above as what binds them."]


def _fitted_in_all(summary: Record) -> str:
    found = [
        f"{item['model']} ({item['fitted']}, {item['values']} values)"
        for item in summary["overfitted_in_all"]
    ]
    return ", ".join(found) or "none"


def _blind(blind: Record) -> str:
    parts = [
        f"{words} {_share_of(found['median_abs_error_before_ratio'])} then, "
        f"{_share_of(found['median_abs_error_ratio'])} now ({found['values']})"
        for words, found in (
            ("levels", blind["levels"]),
            ("shares and differences", blind["derived"]),
            ("all", blind["all"]),
        )
    ]
    since = ", ".join(blind["fitted_since"])
    return (
        f"Blind: {blind['figures']} of the figures were kept back until the models stood; "
        f"median error: {', '.join(parts)}."
        + (f" Now without {since}, fitted since." if since else "")
    )


def _share_of(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio * 100:.1f} %"


def _left_out(summary: Record) -> str:
    reasons = Counter(str(item["reason"]).partition(":")[0] for item in summary["without_model"])
    parts = [f"{count} {reason}" for reason, count in sorted(reasons.items())]
    return f"Not compared: {', '.join(parts) or 'none'}."


def _share(ratio: float | None) -> str:
    return "none" if ratio is None else f"{ratio * 100:.1f} %"


def _stale(models: Sequence[str]) -> str:
    return (
        "What binds the figures of these models was found on another form of them, and "
        f"`drivelab figures --bindings` finds it anew: {', '.join(models)}."
    )


def _errors(name: str, errors: Record) -> str:
    if not errors["values"]:
        return f"{name}: no values."
    return (
        f"{name}: {counted(errors['values'], 'value')} (all {counted(errors['count'], 'figure')} "
        f"come from {counted(errors['measurements'], 'measurement')}), error: median "
        f"{errors['median_abs_error_ratio'] * 100:.1f} %, worst "
        f"{errors['worst_abs_error_ratio'] * 100:.1f} % ({errors['worst_id']}); "
        f"{errors['within_5_percent']} within 5 %, {errors['within_20_percent']} within 20 %."
    )


def _orders(orders: Record) -> str:
    broken = f" ({', '.join(orders['do_not_hold'])})" if orders["do_not_hold"] else ""
    return (
        f"Orderings: {len(orders['hold'])} of {orders['count']} hold, "
        f"{len(orders['do_not_hold'])} don't{broken}, "
        f"{len(orders['not_measured'])} not measured."
    )


def _statements(claims: Record) -> str:
    judged = len(claims["hold"]) + len(claims["do_not_hold"])
    broken = f" ({', '.join(claims['do_not_hold'])})" if claims["do_not_hold"] else ""
    return (
        f"Statements: {len(claims['hold'])} of {judged} hold, "
        f"{len(claims['do_not_hold'])} don't{broken}; of those that nothing in the reviews "
        f"contradicts {claims['uncontradicted_hold']} of {claims['uncontradicted']} "
        f"({_share(claims['held_ratio'])}). {main_findings(claims)} "
        f"{len(claims['not_testable'])} not testable, {len(claims['not_measured'])} not measured."
    )


def main_findings(claims: Record) -> str:
    """Whether the reviews' main findings hold, in a sentence; empty where none was looked at."""
    main = claims["main"]
    if not main["count"]:
        return ""
    broken = main["do_not_hold"]
    judged = len(main["hold"]) + len(broken)
    if not broken:
        return f"Main findings: {len(main['hold'])} of {main['count']} hold."
    return f"Main findings: {len(main['hold'])} of {judged} hold, not {', '.join(broken)}."


def markdown(columns: Sequence[str], rows: Sequence[Row], numbers: Sequence[str] = ()) -> str:
    """A table in Markdown; columns named in `numbers` are aligned to the right."""
    rule = ["---:" if name in numbers else "---" for name in columns]
    lines = [columns, rule, *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines) + "\n"


def _cell(value: str) -> str:
    return value.replace("|", "\\|")


def figures_table(records: Sequence[Record]) -> str:
    """Figures as a table in Markdown, for the page of a drive or family."""
    return markdown(COLUMNS, figure_rows(records), NUMBERS)
