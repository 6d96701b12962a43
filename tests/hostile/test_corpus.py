"""Every case of the hostile corpus, by the command that grades a class. See tests/support/hostile.py."""

import csv
import io

import hostile
import pytest
from hostile_class import graded, live

CASES = hostile.corpus()
CLASSES = sorted({case.in_class for case in CASES})


def parameters():
    for case in CASES:
        marks = [pytest.mark.xfail(strict=True, reason=case.fails)] if case.fails else []
        yield pytest.param(case, marks=marks, id=case.name)


@pytest.mark.parametrize("mode", hostile.MODES)
@pytest.mark.parametrize("case", list(parameters()))
def test_a_submission_gets_what_it_has_earned(case, mode):
    found = graded(case.in_class, mode)
    faults = list(hostile.faults_of(case, found))
    if case.room or faults:
        faults += found.faults
    if case.feedback:
        page = found.pages.get(case.name)
        if page is None:
            faults.append("it has no feedback")
        else:
            faults += [f"live: {what}" for what in live(page) - live(found.pages["0-honest"])]
    assert faults == []


@pytest.mark.parametrize("mode", hostile.MODES)
@pytest.mark.parametrize("name", [n for n in CLASSES if not any(c.room and c.in_class == n for c in CASES)])
def test_a_class_that_many_attack_loses_nothing(name, mode):
    assert graded(name, mode).faults == ()


def test_the_corpus_attacks_everything_that_can_be_attacked():
    assert len(CASES) >= 90
    assert {case.group for case in CASES} == set(hostile.GROUPS)
