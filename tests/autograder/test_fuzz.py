"""Whatever is handed in or sent back: a row and a reason for each exercise, and no unearned point.

`FUZZ_EXAMPLES` says how many examples each test draws: 200 here, more by `make fuzz`.
"""

import dataclasses
import functools
import json
import os
import tempfile
from pathlib import Path

import fuzzing
import nbformat
import numpy as np
import page
import pytest
import toy
import toy_torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.course.course import SubmissionFile
from autograder.course.journal import make_record
from autograder.exercise.outline import outline
from autograder.grading.program import judge_questions
from autograder.grading.questions import draw_questions
from autograder.judging.agreement import agree
from autograder.judging.judge import observe_quietly
from autograder.judging.verdict import Judgement, Verdict
from autograder.nbgrader.autograded import autograded_notebook
from autograder.nbgrader.release import build_notebook
from autograder.probe import wire
from autograder.probe.status import Status
from autograder.probe.values import Differentiated, Observation, Raised, Tensor, output
from autograder.submission.submission import read_submission

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "200"))
EXERCISES = {
    one.name: (assignment, one)
    for assignment in (toy.TOY, toy_torch.TOY)
    for one in assignment.exercises
}


fuzz = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
fuzz_a_part = settings(fuzz, max_examples=EXAMPLES // len(EXERCISES))


@functools.cache
def released():
    with tempfile.TemporaryDirectory() as folder:
        return build_notebook(page.ASSIGNMENT, page.write(Path(folder)))


@functools.cache
def whole():
    """The right notebook, as plain data."""
    content = json.loads(json.dumps(released()))
    answers = {"row_mean": toy.RIGHT_MEAN, "scale": toy.RIGHT_SCALE, "why": "Because."}
    for cell in content["cells"]:
        name = cell["metadata"]["nbgrader"]["grade_id"]
        cell["source"] = answers.get(name, cell["source"])
    return content


@fuzz
@given(st.deferred(lambda: fuzzing.written(whole())))
def test_every_damaged_notebook_is_read_or_refused_with_a_reason(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ann" / "toy" / "toy.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        submission = read_submission(
            SubmissionFile("ann", "toy", path), outline(page.ASSIGNMENT), released()
        )
    names = [one.name for one in page.ASSIGNMENT.exercises]
    for name, judgement in submission.problems.items():
        assert name in names
        assert judgement.verdict in (Verdict.MISSING, Verdict.MALFORMED)
        assert judgement.message
    for cell in submission.program:
        wire.encode(cell.source.encode())
        assert cell.exercise is None or cell.exercise in names
    judgements = {name: Judgement(Verdict.PASS, "x") for name in names} | submission.problems
    record = make_record(
        "ann",
        outline(page.ASSIGNMENT),
        judgements,
        digest=submission.digest,
        fingerprint="",
        trusted=False,
        before=None,
    )
    json.dumps(dataclasses.asdict(record)).encode()
    shown = autograded_notebook(submission, outline(page.ASSIGNMENT), released())
    nbformat.validate(shown)
    nbformat.writes(shown).encode()


@fuzz
@given(fuzzing.messages())
def test_every_message_is_a_value_or_the_one_exception(data):
    try:
        value = wire.decode(data)
    except wire.WireError:
        return
    again = wire.decode(wire.encode(value))
    assert wire.encode(again) == wire.encode(value)


@functools.cache
def question_of(name):
    assignment, exercise = EXERCISES[name]
    (asked,) = (one for one in draw_questions(assignment, b"key", "digest") if one.name == name)
    return asked, observe_quietly(exercise.reference, asked.whole.cases)


@pytest.mark.parametrize("name", EXERCISES)
@fuzz_a_part
@given(st.data())
def test_forged_observations_are_judged_and_earn_nothing(name, data):
    asked, right = question_of(name)
    forged = [data.draw(fuzzing.like(right)) if data.draw(st.booleans()) else right for _ in "ab"]
    public = asked.public.public
    runs = [forged[0][:public], forged[0][public:], forged[1]]
    messages = [(wire.encode([name, one]),) for one in runs]
    judgement = judge_questions(toy.program(), [asked], fuzzing.Forger(messages))[name]
    assert judgement.message
    assert judgement.verdict is not Verdict.GRADER_FAULT
    if judgement.passed:
        for one, earned in zip(forged[0] + forged[1], right + right, strict=True):
            assert isinstance(one, Observation)
            assert agree(asked_for(one.value, earned.value), earned.value)


def asked_for(forged, earned):
    """What was returned, without gradients that nobody has asked for; none at all is zeros."""
    if not isinstance(earned, Differentiated):
        return output(forged)
    if not isinstance(forged, Differentiated) or isinstance(forged.gradients, Raised):
        return forged
    given = forged.gradients or {}
    wanted = earned.gradients or {}
    gradients = {name: as_asked_for(given.get(name), right) for name, right in wanted.items()}
    return dataclasses.replace(forged, gradients=gradients or earned.gradients)


def as_asked_for(given, right):
    if given is None and right is not None:
        return Tensor(np.zeros_like(right.array), right.gradient)
    if right is None and isinstance(given, Tensor) and not given.array.any():
        return None
    return given


results = st.lists(
    st.one_of(
        fuzzing.messages(),
        fuzzing.values.map(wire.encode),
        st.tuples(
            st.sampled_from(("row_mean", "scale", "", "x")) | fuzzing.values,
            fuzzing.values | st.lists(fuzzing.observations, max_size=4),
        ).map(lambda pair: wire.encode(list(pair))),
    ),
    max_size=4,
).map(tuple)


@fuzz
@given(
    st.lists(results, min_size=1, max_size=4),
    st.sampled_from([one for one in Status if one is not Status.UNPREPARED]),
    st.none() | st.integers(-1, 9),
    st.none() | fuzzing.messages(),
)
def test_whatever_comes_back_there_is_a_verdict_and_no_point(runs, status, cell, changed):
    asked = [question_of(name)[0] for name in ("row_mean", "scale")]
    judgements = judge_questions(toy.program(), asked, fuzzing.Forger(runs, status, cell, changed))
    assert list(judgements) == ["row_mean", "scale"]
    for judgement in judgements.values():
        assert judgement.message
        assert not judgement.passed
        assert judgement.verdict is not Verdict.GRADER_FAULT
