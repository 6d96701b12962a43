"""The self-check in the student's notebook: the grader's engine on the public cases.

It needs NumPy and the release's `<assignment>.cases`, no reference and no sandbox.
"""

from __future__ import annotations

import copy
import html
import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..exercise.model import Assignment, Case, Raises, public_cases
from ..judging.agreement import agree
from ..judging.judge import AnswerKey, build_key, judge, observe_quietly
from ..judging.modules import wrong_gradients
from ..judging.naming import KeyedMisconception
from ..judging.verdict import Judgement, Verdict
from ..judging.words import NAMELESS, Names, by_parameter
from ..probe import wire
from ..probe.observe import is_stub
from ..probe.values import Differentiated, Observation, Raised, output
from . import NamingWhatIsInTheWay
from .pictures import pictures

CHANGED_SINCE = "If you have changed the cell above since you ran it, run it again, then this one."
"""What comes first where an answer does what the released cell does: it may not have been run."""

cells_are_fresh = False
"""True where each check runs the cells above it first: the course's own page sets it."""

NAME_UNKNOWN = "If the first code cell of the notebook imports that name, run it, then this one."
"""What follows a NameError: the kernel may have been restarted."""

NOT_THE_GRADE = "This is the self-check on public cases, not the grade: the grader has other cases."


_SAID: dict[str, Judgement] = {}
"""What the newest check of each exercise has said, since the kernel started."""

_READ: dict[Path, tuple[tuple[int, int], list[AnswerKey]]] = {}
"""The keys in each `.cases` file that was read, with the size and time of the file at that time."""


def check(function: Callable[..., Any] | None = None) -> Report | Progress:
    """Try `function` on the public cases of the exercise of its name, and say what is wrong.

    Without an argument, say how many exercises the checks before have found right. Raises
    LookupError if no `.cases` file beside the notebook knows an exercise of that name.
    """
    if function is None:
        return Progress({key.exercise: _SAID.get(key.exercise) for key in _keys()})
    name = getattr(function, "__name__", type(function).__name__)
    with NamingWhatIsInTheWay():
        report = _checked(name, _find_key(name), function)
    _SAID[name] = report.judgement
    return report


def import_torch_if_needed() -> None:
    """Import torch if an exercise beside the notebook needs it, before an answer does."""
    try:
        needed = any(key.needs_torch for key in _keys())
    except (LookupError, ValueError):
        return  # `check` will say what is wrong with the files
    if needed:
        importlib.import_module("torch")


def _checked(name: str, key: AnswerKey, function: Callable[..., Any]) -> Report:
    if is_stub(function):
        message = "This is the stub, not answered yet."
        if not cells_are_fresh:
            message = "If not: this is the stub, not answered yet."
        unanswered = Judgement(Verdict.MISSING, message)
        return Report(name, unanswered, NOT_THE_GRADE)
    if key.needs_torch:
        importlib.import_module("torch")  # the answer may do so only when it is called
    observations = observe_quietly(function, key.cases, key.forbidden)
    judgement = judge(key, observations)
    if judgement.case is None:
        return Report(name, judgement, NOT_THE_GRADE)
    failed = judgement.case
    return Report(  # of copies: the key judges the next answer, too
        name,
        judgement,
        NOT_THE_GRADE,
        copy.deepcopy(key.cases[failed]),
        copy.deepcopy(key.expected[failed]),
        observations[failed],
        key.names,
    )


def _keys() -> Iterator[AnswerKey]:
    """The key of every exercise beside the notebook. Raises LookupError if there is none."""
    files = sorted(Path.cwd().glob("*.cases"))
    if not files:
        raise LookupError(
            f"No .cases file in {Path.cwd()}: start the notebook in the folder of the assignment, "
            "beside the .cases file that it came with."
        )
    for file in files:
        yield from _read_once(file)


def _read_once(path: Path) -> list[AnswerKey]:
    """Return the keys in `path`, which is read again only after it has changed.

    To read and decode a file takes longer than to judge an answer by it.
    """
    status = path.stat()
    now = status.st_size, status.st_mtime_ns
    before, keys = _READ.get(path, (None, []))
    if now != before:
        keys = read_cases(path)
        _READ[path] = now, keys
    return keys


