"""Test arbitrary submissions and results: every exercise gets a reason and no unearned points.

`FUZZ_EXAMPLES` sets the number of examples per test: 200 by default, more in `make fuzz`.
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
from autograder.judging.keys import observe_quietly
from autograder.judging.verdict import Judgement, Verdict
from autograder.nbgrader.autograded import autograded_notebook
from autograder.nbgrader.release import build_notebook
from autograder.probe import wire
from autograder.probe.status import Status
from autograder.probe.values import Differentiated, Observation, Raised, Tensor, output
from autograder.submission.submission import read_submission

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "200"))
EXERCISES = {
    exercise.name: (assignment, exercise)
    for assignment in (toy.TOY, toy_torch.TOY)
    for exercise in assignment.exercises
}


fuzz = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
fuzz_a_part = settings(fuzz, max_examples=EXAMPLES // len(EXERCISES))


@functools.cache
def released():
    with tempfile.TemporaryDirectory() as folder:
        return build_notebook(page.ASSIGNMENT, page.write(Path(folder)))


@functools.cache
def whole():
    """Return the correct notebook as plain data."""
    content = json.loads(json.dumps(released()))
    answers = {"row_mean": toy.RIGHT_MEAN, "scale": toy.RIGHT_SCALE, "why": "Because."}
    for cell in content["cells"]:
        name = cell["metadata"]["nbgrader"]["grade_id"]
        cell["source"] = answers.get(name, cell["source"])
    return content


@fuzz
@given(st.deferred(lambda: fuzzing.written(whole())))
def test_damaged_notebook_is_read_or_refused_with_a_reason(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ann" / "toy" / "toy.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        submission = read_submission(
            SubmissionFile("ann", "toy", path), outline(page.ASSIGNMENT), released()
        )
    names = [exercise.name for exercise in page.ASSIGNMENT.exercises]
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
    notebook = autograded_notebook(submission, outline(page.ASSIGNMENT), released())
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()


@fuzz
@given(fuzzing.messages())
def test_message_decodes_to_a_value_or_raises_wire_error(data):
    try:
        value = wire.decode(data)
    except wire.WireError:
        return
    again = wire.decode(wire.encode(value))
    assert wire.encode(again) == wire.encode(value)


@functools.cache
def question_of(name):
    assignment, exercise = EXERCISES[name]
    (question,) = (
        candidate
        for candidate in draw_questions(assignment, b"key", "digest")
        if candidate.name == name
    )
    return question, observe_quietly(exercise.reference, question.whole.cases)


@pytest.mark.parametrize("name", EXERCISES)
@fuzz_a_part
@given(st.data())
def test_forged_observations_are_judged_and_earn_no_points(name, data):
    question, right = question_of(name)
    forged = [data.draw(fuzzing.like(right)) if data.draw(st.booleans()) else right for _ in "ab"]
    public = question.public.public
    runs = [forged[0][:public], forged[0][public:], forged[1]]
    messages = [(wire.encode([name, observations]),) for observations in runs]
    judgement = judge_questions(toy.program(), [question], fuzzing.Forger(messages))[name]
    assert judgement.message
    assert judgement.verdict is not Verdict.GRADER_FAULT
    if judgement.passed:
        for observation, earned in zip(forged[0] + forged[1], right + right, strict=True):
            assert isinstance(observation, Observation)
            assert agree(requested_part(observation.value, earned.value), earned.value)


def requested_part(forged, earned):
    """Return `forged` with the gradients that `earned` has; a missing gradient becomes zeros."""
    if not isinstance(earned, Differentiated):
        return output(forged)
    if not isinstance(forged, Differentiated) or isinstance(forged.gradients, Raised):
        return forged
    forged_gradients = forged.gradients or {}
    earned_gradients = earned.gradients or {}
    gradients = {
        name: requested_gradient(forged_gradients.get(name), right)
        for name, right in earned_gradients.items()
    }
    return dataclasses.replace(forged, gradients=gradients or earned.gradients)


def requested_gradient(gradient, earned):
    if gradient is None and earned is not None:
        return Tensor(np.zeros_like(earned.array), earned.gradient)
    if earned is None and isinstance(gradient, Tensor) and not gradient.array.any():
        return None
    return gradient


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
    st.sampled_from([status for status in Status if status is not Status.UNPREPARED]),
    st.none() | st.integers(-1, 9),
    st.none() | fuzzing.messages(),
)
def test_arbitrary_results_get_a_verdict_but_no_points(runs, status, cell, changed):
    questions = [question_of(name)[0] for name in ("row_mean", "scale")]
    judgements = judge_questions(
        toy.program(), questions, fuzzing.Forger(runs, status, cell, changed)
    )
    assert list(judgements) == ["row_mean", "scale"]
    for judgement in judgements.values():
        assert judgement.message
        assert not judgement.passed
        assert judgement.verdict is not Verdict.GRADER_FAULT
