"""Test forged results of the course's exercises: they are judged and reveal nothing hidden.

`FUZZ_EXAMPLES`, which `make fuzz` sets, is the number of forged results over all exercises; without
it, a few of each form of result are drawn.
"""

import functools
import os

import fuzzing
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from keys import EXERCISES, drawn_cases, shown_cases
from toy import Cell

from autograder.grading.observing import Question
from autograder.grading.program import judge_questions
from autograder.judging.keys import build_key, observe_quietly, with_hidden
from autograder.judging.verdict import Verdict
from autograder.probe import wire
from autograder.probe.status import Status
from autograder.sandbox.rooms import Run

FORMS = (
    "best_baseline",  # a number within a tolerance
    "permute_equivariantly",  # a function among the arguments
    "rename_weights",  # a dict of tensors
    "byte_pair_merges",  # a list of tuples of texts
    "masked_softmax",  # something is forbidden
    "LayerNorm",  # a module
    "test_masked_blend",  # an answer that is a test
)
EVERY = "FUZZ_EXAMPLES" in os.environ
DRAWN = [entry for entry in EXERCISES if EVERY or entry.values[0].name in FORMS]
EACH = -(-int(os.environ["FUZZ_EXAMPLES"]) // len(DRAWN)) if EVERY else 25
FUZZ = settings(
    max_examples=EACH,
    deadline=None,
    phases=[Phase.generate],  # shrinking an example takes longer than reading it
    suppress_health_check=list(HealthCheck),
)


@functools.cache
def question_with_answers(exercise):
    """Return the question and the observations of the reference, on public and on all cases."""
    public = build_key(exercise, shown_cases(exercise), ())
    whole = with_hidden(public, exercise, drawn_cases(exercise, 0))
    right = observe_quietly(exercise.reference, whole.cases)
    return Question(public, whole, 1), right[: public.public], right


class Forger(fuzzing.Forger):
    """Answer each order with the results of its calls; `ending` replaces those of hidden cases."""

    def __init__(self, name, public, hidden, every, requests, ending):
        self.name, self.requests, self.ending, self.at = name, requests, ending, 0
        self.first, self.every, self.public = [*public, *hidden], every, len(public)

    def run(self, calls, *, again=False, turns=0, **_):
        ((_, expected),) = wire.decode(calls)
        if self.ending and (again or self.at >= self.public):
            return self.ending
        count = turns or len(expected)
        observations = self.every if again else self.first[self.at : self.at + count]
        self.at += count
        messages = [[observation] for observation in observations] if turns else [observations]
        results = tuple(wire.encode([self.name, message]) for message in messages)
        return Run(Status.ENDED, None, results, requests=dict.fromkeys(range(count), self.requests))


endings = st.none() | st.builds(
    Run,
    st.sampled_from((Status.KILLED, Status.TIMEOUT, Status.MEMORY, Status.OUTPUT)),
    st.integers(-1, 3),
)


@pytest.mark.parametrize("exercise", DRAWN)
@FUZZ
@given(st.data())
def test_forged_results_are_judged_and_reveal_nothing_hidden(exercise, data):
    question, public, right = question_with_answers(exercise)
    hidden = right[len(public) :]
    public_results = data.draw(fuzzing.tampered(public)) if data.draw(st.booleans()) else public
    forged = [
        data.draw(fuzzing.tampered(observations)) for observations in (hidden, [*public, *hidden])
    ]
    requests = data.draw(st.sampled_from((0, 1, 31337)))
    sandbox = Forger(exercise.name, public_results, *forged, requests, data.draw(endings))
    added = [Cell(f"# {fuzzing.SECRET} {at}", None) for at in range(3)]
    program = [*added, Cell("", exercise.name)]
    judgement = judge_questions(program, [question], sandbox)[exercise.name]
    assert judgement.message
    assert judgement.verdict is not Verdict.GRADER_FAULT
    if public_results is public:
        text = f"{judgement.message} {judgement.hint}"
        assert fuzzing.SECRET not in text
        assert str(fuzzing.NUMBER) not in text
        assert "BlockingIOError" not in text
