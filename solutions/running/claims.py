"""Claims: what a page asserts, and what is said when it does not hold.

A claim is an `assert` in a cell. Where one fails, the build shows the claim and the numbers that
stand in it. A claim about time is written with `claim_about_time` instead, because a machine that
is busy can make a true one fail: the build tries such a page again, and judges the claim only where
the page is executed to be kept.
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
"""The variable that says "judged" where a claim about time that fails stops the page."""

LONGEST = 60
"""Characters of a value that a message shows."""


class TimeClaimFailed(AssertionError):
    """A claim about time does not hold in this run."""


def claim_about_time(holds: bool, claim: str) -> None:
    """Claim that something that was measured with a clock `holds`; `claim` says it in words.

    Raises TimeClaimFailed where a page is executed to be kept. Elsewhere it is only told.
    """
    if not holds and os.environ.get(JUDGED) == "judged":
        raise TimeClaimFailed(claim)
    if not holds:
        say(f"this did not hold here: {claim}")


def paired_seconds(
    calls: Mapping[str, Callable[[], Any]], rounds: int = 7
) -> dict[str, list[float]]:
    """Return the seconds of each call in each round; a round makes every call once, in turn.

    What disturbs the machine for a while then disturbs them all. Each call is made once before.
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
    """Return the median, over the rounds, of how many times as long one takes as the other."""
    return median(one / other for one, other in zip(ones, others, strict=True))


def explain_failures(shell: Any) -> None:
    """Let an IPython shell say, where an assertion fails, which numbers stood in it."""

    def explain(
        shell: Any, kind: type, error: AssertionError, traceback: TracebackType, tb_offset: int = 0
    ) -> None:
        while traceback.tb_next:  # the last frame is where it failed
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

    names: what the names in it mean. Nothing in it is called.
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
            except Exception:  # a name of a comprehension, which has no value here
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