def _find_key(name: str) -> AnswerKey:
    known = []
    for key in _keys():
        if key.exercise == name:
            return key
        known.append(key.exercise)
    raise LookupError(f"No exercise is called {name!r}. Here are: {', '.join(known)}.")


def write_cases(assignment: Assignment, path: Path) -> None:
    """Write the public cases of `assignment`: inputs, right values, and what each mistake does."""
    keys = [build_key(one, public_cases(one), ()) for one in assignment.exercises]
    path.write_bytes(
        wire.encode(
            [
                {
                    "exercise": key.exercise,
                    "cases": [
                        (
                            case.note,
                            case.arguments,
                            case.keywords,
                            case.setup,
                            _asked(case),
                            case.tolerance,
                        )
                        for case in key.cases
                    ],
                    "expected": key.expected,
                    "misconceptions": [
                        (wrong.name, wrong.hint, _without_inputs(wrong.observations, key.cases))
                        for wrong in key.misconceptions
                    ],
                    "names": (key.names.parameters, key.names.returned),
                    "released": key.released,
                    "forbidden": key.forbidden,
                    "is_test": key.is_test,
                }
                for key in keys
            ]
        )
    )


def read_cases(path: Path) -> list[AnswerKey]:
    """Read what `write_cases` wrote. Raises ValueError, naming the file, if it is damaged."""
    try:
        return [_key(key) for key in wire.decode(path.read_bytes())]
    except (wire.WireError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path.name} is damaged ({error}); download the assignment again."
        ) from None


def _key(key: dict[str, Any]) -> AnswerKey:
    cases = tuple(_case(*case) for case in key["cases"])
    return AnswerKey(
        key["exercise"],
        cases,
        len(cases),
        key["expected"],
        tuple(_known(name, hint, did, cases) for name, hint, did in key["misconceptions"]),
        Names(*key["names"]),
        key["released"],
        key["forbidden"],
        is_test=key["is_test"],
    )


def _without_inputs(
    observations: Sequence[Observation], cases: Sequence[Case]
) -> tuple[Observation, ...]:
    """Leave out the arguments that a call did not change: a file would hold them once a mistake."""
    return tuple(
        replace(one, arguments_after=())
        if wire.encode(one.arguments_after) == wire.encode(_inputs_of(case))
        else one
        for one, case in zip(observations, cases, strict=True)
    )


def _inputs_of(case: Case) -> tuple[Any, ...]:
    """The arguments of a case in the order in which an observation has them."""
    return (*case.arguments, *(case.keywords[name] for name in sorted(case.keywords)))


def _asked(case: Case) -> tuple[str, tuple[str, ...]] | None:
    """The exception that a case asks for, as plain data."""
    return (case.raises.type_name, case.raises.mentions) if case.raises else None


def _case(
    note: str,
    arguments: Any,
    keywords: Any,
    setup: Any,
    asked: tuple[str, tuple[str, ...]] | None,
    tolerance: float | None,
) -> Case:
    raises = Raises(*asked) if asked else None
    return Case(note, _native(arguments), _native(keywords), setup, raises, tolerance)


def _native(argument: Any) -> Any:
    """Return an argument with its whole numbers as NumPy makes them on this machine.

    A browser's NumPy has 32 bits: there `np.take` and `np.bincount` refuse indices of 64.
    """
    if isinstance(argument, tuple | list):
        return type(argument)(map(_native, argument))
    if isinstance(argument, dict):
        return {name: _native(value) for name, value in argument.items()}
    if isinstance(argument, np.ndarray) and argument.dtype == np.int64:
        narrow = argument.astype(np.intp)
        return narrow if np.array_equal(narrow, argument) else argument
    return argument


def _known(
    name: str, hint: str, observations: tuple[Observation, ...], cases: Sequence[Case]
) -> KeyedMisconception:
    with_inputs = tuple(
        one if one.arguments_after else replace(one, arguments_after=_inputs_of(case))
        for one, case in zip(observations, cases, strict=True)
    )
    return KeyedMisconception(name, hint, lambda: with_inputs)


