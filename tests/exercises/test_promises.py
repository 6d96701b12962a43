"""What an exercise's docstring promises, a case holds: no sentence of it is left out."""

import re
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from keys import EXERCISES as OF_THE_COURSE
from smallest import SMALLEST

from autograder.exercise.model import Case, Exercise, public_cases
from autograder.exercise.promises import docstrings, promises

EXERCISES = [*OF_THE_COURSE, pytest.param(SMALLEST, id="the smallest")]
SEEDS = range(3)

SENTENCE_END = re.compile(r"(?<!\bal)(?<!\.\.)[.!?]\)?\s+|\.\.\.\s+(?=[A-Z])")
"""Where a sentence ends; "et al. 2015" and "h_1 ... h_T" are in the middle of one."""

WORK = r"[^();:]*\((?:19|20)\d\d\)(?:, (?:section|equation|table|figure|appendix) [\w.]+)*"
CITATION = re.compile(rf"Sources?: {WORK}(?:; {WORK})*\.|\([^()]*\b(?:19|20)\d\d[^()]*\)\.?")
"""A sentence that says where something comes from, and nothing else."""

EXCEPTION = re.compile(r"\b[A-Z]\w*Error\b")


def sentences(docstring: str) -> Iterator[tuple[int, int]]:
    """Where each sentence of a docstring begins and ends."""
    begin = 0
    for end in [*(match.end() for match in SENTENCE_END.finditer(docstring)), len(docstring)]:
        if docstring[begin:end].strip():
            yield begin, end
        begin = end


def not_promised(docstrings: list[str], quotes: Iterable[str]) -> list[str]:
    """The sentences that no quote touches, but for the summary and mere citations."""
    quotes, left = list(quotes), []
    for part, docstring in enumerate(docstrings):
        spans = [(docstring.find(quote), len(quote)) for quote in quotes if quote in docstring]
        for begin, end in sentences(docstring):
            sentence = docstring[begin:end].strip()
            if (part == 0 and begin == 0) or CITATION.fullmatch(sentence):
                continue
            if not any(at < end and begin < at + length for at, length in spans):
                left.append(sentence)
    return left


def all_cases(exercise: Exercise, seed: int) -> list[Case]:
    return [*public_cases(exercise), *exercise.hidden(np.random.default_rng(seed))]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_sentence_of_the_docstring_is_in_a_promise(exercise):
    assert promises(exercise), "no case says what it holds: see `Case.holds`"
    left = not_promised(docstrings(exercise), (promise.says for promise in promises(exercise)))
    assert left == []


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_promise_has_cases_that_hold_it(exercise):
    for seed in SEEDS:
        cases = all_cases(exercise, seed)
        for promise in promises(exercise):
            assert promise.cases, promise.says
            assert set(promise.cases) <= {case.note for case in cases}, promise.says


@pytest.mark.parametrize("exercise", EXERCISES)
def test_a_promised_exception_has_a_case_that_asks_for_it(exercise):
    cases = all_cases(exercise, 0)
    for promise in promises(exercise):
        asked = {c.raises.type_name for c in cases if c.raises and c.note in promise.cases}
        assert set(EXCEPTION.findall(promise.says)) <= asked, promise.says


DOCSTRING = (
    "Score each state (Bahdanau et al. 2015, 3.1). s: (..., d), the state. W_s, W_h: matrices. "
    "h_1 ... h_T: (T, d). state is one of them, and n may be 0. `axis` is any axis (or the last). "
    "(Xu et al. 2015.) "
    "Raises ValueError, with both numbers. Source: Ba, Kiros and Hinton (2016), equation 4."
)


def test_a_docstring_is_split_where_its_sentences_end():
    assert [DOCSTRING[begin:end].strip() for begin, end in sentences(DOCSTRING)] == [
        "Score each state (Bahdanau et al. 2015, 3.1).",
        "s: (..., d), the state.",
        "W_s, W_h: matrices.",
        "h_1 ... h_T: (T, d).",
        "state is one of them, and n may be 0.",
        "`axis` is any axis (or the last).",
        "(Xu et al. 2015.)",
        "Raises ValueError, with both numbers.",
        "Source: Ba, Kiros and Hinton (2016), equation 4.",
    ]


def test_summary_and_citations_need_no_promise_and_all_else_does():
    quotes = ("the state", "matrices. h_1 ...", "n may be 0", "Raises ValueError")
    assert not_promised([DOCSTRING], quotes) == ["`axis` is any axis (or the last)."]
    assert not_promised(["Make it.", "n: the size."], ()) == ["n: the size."]
