"""How often an answer that makes no known mistake alone is given the name of one, and rightly.

`python -m tests.support.naming` prints the table over every pair of mistakes and every single edit,
with a line for each edit that is named wrongly.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from autograder.exercise.model import Exercise, Kind, public_cases
from autograder.judging.agreement import agree
from autograder.judging.judge import AnswerKey, build_key, fault, judge, observe_quietly
from autograder.judging.verdict import Judgement
from autograder.probe.values import Differentiated, Observation, Raised, Tensor, output
from autograder.proving.mutants import mutants
from exercises import COURSE

KINDS = ("rightly", "wrongly", "not at all")
HEADING = (
    f"{'':42} {'pairs of mistakes':^32} {'single edits':^32}\n{'':42}"
    + "".join(f"{kind:>11}" for kind in KINDS) * 2
)


class NoSumError(Exception):
    """Two mistakes that cannot be added."""


def tally(
    exercise: Exercise, most_pairs: int | None = None, most_edits: int | None = None
) -> tuple[Counter[str], Counter[str]]:
    """How the answers with two mistakes, and those with an edit, are named.

    Of at most so many pairs of mistakes, and of at most so many edits.

    An answer with two mistakes is named rightly if each name given is one of the two. An edit of
    the reference is named rightly if, on every case of a fresh draw on which it fails, it gives
    what a named mistake gives.
    """
    key = build_key(exercise, public_cases(exercise), exercise.hidden(np.random.default_rng(7)))
    pairs, edits = Counter[str](), Counter[str]()
    for names, observations in two_mistakes(key, most_pairs):
        judgement = judge(key, observations)
        if not judgement.passed:
            pairs[_kind(judgement.misconception, set(_named(judgement)) <= names)] += 1
    fresh: AnswerKey | None = None
    for change, mutant in spread(list(mutants(exercise.reference)), most_edits):
        with contextlib.redirect_stdout(io.StringIO()):
            judgement = judge(key, observe_quietly(mutant, key.cases))
            if judgement.passed:
                continue
            rightly = False
            if judgement.misconception:
                fresh = fresh or fresh_key(exercise)
                rightly = behaves_as(fresh, mutant, _named(judgement))
        edits[_kind(judgement.misconception, rightly)] += 1
        if judgement.misconception and not rightly:
            print(f"    {exercise.name}: {change}: named {judgement.misconception!r}")
    return pairs, edits


def spread(answers: list[Any], most: int | None) -> list[Any]:
    """At most `most` of them, evenly spread."""
    if most is None or len(answers) <= most:
        return answers
    return [answers[i * len(answers) // most] for i in range(most)]


def _kind(name: str | None, rightly: bool) -> str:
    if name is None:
        return "not at all"
    return "rightly" if rightly else "wrongly"


def fresh_key(exercise: Exercise) -> AnswerKey:
    """Cases that no name has been given by: another draw of the public and of the hidden ones."""
    rng = np.random.default_rng(11)
    return build_key(exercise, exercise.cases(rng), exercise.hidden(rng))


def _named(judgement: Judgement) -> list[str]:
    """The names of the one mistake or the two that are named."""
    return [name for name in (judgement.misconception, judgement.also) if name]


def behaves_as(key: AnswerKey, answer: Any, names: Sequence[str]) -> bool:
    """True if `answer` gives what one of the mistakes gives wherever it fails, and fails somewhere.

    Each of them must be needed for that.
    """
    mistakes = [one.observations for one in key.misconceptions if one.name in names]
    observations = observe_quietly(answer, key.cases)
    failing = [
        [agree(output(theirs[at].value), output(ours.value)) for theirs in mistakes]
        for at, (case, right, ours) in enumerate(
            zip(key.cases, key.expected, observations, strict=True)
        )
        if fault(case, right, ours)
    ]
    return bool(failing) and all(map(any, failing)) and all(map(any, zip(*failing, strict=True)))


def two_mistakes(
    key: AnswerKey, most_pairs: int | None
) -> Iterator[tuple[set[str], list[Observation]]]:
    """Answers with two mistakes: both on every case, and each on every other case."""
    for one, other in spread(list(itertools.combinations(key.misconceptions, 2)), most_pairs):
        names = {one.name, other.name}
        with contextlib.suppress(NoSumError):
            yield (
                names,
                [
                    _sum(a, b, right)
                    for a, b, right in zip(
                        one.observations, other.observations, key.expected, strict=True
                    )
                ],
            )
        both = zip(one.observations, other.observations, strict=True)
        yield names, [pair[index % 2] for index, pair in enumerate(both)]


def _sum(one: Observation, other: Observation, right: Any) -> Observation:
    """What an answer shows that makes both mistakes, if their effects add up."""
    value, again = _added(one.value, other.value, right), _added(one.again, other.again, right)
    changed = one if not agree(one.arguments_after, other.arguments_after) else other
    return replace(one, value=value, again=again, arguments_after=changed.arguments_after)


def _added(one: Any, other: Any, right: Any) -> Any:
    """`one` plus `other` minus `right`; where one of them is right, simply the other."""
    if isinstance(one, Raised) or isinstance(other, Raised):
        return one if isinstance(one, Raised) else other
    if type(one) is not type(right) or type(other) is not type(right):
        raise NoSumError
    if isinstance(right, Differentiated):
        return Differentiated(
            _added(one.output, other.output, right.output),
            _added(one.gradients, other.gradients, right.gradients),
        )
    if isinstance(right, Tensor):
        return Tensor(_added(one.array, other.array, right.array), right.gradient)
    if isinstance(right, tuple | list):
        if not len(one) == len(other) == len(right):
            raise NoSumError
        return type(right)(map(_added, one, other, right))
    if isinstance(right, dict):
        if not one.keys() == other.keys() == right.keys():
            raise NoSumError
        return {name: _added(one[name], other[name], right[name]) for name in right}
    if isinstance(right, np.ndarray):
        return _added_arrays(one, other, right)
    if agree(one, right) or agree(other, right):
        return other if agree(one, right) else one
    if isinstance(right, float | np.floating):
        return one + other - right
    raise NoSumError


def _added_arrays(one: np.ndarray, other: np.ndarray, right: np.ndarray) -> np.ndarray:
    if not one.shape == other.shape == right.shape:
        raise NoSumError
    if not one.dtype == other.dtype == right.dtype:
        raise NoSumError
    added = one ^ other ^ right if right.dtype.kind == "b" else one + other - right
    found = np.where(one == right, other, np.where(other == right, one, added))
    return np.asarray(found, right.dtype)


def main() -> None:
    """Print the table, an exercise a line."""
    total = Counter[str](), Counter[str]()
    print(HEADING)
    for assignment in COURSE.values():
        for exercise in assignment.exercises:
            if exercise.kind is Kind.TEST:  # its names say exactly what it does
                continue
            found = tally(exercise)
            print(line(f"{assignment.name}.{exercise.name}", found), flush=True)
            for sums, counts in zip(total, found, strict=True):
                sums.update(counts)
    print(line("all", total))


def line(name: str, found: tuple[Counter[str], Counter[str]]) -> str:
    """A row of the table."""
    return f"{name:42}" + "".join(f"{counts[kind]:11}" for counts in found for kind in KINDS)


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main()
