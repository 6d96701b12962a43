"""Whatever comes back of the course's own exercises is judged, and tells nothing that is hidden.

`FUZZ_EXAMPLES`, which `make fuzz` sets, draws so many forged results over all exercises; here a few
of each form of result are drawn.
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
from autograder.judging.judge import build_key, observe_quietly, with_hidden
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
DRAWN = [one for one in EXERCISES if EVERY or one.values[0].name in FORMS]
EACH = -(-int(os.environ["FUZZ_EXAMPLES"]) // len(DRAWN)) if EVERY else 25
FUZZ = settings(
    max_examples=EACH,
    deadline=None,
    phases=[Phase.generate],  # to make an example smaller takes longer than to read it
    suppress_health_check=list(HealthCheck),
)


@functools.cache
def asked(exercise):
    """The question, and what the reference shows on the public cases and on all."""
    public = build_key(exercise, shown_cases(exercise), ())
    whole = with_hidden(public, exercise, drawn_cases(exercise, 0))
    right = observe_quietly(exercise.reference, whole.cases)
    return Question(public, whole, 1), right[: public.public], right


class Forger(fuzzing.Forger):
    """Answers each order with the results of its calls; `ending` ends those with hidden ones."""

    def __init__(self, name, public, hidden, every, requests, ending):
        self.name, self.requests, self.ending, self.at = name, requests, ending, 0
        self.first, self.every, self.public = [*public, *hidden], every, len(public)

    def run(self, calls, *, again=False, turns=0, **_):
        ((_, wanted),) = wire.decode(calls)
        if self.ending and (again or self.at >= self.public):
            return self.ending
        made = turns or len(wanted)
        given = self.every if again else self.first[self.at : self.at + made]
        self.at += made
        messages = [[one] for one in given] if turns else [given]
        results = tuple(wire.encode([self.name, message]) for message in messages)
        return Run(Status.ENDED, None, results, requests=dict.fromkeys(range(made), self.requests))


endings = st.none() | st.builds(
    Run,
    st.sampled_from((Status.KILLED, Status.TIMEOUT, Status.MEMORY, Status.OUTPUT)),
    st.integers(-1, 3),
)


@pytest.mark.parametrize("exercise", DRAWN)
@FUZZ
@given(st.data())
def test_whatever_an_answer_returns_is_judged_and_tells_nothing(exercise, data):
    question, public, right = asked(exercise)
    hidden = right[len(public) :]
    given_public = data.draw(fuzzing.tampered(public)) if data.draw(st.booleans()) else public
    forged = [data.draw(fuzzing.tampered(one)) for one in (hidden, [*public, *hidden])]
    requests = data.draw(st.sampled_from((0, 1, 31337)))
    sandbox = Forger(exercise.name, given_public, *forged, requests, data.draw(endings))
    own = [Cell(f"# {fuzzing.SECRET} {at}", None) for at in range(3)]
    program = [*own, Cell("", exercise.name)]
    judgement = judge_questions(program, [question], sandbox)[exercise.name]
    assert judgement.message
    assert judgement.verdict is not Verdict.GRADER_FAULT
    if given_public is public:
        said = f"{judgement.message} {judgement.hint}"
        assert fuzzing.SECRET not in said
        assert str(fuzzing.NUMBER) not in said
        assert "BlockingIOError" not in said