@dataclass(frozen=True)
class Report:
    """What the self-check found, for a notebook (HTML with pictures) and for a terminal (text)."""

    exercise: str
    judgement: Judgement
    footnote: str
    case: Case | None = None
    expected: Any = None
    observation: Observation | None = None
    names: Names = NAMELESS

    def __repr__(self) -> str:
        """The report as text, for a terminal."""
        return "\n".join([self._headline(), *self._details(), self.footnote])

    def _repr_html_(self) -> str:
        colour = "#1b7f3b" if self.judgement.passed else "#b3261e"
        lines = "".join(f"<p>{_with_code(line)}</p>" for line in self._details())
        drawn = ""
        if self.observation is not None and self.case is not None:
            drawn = _made(self.exercise, self.case)
            drawn += _pictures(self.case, self.observation.value, self.expected, self.names)
        return (
            f'<div style="border-left:4px solid {colour};padding-left:1em">'
            f"<p><strong>{html.escape(self._headline())}</strong></p>{lines}{drawn}"
            f"<p><small>{html.escape(self.footnote)}</small></p></div>"
        )

    def _headline(self) -> str:
        if self.judgement.passed:
            return f"{self.exercise}: right on the public cases"
        return f"{self.exercise}: not yet ({self.judgement.verdict.value})"

    def _details(self) -> list[str]:
        details = [self.judgement.message]
        if self.judgement.verdict is Verdict.MISSING and not cells_are_fresh:
            details.insert(0, CHANGED_SINCE)
        value = self.observation and self.observation.value
        if isinstance(value, Raised) and value.type_name == "NameError":
            details.append(NAME_UNKNOWN)
        if self.judgement.misconception:
            details.append(f"This looks like: {self.judgement.misconception}.")
            details.append(f"Ask yourself: {self.judgement.hint}")
        return details


@dataclass(frozen=True)
class Progress:
    """What the newest check of each exercise has said, or None where there was no check."""

    said: Mapping[str, Judgement | None]

    def __repr__(self) -> str:
        """The report as text: how many are right, and what is left."""
        right = sum(one is not None and one.passed for one in self.said.values())
        wrong = [name for name, one in self.said.items() if one is not None and not one.passed]
        lines = [f"{right} of {len(self.said)} right on the public cases."]
        if wrong:
            lines.append(f"Not yet: {', '.join(wrong)}.")
        unchecked = [name for name, one in self.said.items() if one is None]
        if unchecked:
            lines.append(f"Not checked: {', '.join(unchecked)}.")
        return "\n".join(lines)


def _pictures(case: Case, given: Any, expected: Any, names: Names) -> str:
    """The inputs and the output; and where that is right, the first gradient that is wrong."""
    drawn = pictures(_inputs(case, names), output(given), output(expected), names.returned)
    if not isinstance(expected, Differentiated) or not isinstance(given, Differentiated):
        return drawn
    right, mine = expected.gradients, given.gradients
    if isinstance(right, dict) and isinstance(mine, dict) and agree(expected.output, given.output):
        for name, _ in wrong_gradients(right, mine):
            title = f"gradient of {by_parameter(name, names.parameters).replace('`', '')}"
            return drawn + pictures({}, mine[name], right[name], name=title)
    return drawn


def _inputs(case: Case, names: Names) -> dict[str, Any]:
    """The arguments of a call by the names of the parameters."""
    given = {
        by_parameter(f"argument {i}", names.parameters).strip("`"): one
        for i, one in enumerate(case.arguments, start=1)
    }
    return given | case.keywords


def _made(exercise: str, case: Case) -> str:
    """How the module of a case was made, if it is about a class."""
    if case.setup is None:
        return ""
    parts = [repr(one) for one in case.setup.arguments]
    parts += [f"{name}={value!r}" for name, value in case.setup.keywords.items()]
    made = html.escape(f"{exercise}({', '.join(parts)})")
    return f"<p>The module was made by <code>{made}</code>.</p>"


def _with_code(line: str) -> str:
    """A line of text as HTML; what stands between backticks is code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(line))
