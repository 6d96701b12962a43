"""Count the calls that an answer makes of the functions among its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..exercise.model import Case
from ..probe.asking import pack, request, unpack
from ..probe.values import Observation, SourceFunction


class CallCounter:
    """Cases whose functions record the calls that are made of them."""

    def __init__(self, cases: Iterable[Case]) -> None:
        """Make `self.cases`: the same cases, with functions that count calls in this process.

        If gradients may flow through a function, its calls are not counted: such a function runs
        in the process of the answer.
        """
        self._functions: list[list[_CountedFunction]] = []
        self.cases = [self._case(case) for case in cases]

    def add_counts(self, observations: Sequence[Observation]) -> list[Observation]:
        """Return the observations of the cases, each with its number of different calls."""
        return [
            replace(
                observation,
                requests=sum(len(function.requests) for function in functions),
                arguments_after=tuple(map(_without_counter, observation.arguments_after)),
            )
            for observation, functions in zip(observations, self._functions, strict=True)
        ]

    def _case(self, case: Case) -> Case:
        self._functions.append([])
        return case if case.call.may_differentiate else self._counting_case(case)

    def _counting_case(self, case: Case) -> Case:
        return replace(
            case,
            arguments=tuple(map(self._with_counter, case.arguments)),
            keywords={name: self._with_counter(value) for name, value in case.keywords.items()},
        )

    def _with_counter(self, argument: Any) -> Any:
        if not isinstance(argument, SourceFunction):
            return argument
        self._functions[-1].append(_CountedFunction(argument.name, argument.source))
        return self._functions[-1][-1]


def _without_counter(argument: Any) -> Any:
    if isinstance(argument, _CountedFunction):
        return SourceFunction(argument.name, argument.source)
    return argument


@dataclass(frozen=True)
class _CountedFunction(SourceFunction):
    """A function that is called as in the sandbox: with copied arguments, returning a copy."""

    requests: set[bytes] = field(default_factory=set)

    def load(self) -> Any:
        hidden = super().load()

        def function(*arguments: Any, **keywords: Any) -> Any:
            message = request(0, arguments, keywords)
            self.requests.add(message)
            _, copies, named = unpack(message)
            return unpack(pack(hidden(*copies, **named)))

        return function

    def __deepcopy__(self, memo: dict[int, Any]) -> _CountedFunction:
        return self
