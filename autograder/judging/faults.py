"""Find the fault in an answer's behaviour on a case."""

from __future__ import annotations

from typing import Any

from ..exercise.model import Case
from ..probe.values import Differentiated, Observation, Raised, Unloadable, output
from .agreement import agree, input_tolerance
from .compare import Mismatch, compare, compare_exception, result, unexpected_exception
from .measured import compare_measured
from .modules import compare_gradients, compare_parameters
from .verdict import Verdict
from .words import NAMELESS, Names, by_parameter, kind, kind_in_general


def fault(
    case: Case, expected: Any, observation: Observation, names: Names = NAMELESS
) -> Mismatch | None:
    """Return the mismatch of an observation, or None if it is right."""
    value = observation.value
    if case.raises:
        return compare_exception(case.raises, value)
    if isinstance(value, Raised):
        return unexpected_exception(value)
    if case.setup and isinstance(value, Unloadable):
        return compare_parameters(case.setup.weights, value.shapes)
    if isinstance(expected, Differentiated) and not isinstance(value, Differentiated):
        text, general = (
            f"an instance of the class is {describe(value)} and should be a torch.nn.Module"
            for describe in (kind, kind_in_general)
        )
        return Mismatch(Verdict.WRONG_TYPE, text, general)
    min_tolerance = input_tolerance([*case.arguments, *case.keywords.values()])
    mismatch = (
        compare_measured(expected, value, case.tolerance)
        if case.tolerance is not None
        else compare(output(expected), output(value), result(names.returned), min_tolerance)
    )
    return (
        mismatch
        or _changed_argument(case, observation, names.parameters)
        or _changed_result(observation)
        or _wrong_gradient(expected, value, names.parameters)
        or _unlike_the_first(case, observation)
    )


def _changed_argument(
    case: Case, observation: Observation, parameters: tuple[str, ...]
) -> Mismatch | None:
    before = (*case.arguments, *(case.keywords[name] for name in sorted(case.keywords)))
    after = observation.arguments_after
    if agree(before, after):
        return None
    names = [f"argument {position}" for position in range(1, len(case.arguments) + 1)]
    labels = [by_parameter(name, parameters) for name in names]
    labels += [f"`{name}`" for name in sorted(case.keywords)]
    changed = [
        label
        for label, *values in zip(labels, before, after, strict=False)
        if len(before) == len(after) and not agree(*values)
    ]
    text = f"it changes {' and '.join(changed) or 'its arguments'}, which the caller still needs"
    return Mismatch(Verdict.MUTATED_INPUT, text, text, "Work on a copy, or make a new array.")


def _changed_result(observation: Observation) -> Mismatch | None:
    if observation.later is None:
        return None
    return Mismatch(
        Verdict.MUTATED_RESULT,
        "the result is right when it is returned, and a later call changes it",
        "the result is right when it is returned, and a later call changes it",
        "Make a new array or list in every call: all calls share the objects outside the function, "
        "and also a default argument such as `[]`.",
    )


def _wrong_gradient(expected: Any, value: Any, parameters: tuple[str, ...]) -> Mismatch | None:
    if not isinstance(expected, Differentiated):
        return None
    return compare_gradients(expected.gradients, value.gradients, parameters)


def _unlike_the_first(case: Case, observation: Observation) -> Mismatch | None:
    if agree(observation.value, observation.again):
        return None
    text = "a second call with the same arguments gives another result"
    advice = "Does it draw random numbers, or keep something from the first call?"
    if case.setup:
        text = "a second call, in train mode, gives another result than the first, in eval mode"
        advice = "Does it use dropout, draw random numbers, or keep something from the first call?"
    return Mismatch(Verdict.NONDETERMINISTIC, text, text, advice)
