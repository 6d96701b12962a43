"""Find submissions that are more alike than is usual in their class: a hint to look, no verdict.

Short answers are alike anyway, and right answers more so. Two answers are therefore compared with
all other pairs of the class, and a class with itself after its answers were dealt out anew.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np

from ..course.helper import Helper
from .fingerprints import LONGEST
from .model import Alike, Likeness, Pair, Similarity

LEAST = 10
"""The number of answers to an exercise below which nothing can be said about what is usual."""

SHUFFLES = 10
"""How often the answers are dealt out anew, to see what chance alone makes alike."""

MOST_PAIRS, MOST_EXERCISES = 20, 4
"""The numbers of pairs in a report, and of exercises that it names for each."""

BATCH = 100
"""The number of answers that the helper reads at once."""

SECONDS = 20.0
"""Seconds of processor time for a batch; an ordinary one needs a fifth of a second."""

Advance = Callable[[int, int, str], None]
"""Called with the number of steps done, that of all, and the name of a step; by any thread."""

Marks = tuple[int, ...]
Answers = Mapping[str, Mapping[str, str]]
"""Exercise -> student -> the source of the answer."""


def similarity(
    answers: Answers,
    references: Mapping[str, str],
    advance: Advance = lambda done, total, name: None,
) -> Similarity | None:
    """Return how alike the answers are to each other and to the references, by exercise.

    None if no exercise has LEAST answers.
    """
    sources = {source for by_student in answers.values() for source in by_student.values()}
    marks = _fingerprints([*sources, *references.values()], advance)
    left_out = 0
    pairs, to_reference = [], []
    for done, (exercise, by_student) in enumerate(answers.items()):
        advance(done, len(answers), exercise)
        known = {
            student: mark
            for student, source in by_student.items()
            if (mark := marks.get(source)) is not None
        }
        left_out += len(by_student) - len(known)
        if len(known) < LEAST:
            continue
        pairs.append(_pairs(exercise, known))
        reference = marks.get(references.get(exercise, ""))
        if reference is not None:
            to_reference.append(_to_reference(exercise, known, reference))
    if answers:
        advance(len(answers), len(answers), "all exercises")
    if not pairs:
        return None
    students = sorted({student for by_student in answers.values() for student in by_student})
    return Similarity(
        _between_students(students, pairs),
        _with_reference(students, to_reference) if to_reference else None,
        left_out,
    )


def _fingerprints(sources: Sequence[str], advance: Advance) -> dict[str, Marks]:
    """Return the fingerprints of each source that can be read, by source.

    A source that ends the helper, or takes too long, takes only itself out of the comparison.
    """
    short = sorted({source for source in sources if len(source) <= LONGEST})
    batches = [short[start : start + BATCH] for start in range(0, len(short), BATCH)]
    marks: dict[str, Marks] = {}
    helpers = len(os.sched_getaffinity(0))
    number = count(1)  # a thread gets each number alone

    def read() -> None:
        advance(next(number), len(batches), "answers read")

    with ThreadPoolExecutor(helpers) as pool:
        parts = (batches[at::helpers] for at in range(helpers))
        for found in pool.map(partial(_ask_all, read=read), parts):
            marks |= found
    return marks


def _ask_all(batches: Sequence[Sequence[str]], read: Callable[[], None]) -> dict[str, Marks]:
    """Return the fingerprints of all sources of some batches, from a helper of their own.

    `read` is called after each batch.
    """
    helper = Helper("autograder.report.fingerprints", 2**26, 4 * SECONDS)
    marks: dict[str, Marks] = {}
    try:
        for batch in batches:
            found = _ask(helper, batch)
            for parts in [found] if found is not None else (_ask(helper, [one]) for one in batch):
                marks |= parts or {}
            read()
    finally:
        helper.end()
    return marks


def _ask(helper: Helper, sources: Sequence[str]) -> dict[str, Marks] | None:
    answer = helper.ask({"sources": sources, "seconds": SECONDS})
    if answer is None:
        return None
    found = zip(sources, answer["fingerprints"], strict=True)
    return {source: tuple(mark) for source, mark in found if mark is not None}


@dataclass(frozen=True)
class _Compared:
    """An exercise: the students who answered, how alike their answers are, and how rare that is.

    `alike` and `rarity` are square for pairs of students, and of one axis for the reference. The
    rarity is -log10 of the share of the class that is at least as alike.
    """

    exercise: str
    students: tuple[str, ...]
    alike: np.ndarray
    usual: float
    rarity: np.ndarray


def _pairs(exercise: str, marks: Mapping[str, Marks]) -> _Compared:
    students = tuple(sorted(marks))
    present = _features([marks[student] for student in students])
    common = present @ present.T
    # Marks that only one answer has are in no product, and still make answers different.
    sizes = np.array([len(marks[student]) for student in students], dtype=np.float32)
    alike = common / np.maximum(sizes[:, None] + sizes[None, :] - common, 1)
    upper = alike[np.triu_indices(len(students), 1)]
    return _Compared(exercise, students, alike, float(np.median(upper)), _rarity(alike, upper))


def _to_reference(exercise: str, marks: Mapping[str, Marks], reference: Marks) -> _Compared:
    students = tuple(sorted(marks))
    right = Counter(reference)
    alike = np.array([_alike(Counter(marks[student]), right) for student in students], np.float32)
    return _Compared(exercise, students, alike, float(np.median(alike)), _rarity(alike, alike))


def _alike(first: Counter[int], second: Counter[int]) -> float:
    return (first & second).total() / max((first | second).total(), 1)


def _features(marks: Iterable[Marks]) -> np.ndarray:
    """Return which answer has which mark, as 0 and 1, for the marks that two answers share.

    The second occurrence of a mark in an answer counts as a mark of its own.
    """
    rows = []
    for mark in marks:
        counts: Counter[int] = Counter()
        row = []
        for value in mark:
            counts[value] += 1
            row.append((value, counts[value]))
        rows.append(row)
    frequency = Counter(feature for row in rows for feature in row)
    shared = [feature for feature, count in frequency.items() if count > 1]
    columns = {feature: at for at, feature in enumerate(shared)}
    present = np.zeros((len(rows), len(columns)), dtype=np.float32)
    for at, row in enumerate(rows):
        present[at, [columns[feature] for feature in row if feature in columns]] = 1
    return present


def _rarity(alike: np.ndarray, population: np.ndarray) -> np.ndarray:
    """Return -log10 of the share of the population that is at least as large as each value.

    The values are in the population, in which few are different: each is looked up once.
    """
    ordered = np.sort(population)
    different = ordered[np.diff(ordered, prepend=-1.0) > 0]
    below = np.searchsorted(ordered, different - 1e-6, side="left")
    share = np.maximum(len(ordered) - below, 1) / len(ordered)
    rarity = -np.log10(share).astype(np.float32)
    # The diagonal of a square, which nobody reads, may lie above the population.
    return rarity[np.minimum(np.searchsorted(different, alike), len(different) - 1)]


def _between_students(students: Sequence[str], compared: Sequence[_Compared]) -> Likeness:
    total = _totals(students, compared)
    rows, columns = np.triu_indices(len(students), 1)
    values = total[rows, columns]
    null = max(
        float(_totals(students, compared, np.random.default_rng(seed))[rows, columns].max())
        for seed in range(SHUFFLES)
    )
    order = np.argsort(-values, kind="stable")
    beyond = int(np.count_nonzero(values > null + 1e-6))
    pairs = tuple(
        Pair(names, float(values[at]), _exercises(names, compared))
        for at in order[: min(beyond, MOST_PAIRS)]
        for names in [(students[rows[at]], students[columns[at]])]
    )
    return Likeness(len(values), float(np.median(values)), null, beyond, pairs)


def _with_reference(students: Sequence[str], compared: Sequence[_Compared]) -> Likeness:
    values = _totals(students, compared)
    null = max(
        float(_totals(students, compared, np.random.default_rng(seed)).max())
        for seed in range(SHUFFLES)
    )
    order = np.argsort(-values, kind="stable")
    beyond = int(np.count_nonzero(values > null + 1e-6))
    pairs = tuple(
        Pair((students[at],), float(values[at]), _exercises((students[at],), compared))
        for at in order[: min(beyond, MOST_PAIRS)]
    )
    return Likeness(len(values), float(np.median(values)), null, beyond, pairs)


def _totals(
    students: Sequence[str],
    compared: Sequence[_Compared],
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Return the rarity of each pair, or each student, added up over the exercises.

    With `rng`, the answers to each exercise are first dealt out anew among those who answered it.
    """
    place = {student: at for at, student in enumerate(students)}
    total = np.zeros((len(students),) * compared[0].alike.ndim, dtype=np.float32)
    for part in compared:
        where = np.array([place[student] for student in part.students])
        if rng is not None:
            where = rng.permutation(where)
        answer = np.full(len(students), len(where))  # one beyond the last has no answer
        answer[where] = np.arange(len(where))
        rarity = np.pad(part.rarity, (0, 1))
        for axis in range(total.ndim):  # faster than both at once
            rarity = rarity.take(answer, axis)
        total += rarity
    return total


def _exercises(names: tuple[str, ...], compared: Sequence[_Compared]) -> tuple[Alike, ...]:
    """Return the exercises in which the students' answers are most unusually alike."""
    rows = [row for part in compared for row in _row(names, part)]
    return tuple(sorted(rows, key=lambda row: row.share)[:MOST_EXERCISES])


def _row(names: tuple[str, ...], part: _Compared) -> Iterator[Alike]:
    if set(names) <= set(part.students):
        at = tuple(part.students.index(name) for name in names)
        yield Alike(
            part.exercise, float(part.alike[at]), part.usual, float(10.0 ** -part.rarity[at])
        )
