"""Count how often an answer that makes no single known mistake is given a name, and rightly.

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
from autograder.judging.faults import fault
from autograder.judging.judge import judge
from autograder.judging.keys import AnswerKey, build_key, observe_quietly
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
    """Raised for two mistakes whose effects cannot be added."""


def tally(
    exercise: Exercise, most_pairs: int | None = None, most_edits: int | None = None
) -> tuple[Counter[str], Counter[str]]:
    """Count how the answers with two mistakes, and those with an edit, are named.

    most_pairs, most_edits: how many pairs of mistakes and how many edits to try at most.

    An answer with two mistakes is named rightly if each name given is one of the two. An edit of
    the reference is named rightly if, on every case of a fresh draw on which it fails, it
    returns the same as a named mistake.
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
    """Return at most `most` of the answers, evenly spread."""
    if most is None or len(answers) <= most:
        return answers
    return [answers[i * len(answers) // most] for i in range(most)]


def _kind(name: str | None, rightly: bool) -> str:
    if name is None:
        return "not at all"
    return "rightly" if rightly else "wrongly"


def fresh_key(exercise: Exercise) -> AnswerKey:
    """Return a key with cases that no name was based on: another draw, public and hidden."""
    rng = np.random.default_rng(11)
    return build_key(exercise, exercise.cases(rng), exercise.hidden(rng))


def _named(judgement: Judgement) -> list[str]:
    """Return the names of the one or two mistakes that are named."""
    return [name for name in (judgement.misconception, judgement.also) if name]


def behaves_as(key: AnswerKey, answer: Any, names: Sequence[str]) -> bool:
    """Return True if `answer` fails somewhere, and always with the result of one of the mistakes.

    Each of the mistakes must be needed for that.
    """
    mistakes = [
        misconception.observations
        for misconception in key.misconceptions
        if misconception.name in names
    ]
    observations = observe_quietly(answer, key.cases)
    failing = [
        [agree(output(mistake[at].value), output(observation.value)) for mistake in mistakes]
        for at, (case, right, observation) in enumerate(
            zip(key.cases, key.expected, observations, strict=True)
        )
        if fault(case, right, observation)
    ]
    return bool(failing) and all(map(any, failing)) and all(map(any, zip(*failing, strict=True)))


def two_mistakes(
    key: AnswerKey, most_pairs: int | None
) -> Iterator[tuple[set[str], list[Observation]]]:
    """Yield answers with two mistakes: both on every case, and each on every other case."""
    for first, second in spread(list(itertools.combinations(key.misconceptions, 2)), most_pairs):
        names = {first.name, second.name}
        with contextlib.suppress(NoSumError):
            yield (
                names,
                [
                    _sum(a, b, right)
                    for a, b, right in zip(
                        first.observations, second.observations, key.expected, strict=True
                    )
                ],
            )
        both = zip(first.observations, second.observations, strict=True)
        yield names, [pair[index % 2] for index, pair in enumerate(both)]


def _sum(first: Observation, second: Observation, right: Any) -> Observation:
    """Return the observation of an answer that makes both mistakes, if their effects add up."""
    value, again = (
        _added(first.value, second.value, right),
        _added(first.again, second.again, right),
    )
    changed = first if not agree(first.arguments_after, second.arguments_after) else second
    return replace(first, value=value, again=again, arguments_after=changed.arguments_after)


def _added(first: Any, second: Any, right: Any) -> Any:
    """Return `first` plus `second` minus `right`; where one of them is right, simply the other."""
    if isinstance(first, Raised) or isinstance(second, Raised):
        return first if isinstance(first, Raised) else second
    if type(first) is not type(right) or type(second) is not type(right):
        raise NoSumError
    if isinstance(right, Differentiated):
        return Differentiated(
            _added(first.output, second.output, right.output),
            _added(first.gradients, second.gradients, right.gradients),
        )
    if isinstance(right, Tensor):
        return Tensor(_added(first.array, second.array, right.array), right.gradient)
    if isinstance(right, tuple | list):
        if not len(first) == len(second) == len(right):
            raise NoSumError
        return type(right)(map(_added, first, second, right))
    if isinstance(right, dict):
        if not first.keys() == second.keys() == right.keys():
            raise NoSumError
        return {name: _added(first[name], second[name], right[name]) for name in right}
    if isinstance(right, np.ndarray):
        return _added_arrays(first, second, right)
    if agree(first, right) or agree(second, right):
        return second if agree(first, right) else first
    if isinstance(right, float | np.floating):
        return first + second - right
    raise NoSumError


def _added_arrays(first: np.ndarray, second: np.ndarray, right: np.ndarray) -> np.ndarray:
    if not first.shape == second.shape == right.shape:
        raise NoSumError
    if not first.dtype == second.dtype == right.dtype:
        raise NoSumError
    added = first ^ second ^ right if right.dtype.kind == "b" else first + second - right
    total = np.where(first == right, second, np.where(second == right, first, added))
    return np.asarray(total, right.dtype)


def main() -> None:
    """Print the table, a line for each exercise."""
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


def line(name: str, counters: tuple[Counter[str], Counter[str]]) -> str:
    """Return a row of the table."""
    return f"{name:42}" + "".join(f"{counts[kind]:11}" for counts in counters for kind in KINDS)


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main()
