"""The checks of which a proof consists: each yields a sentence for everything that is wrong."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..exercise.model import Kind
from ..exercise.promises import docstrings, promises
from ..judging.faults import fault
from ..judging.judge import judge
from ..judging.keys import AnswerKey, build_key, observe_quietly
from ..judging.verdict import AS_GIVEN
from ..probe.values import Differentiated, Observation, Raised, Tensor
from .assertions import without_an_assertion
from .evidence import Evidence
from .sentences import unquoted

FEWEST_RIGHT, FEWEST_WRONG = 3, 4
"""An exercise has at least so many right answers beside the reference, and so many mistakes."""

_EXCEPTION = re.compile(r"\b[A-Z]\w*Error\b")


def is_complete(evidence: Evidence) -> Iterator[str]:
    """Check the numbers and texts of the declaration, and that there are enough answers."""
    exercise = evidence.exercise
    if exercise.points <= 0 or exercise.minutes <= 0 or not 1 <= exercise.difficulty <= 5:
        yield "Points and minutes must be above 0, and the difficulty a number from 1 to 5."
    if (count := len(exercise.alternatives)) < FEWEST_RIGHT:
        yield f"It has {count} right answers (`right`); it needs at least {FEWEST_RIGHT}."
    if (count := len(exercise.misconceptions)) < FEWEST_WRONG:
        yield f"It has {count} wrong answers (`wrong`); it needs at least {FEWEST_WRONG}."
    for misconception in exercise.misconceptions:
        if not misconception.hint.strip():
            yield f"The wrong answer “{misconception.name}” asks no question."
    if not all(stage.strip() for stage in exercise.help):
        yield "A stage of its `help` is empty."
    if not inspect.getdoc(exercise.reference):
        yield "The reference has no docstring, which is what the student reads."


def right_answers_pass(evidence: Evidence) -> Iterator[str]:
    """Check that the reference and every right answer get full points."""
    exercise = evidence.exercise
    for answer in (exercise.reference, *exercise.alternatives):
        for place, judgement in evidence.judgements(answer):
            if not judgement.passed:
                yield (
                    f"The right answer `{answer.__name__}` fails on {place}: {judgement.message}"
                )
                break


def mistakes_are_named(evidence: Evidence) -> Iterator[str]:
    """Check that every wrong answer is rejected, and gets its own name and question."""
    for misconception in evidence.exercise.misconceptions:
        for place, judgement in evidence.judgements(misconception.wrong):
            wrong = f"The wrong answer “{misconception.name}”"
            if judgement.passed:
                yield f"{wrong} passes on {place}. Add a case on which it fails."
                break
            if misconception.released:
                if judgement != AS_GIVEN:
                    yield f"{wrong} is what the student is given, and is not recognised on {place}."
                    break
            elif judgement.misconception != misconception.name:
                called = judgement.misconception
                name = f"called “{called}”" if called else "not named"
                yield f"{wrong} is rejected on {place}, but {name}: {judgement.message}"
                break


def mistakes_are_named_beside_exceptions(evidence: Evidence) -> Iterator[str]:
    """Check the same of answers that make the mistake and raise every promised exception.

    Some wrong answers leave the exceptions out. An answer that does more right must not be told
    less.
    """
    exercise = evidence.exercise
    if exercise.kind is Kind.TEST or not any(case.raises for case in evidence.public):
        return
    right = evidence.observations(exercise.reference)
    for misconception in exercise.misconceptions:
        wrong = evidence.observations(misconception.wrong)
        for place, key, *both in zip(evidence.places, evidence.keys, right, wrong, strict=True):
            raising = [
                as_asked if case.raises else mistaken
                for case, as_asked, mistaken in zip(key.cases, *both, strict=True)
            ]
            judgement = judge(key, raising)
            named = (
                judgement == AS_GIVEN
                if misconception.released
                else judgement.passed or judgement.misconception == misconception.name
            )
            if not named:
                yield (
                    f"The wrong answer “{misconception.name}” loses its name on {place} where it "
                    f"raises the promised exceptions, too: {judgement.message}"
                )
                break


def empty_answers_fail(evidence: Evidence) -> Iterator[str]:
    """Check that zeros and ones of the right shape and type earn nothing.

    Of a test that a student writes, check the two that treat all implementations alike.
    """
    exercise = evidence.exercise
    if exercise.kind is Kind.TEST:
        for answer, does in ((_accept, "accepts"), (_reject, "rejects")):
            for place, judgement in evidence.judgements(answer):
                if judgement.earns:
                    yield f"A test that {does} every implementation earns points on {place}."
                    break
        return
    right = evidence.observations(exercise.reference)
    for fill, content in ((np.zeros_like, "zeros"), (np.ones_like, "ones")):
        for place, key, observations in zip(evidence.places, evidence.keys, right, strict=True):
            values = [_filled(expected, fill) for expected in key.expected]
            forged = [
                Observation(value, observation.arguments_after, value)
                for observation, value in zip(observations, values, strict=True)
            ]
            if judge(key, forged).earns:
                yield f"An answer full of {content} earns points on {place}."
                break


def draws_differ(evidence: Evidence) -> Iterator[str]:
    """Check that results learnt by heart from a draw fail on another."""
    if len(evidence.draws) < 2:
        return
    exercise = evidence.exercise
    _, learnt, *_ = evidence.observations(exercise.reference)
    other = build_key(exercise, (), evidence.draws[-1])
    if judge(replace(other, misconceptions=()), learnt).passed:
        yield (
            "The hidden cases are the same in two draws, so an answer may have learnt their "
            "results. Draw numbers from the generator that `hidden` gets."
        )


def docstring_is_held(evidence: Evidence) -> Iterator[str]:
    """Check that every sentence of the docstring is quoted by a case that holds an answer to it."""
    exercise = evidence.exercise
    held = promises(exercise)  # raises ValueError for a quote that is not in the docstring
    for sentence in unquoted(docstrings(exercise), (promise.says for promise in held)):
        yield (
            f"No case holds an answer to this sentence of the docstring: “{sentence}” Quote a part "
            "of it in `Case.holds`."
        )
    draws = [{case.note for case in (*evidence.public, *drawn)} for drawn in evidence.draws]
    cases = [*evidence.public, *(evidence.draws[0] if evidence.draws else ())]
    for promise in held:
        if not promise.cases:
            yield f"No case holds an answer to “{promise.says}”."
        if not all(set(promise.cases) <= notes for notes in draws):
            yield f"In some draw, a case that holds “{promise.says}” is missing."
        raised = {c.raises.type_name for c in cases if c.raises and c.note in promise.cases}
        for exception in sorted(set(_EXCEPTION.findall(promise.says)) - raised):
            if evidence.draws:
                yield f"The docstring promises {exception}, and no case asks for it."


def tests_meet_enough(evidence: Evidence) -> Iterator[str]:
    """Check a test that students write: its implementations, and every assertion it needs."""
    exercise = evidence.exercise
    if exercise.kind is not Kind.TEST or not evidence.draws:
        return
    hidden = evidence.draws[0]
    shown = {case.note for case in evidence.public if case.raises}
    kept_back = {case.note for case in hidden if case.raises} - shown
    if len(shown) < 3 or len(kept_back) < 2:
        yield (
            f"{len(shown)} kinds of wrong implementations are shown, and {len(kept_back)} are "
            "never shown; it needs at least 3 and 2."
        )
    if sum(1 for case in hidden if not case.raises) < 2:
        yield "A draw needs at least two right implementations."
    key = evidence.keys[-1]
    for assertion, weaker in without_an_assertion(exercise.reference):
        if judge(key, observe_quietly(weaker, key.cases)).passed:
            yield f"The reference passes without `{assertion}`. Add a wrong implementation for it."


def no_mistake_passes(evidence: Evidence) -> Iterator[str]:
    """Check that every wrong answer fails on a public case, without asking for its name."""
    for misconception in evidence.exercise.misconceptions:
        if not fails(misconception.wrong, evidence.keys[0]):
            yield (
                f"The wrong answer “{misconception.name}” passes on the public cases. Add a case "
                "on which it fails."
            )


def fails(answer: Callable[..., Any], key: AnswerKey) -> bool:
    """Return True if `answer` fails on a case of `key`; later cases are not tried."""
    return any(
        fault(case, expected, observe_quietly(answer, [case])[0])
        for case, expected in zip(key.cases, key.expected, strict=True)
    )


Check = Callable[[Evidence], Iterator[str]]

QUICK_CHECKS: tuple[Check, ...] = (
    is_complete,
    right_answers_pass,
    no_mistake_passes,
    docstring_is_held,
)
"""Those that need no hidden cases and little time."""

CHECKS: tuple[Check, ...] = (
    is_complete,
    right_answers_pass,
    mistakes_are_named,
    mistakes_are_named_beside_exceptions,
    empty_answers_fail,
    draws_differ,
    docstring_is_held,
    tests_meet_enough,
)
"""All checks, in the order in which their problems are reported."""


def _accept(implementation: Any) -> None:
    """Accept every implementation."""


def _reject(implementation: Any) -> None:
    """Reject every implementation."""
    raise AssertionError


def _filled(expected: Any, fill: Callable[[Any], Any]) -> Any:
    """Return `expected` with every number in it replaced; gradients and exceptions stay right."""
    if isinstance(expected, Differentiated):
        return Differentiated(_filled(expected.output, fill), expected.gradients)
    if isinstance(expected, Tensor):
        return Tensor(fill(expected.array))
    if isinstance(expected, Raised):
        return expected
    if isinstance(expected, tuple | list):
        return type(expected)(_filled(value, fill) for value in expected)
    if isinstance(expected, dict):
        return {name: _filled(value, fill) for name, value in expected.items()}
    if isinstance(expected, np.ndarray):
        return fill(expected)
    return type(expected)(fill(np.asarray(expected)).item())
