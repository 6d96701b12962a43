"""The self-check in the student's notebook: the grader's engine on the public cases.

It needs only NumPy and the release's `<assignment>.cases`, neither a reference nor a sandbox.
"""

from __future__ import annotations

import copy
import html
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..exercise.model import Assignment, Case, Raises, public_cases
from ..judging.judge import judge
from ..judging.keys import AnswerKey, KeyedMisconception, build_key, observe_quietly
from ..judging.verdict import Judgement, Verdict
from ..judging.words import NAMELESS, Names
from ..probe import wire
from ..probe.observe import is_stub
from ..probe.values import Observation, Raised
from . import ShadowedModuleHint
from .pictures import case_pictures, with_code

CHANGED_SINCE = "If you have changed the cell above since you ran it, run it again, then this one."
"""The first line for an answer that behaves like the released cell, if an edit may not have run."""

cells_are_fresh = False
"""True if each check first runs the cells above it; the exercise pages of the book set it."""

NAME_UNKNOWN = (
    "If a given cell above imports or defines that name, run that cell, then your answer, then "
    "this one."
)
"""The advice after a NameError, because the kernel may have been restarted."""

NOT_THE_GRADE = "This is the self-check on public cases, not the grade: the grader has other cases."

_TOO_LARGE = Judgement(
    Verdict.OUTPUT,
    "Its results are too large to be compared. Return values of the shapes in the docstring.",
)

_JUDGEMENTS: dict[str, Judgement] = {}
"""The judgement of the newest check of each exercise since the kernel started."""

_KEYS: dict[Path, tuple[tuple[int, int], list[AnswerKey]]] = {}
"""The keys of each `.cases` file that was read, with the file's size and time when it was read."""


def check(function: Callable[..., Any] | None = None) -> Report | Progress:
    """Try `function` on the public cases of the exercise with its name, and report what is wrong.

        def row_mean(x):
            return x.mean(axis=0)

        check(row_mean)  # the cell shows: row_mean: not yet ... Which axis is a row?

    Without an argument, report how many exercises were right when they were last checked. Raises
    LookupError if no `.cases` file in the notebook's folder has an exercise of that name.
    """
    if function is None:
        return Progress({key.exercise: _JUDGEMENTS.get(key.exercise) for key in _keys()})
    name = getattr(function, "__name__", type(function).__name__)
    with ShadowedModuleHint():
        report = _run_check(name, _find_key(name), function)
    _JUDGEMENTS[name] = report.judgement
    return report


def import_torch_if_needed() -> None:
    """Import torch, before an answer does, if an exercise in the notebook's folder needs it."""
    try:
        needed = any(key.needs_torch for key in _keys())
    except (LookupError, ValueError):
        return  # `check` will report the problem with the files
    if needed:
        importlib.import_module("torch")


def _run_check(name: str, key: AnswerKey, function: Callable[..., Any]) -> Report:
    if is_stub(function):
        message = "This is the stub, not answered yet."
        if not cells_are_fresh:
            message = "If not: this is the stub, not answered yet."
        unanswered = Judgement(Verdict.MISSING, message)
        return Report(name, unanswered, NOT_THE_GRADE)
    if key.needs_torch:
        importlib.import_module("torch")  # the answer itself may import it only when it is called
    try:
        observations = observe_quietly(function, key.cases, key.forbidden)
    except wire.WireError:
        return Report(name, _TOO_LARGE, NOT_THE_GRADE)
    judgement = judge(key, observations)
    if judgement.case is None:
        return Report(name, judgement, NOT_THE_GRADE)
    failed = judgement.case
    return Report(  # with copies, because the key has to judge the next answer too
        name,
        judgement,
        NOT_THE_GRADE,
        copy.deepcopy(key.cases[failed]),
        copy.deepcopy(key.expected[failed]),
        observations[failed],
        key.names,
    )


def _keys() -> Iterator[AnswerKey]:
    """Yield the key of every exercise in the notebook's folder. Raises LookupError if none."""
    files = sorted(Path.cwd().glob("*.cases"))
    if not files:
        raise LookupError(
            f"No .cases file in {Path.cwd()}: start the notebook in the folder of the assignment, "
            "beside the .cases file that it came with."
        )
    for file in files:
        yield from _read_once(file)


def _read_once(path: Path) -> list[AnswerKey]:
    """Return the keys in `path`, reading the file again only after it has changed.

    Reading and decoding a file takes longer than judging an answer.
    """
    status = path.stat()
    version = status.st_size, status.st_mtime_ns
    cached_version, keys = _KEYS.get(path, (None, []))
    if version != cached_version:
        keys = read_cases(path)
        _KEYS[path] = version, keys
    return keys


