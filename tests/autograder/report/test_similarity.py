"""Test which answers count as alike, and that no answer stops the comparison."""

import random
from collections import Counter

import numpy as np
import pytest
from invented_class import renamed

from autograder.exercise.answers import source_as
from autograder.report import similarity as module
from autograder.report.fingerprints import LONGEST, NODES, WINDOW, fingerprints, winnow
from autograder.report.similarity import LEAST, similarity
from exercises import COURSE

ANSWER = """
def softmax(x, axis=-1):
    \"\"\"Return the softmax.\"\"\"
    largest = np.max(x, axis=axis, keepdims=True)  # for stability
    count = x.shape[axis]
    assert count > 0
    exponentials = np.exp(x - largest)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
"""

REWRITTEN = """
def softmax(x, axis: int = -1) -> np.ndarray:
    n = x.shape[axis]
    assert n > 0
    m = np.max(
        x, axis=axis, keepdims=True,
    )
    e: np.ndarray = np.exp(x - m)
    return e / e.sum(axis=axis, keepdims=True)
"""

ATTACKS = {
    "deep": f"def f(x):\n    return {'-' * 15_000}1",
    "brackets": f"def f(x):\n    return {'(' * 9_000}1{')' * 9_000}",
    "chain": f"def f(x):\n    return x{'.a' * 9_000}",
    "digits": f"def f(x):\n    return {'9' * 15_000}",
    "hexadecimal": f"def f(x):\n    return 0x{'f' * 15_000}",
    "long": "x = 1\n" * LONGEST,
    "surrogate": "def f(x):\n    return '\ud800'",
    "nul": "def f(x):\n    return 0\x00",
    "syntax": "def f(x:\n",
    "shell": "%%bash\nrm -rf /",
    "nothing": "",
}


def test_names_layout_comments_annotations_and_order_change_nothing():
    assert fingerprints(ANSWER) == fingerprints(REWRITTEN)
    assert fingerprints(ANSWER) != fingerprints(ANSWER.replace("np.max", "np.min"))
    assert fingerprints(ANSWER) != fingerprints(ANSWER.replace("x - largest", "x + largest"))
    assert fingerprints(ANSWER) != fingerprints(ANSWER.replace("count > 0", "count > 1"))
    pairs = [("g = lambda x: x.a", "g = lambda x: x.b"), ("y = a if b else 1", "y = a if b else 2")]
    pairs += [("match x:\n  case 1: y = 2", "match x:\n  case 1: y = 3")]
    pairs += [("try: f()\nexcept E: x = 1", "try: f()\nexcept E: x = 2")]
    for first, second in pairs:
        assert fingerprints(first) != fingerprints(second), first


def test_winnowing_finds_every_match_as_long_as_promised():
    rng = random.Random(0)
    shortest = NODES + WINDOW - 1
    for _ in range(200):
        shared = [rng.randrange(10**6) for _ in range(shortest)]
        first, second = (
            [rng.randrange(10**6) for _ in range(9)] + shared + [rng.randrange(10**6)]
            for _ in range(2)
        )
        assert set(winnow(first)) & set(winnow(second))
    assert len(winnow(list(range(300)))) < 250


def _class(size, copies=0, usual=6):
    """Return the answers of a class, and the references; some pairs have the same answers.

    An answer is drawn from those of the course, among which the reference is `usual` times.
    """
    rng = random.Random(1)
    exercises = COURSE["self_attention"].exercises
    answers = {exercise.name: {} for exercise in exercises}
    for exercise in exercises:
        wrong = [mistake.wrong for mistake in exercise.misconceptions]
        pool = [*exercise.alternatives, *([exercise.reference] * usual), *wrong]
        for number in range(size):
            source = source_as(rng.choice(pool), exercise.name)
            answers[exercise.name][f"s{number:03}"] = renamed(source, rng)
        for number in range(copies):
            source = renamed(answers[exercise.name][f"s{number:03}"], rng)
            answers[exercise.name][f"t{number:03}"] = source
    references = {each.name: source_as(each.reference, each.name) for each in exercises}
    return answers, references


def test_copies_stand_out_and_usual_answers_do_not():
    found = similarity(*_class(60, copies=2))
    pairs = {pair.students for pair in found.each_other.pairs}
    assert pairs == {("s000", "t000"), ("s001", "t001")}
    assert found.each_other.compared == 62 * 61 / 2
    assert found.each_other.usual < found.each_other.null
    for pair in found.each_other.pairs:
        assert all(row.similarity == 1 and row.usual < 1 for row in pair.exercises)

    honest = similarity(*_class(60))
    assert honest.each_other.pairs == ()
    assert honest.each_other.beyond == 0
    assert honest.reference.pairs == ()


def test_copies_of_the_reference_stand_out():
    answers, references = _class(40, usual=0)
    for exercise, source in references.items():
        answers[exercise]["s007"] = renamed(source, random.Random(2))
    found = similarity(answers, references).reference
    assert found.compared == 40
    assert [pair.students for pair in found.pairs] == [("s007",)]
    assert {row.similarity for row in found.pairs[0].exercises} == {1.0}


def test_rarity_is_added_up_pair_by_pair_over_what_both_answered():
    rng = np.random.default_rng(0)
    students = [f"student{number:02}" for number in range(30)]
    compared, expected = [], np.zeros((30, 30))
    for exercise in "abc":
        places = np.sort(rng.choice(30, size=20, replace=False))
        names = [students[place] for place in places]
        marks = {name: tuple(sorted(rng.integers(0, 8, size=5).tolist())) for name in names}
        counts = [Counter(mark) for mark in marks.values()]
        alike = np.array([[module._alike(a, b) for b in counts] for a in counts])
        upper = alike[np.triu_indices(20, 1)]
        share = [[np.mean(upper >= value - 1e-6) for value in row] for row in alike]
        expected[np.ix_(places, places)] -= np.log10(np.maximum(share, 1 / len(upper)))
        compared.append(module._pairs(exercise, marks))
    above = np.triu_indices(30, 1)
    found = module._totals(students, compared)[above]
    assert found == pytest.approx(expected[above], abs=1e-4)
    dealt = module._totals(students, compared, rng)[above]
    assert sorted(dealt) != pytest.approx(sorted(found))
    assert dealt.sum() == pytest.approx(found.sum(), rel=1e-4)


def test_steps_are_told_while_a_class_is_compared():
    steps = []
    answers, references = _class(LEAST)
    similarity(answers, references, lambda *step: steps.append(step))
    assert steps[-1] == (len(answers), len(answers), "all exercises")
    assert {name for _, _, name in steps} == {"answers read", *answers, "all exercises"}
    similarity({}, {}, lambda *_: pytest.fail("there is nothing to compare"))


@pytest.mark.parametrize("size", [2, LEAST - 1])
def test_small_class_is_not_compared(size):
    answers, references = _class(size)
    assert similarity(answers, references) is None


def test_no_answer_stops_the_comparison_of_the_others(monkeypatch):
    answers, _ = _class(LEAST)
    exercise, by_student = next(iter(answers.items()))
    found = similarity({exercise: {**by_student, **ATTACKS}}, {})
    assert found.each_other.compared >= LEAST * (LEAST - 1) / 2
    assert len(ATTACKS) - 3 <= found.left_out <= len(ATTACKS)
    monkeypatch.setattr(module, "SECONDS", 0.0001)  # the helper is killed at every request
    assert similarity({exercise: by_student}, {}) is None
