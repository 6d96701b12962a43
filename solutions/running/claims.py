"""Claims: the assertions of a page, and the report of an assertion that fails.

A claim is an `assert` in a cell. If a claim fails, the build shows it and the numbers in it. A
claim about time is written with `claim_about_time` instead, because a true claim can fail on a busy
machine. The build tries such a page again, and judges the claim only when it keeps the executed
page.
"""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from types import TracebackType
from typing import Any

from .progress import say

JUDGED = "COURSE_TIME_CLAIMS"
"""The variable that is set to "judged" if a failing claim about time must stop the page."""

LONGEST = 60
"""The number of characters of a value that a message shows."""


class TimeClaimFailed(AssertionError):
    """A claim about time does not hold in this run."""


def claim_about_time(holds: bool, claim: str) -> None:
    """Check a claim about measured time: `holds` is its truth, `claim` its text.

    Raises TimeClaimFailed if the claim is false and the executed page will be kept. Otherwise a
    false claim is only reported as progress.
    """
    if not holds and os.environ.get(JUDGED) == "judged":
        raise TimeClaimFailed(claim)
    if not holds:
        say(f"this did not hold here: {claim}")


def paired_seconds(
    calls: Mapping[str, Callable[[], Any]], rounds: int = 7
) -> dict[str, list[float]]:
    """Return the seconds of each call in each round; a round makes every call once, in turn.

    A disturbance of the machine then affects all calls. Each call is made once before the rounds,
    as a warm-up.
    """
    for call in calls.values():
        call()
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            begin = perf_counter()
            call()
            taken[name].append(perf_counter() - begin)
    return taken


def median_ratio(ones: list[float], others: list[float]) -> float:
    """Return the median over the rounds of the ratio of the two times."""
    return median(one / other for one, other in zip(ones, others, strict=True))


def explain_failures(shell: Any) -> None:
    """Make an IPython shell show the numbers in an assertion that fails."""

    def explain(
        shell: Any, kind: type, error: AssertionError, traceback: TracebackType, tb_offset: int = 0
    ) -> None:
        while traceback.tb_next:  # the assertion failed in the last frame
            traceback = traceback.tb_next
        if not error.args:
            frame = traceback.tb_frame
            source = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
            names = frame.f_globals | frame.f_locals
            error.args = (describe(source, traceback.tb_lineno, names),)
        shell.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset)

    shell.set_custom_exc((AssertionError,), explain)


def describe(source: str, line: int, names: Mapping[str, Any]) -> str:
    """Return the assertion at `line` of `source`, and the values of the numbers in it.

    names: name -> value. The assertion's function calls are not executed.
    """
    found = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not found:
        return ""
    test = found[0].test
    values = {}
    for node in ast.walk(test):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not _calls(node):
            text = ast.unparse(node)
            try:
                value = eval(compile(ast.Expression(node), "<claim>", "eval"), dict(names))
            except Exception:  # a variable of a comprehension has no value here
                continue
            if _is_number(value):
                values[text] = f"{value:.6g}"
    numbers = ", ".join(f"{text} = {value[:LONGEST]}" for text, value in values.items())
    return f"{ast.unparse(test)}" + (f", where {numbers}" if numbers else "")


def _calls(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Call) for inner in ast.walk(node))


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, bool | str) and float(value) == float(value)
    except (TypeError, ValueError, RuntimeError):
        return False