def _find_key(name: str) -> AnswerKey:
    names = []
    for key in _keys():
        if key.exercise == name:
            return key
        names.append(key.exercise)
    raise LookupError(f"No exercise is called {name!r}. The exercises are: {', '.join(names)}.")


def write_cases(assignment: Assignment, path: Path) -> None:
    """Write the public cases of `assignment`: inputs, right values, and what each mistake does."""
    keys = [build_key(exercise, public_cases(exercise), ()) for exercise in assignment.exercises]
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
                            _raises(case),
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
        tuple(
            _misconception(name, hint, observations, cases)
            for name, hint, observations in key["misconceptions"]
        ),
        Names(*key["names"]),
        key["released"],
        key["forbidden"],
        is_test=key["is_test"],
    )


def _without_inputs(
    observations: Sequence[Observation], cases: Sequence[Case]
) -> tuple[Observation, ...]:
    """Omit unchanged arguments, which the file would otherwise repeat for every misconception."""
    return tuple(
        replace(observation, arguments_after=())
        if wire.encode(observation.arguments_after) == wire.encode(_inputs_of(case))
        else observation
        for observation, case in zip(observations, cases, strict=True)
    )


def _inputs_of(case: Case) -> tuple[Any, ...]:
    """Return the arguments of a case in the order in which an observation has them."""
    return (*case.arguments, *(case.keywords[name] for name in sorted(case.keywords)))


def _raises(case: Case) -> tuple[str, tuple[str, ...]] | None:
    """Return the exception that a case asks for, as plain data."""
    return (case.raises.type_name, case.raises.mentions) if case.raises else None


def _case(
    note: str,
    arguments: Any,
    keywords: Any,
    setup: Any,
    exception: tuple[str, tuple[str, ...]] | None,
    tolerance: float | None,
) -> Case:
    raises = Raises(*exception) if exception else None
    return Case(note, _native(arguments), _native(keywords), setup, raises, tolerance)


def _native(argument: Any) -> Any:
    """Return an argument with its integer arrays in this machine's index dtype.

    In a browser, NumPy is a 32-bit build, in which `np.take` and `np.bincount` refuse 64-bit
    indices.
    """
    if isinstance(argument, tuple | list):
        return type(argument)(map(_native, argument))
    if isinstance(argument, dict):
        return {name: _native(value) for name, value in argument.items()}
    if isinstance(argument, np.ndarray) and argument.dtype == np.int64:
        narrow = argument.astype(np.intp)
        return narrow if np.array_equal(narrow, argument) else argument
    return argument


def _misconception(
    name: str, hint: str, observations: tuple[Observation, ...], cases: Sequence[Case]
) -> KeyedMisconception:
    with_inputs = tuple(
        observation
        if observation.arguments_after
        else replace(observation, arguments_after=_inputs_of(case))
        for observation, case in zip(observations, cases, strict=True)
    )
    return KeyedMisconception(name, hint, lambda: with_inputs)


@dataclass(frozen=True)
class Report:
    """The result of a self-check, for a notebook (HTML with pictures) and a terminal (text)."""

    exercise: str
    judgement: Judgement
    footnote: str
    case: Case | None = None
    expected: Any = None
    observation: Observation | None = None
    names: Names = NAMELESS

    def __repr__(self) -> str:
        """Return the report as text, for a terminal."""
        return "\n".join([self._headline(), *self._details(), self.footnote])

    def _repr_html_(self) -> str:
        colour = "#1b7f3b" if self.judgement.passed else "#b3261e"
        lines = "".join(f"<p>{with_code(line)}</p>" for line in self._details())
        figures = ""
        if self.observation is not None and self.case is not None:
            value = self.observation.value
            figures = case_pictures(self.exercise, self.case, value, self.expected, self.names)
        return (
            f'<div style="border-left:4px solid {colour};padding-left:1em">'
            f"<p><strong>{html.escape(self._headline())}</strong></p>{lines}{figures}"
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
    """The judgement of the newest check of each exercise, or None if it was not checked."""

    judgements: Mapping[str, Judgement | None]

    def __repr__(self) -> str:
        """Return the report as text: how many exercises are right, and which are left."""
        items = self.judgements.items()
        right = sum(judgement is not None and judgement.passed for _, judgement in items)
        wrong = [name for name, judgement in items if judgement and not judgement.passed]
        lines = [f"{right} of {len(items)} right on the public cases."]
        if wrong:
            lines.append(f"Not yet: {', '.join(wrong)}.")
        unchecked = [name for name, judgement in items if judgement is None]
        if unchecked:
            lines.append(f"Not checked: {', '.join(unchecked)}.")
        return "\n".join(lines)
