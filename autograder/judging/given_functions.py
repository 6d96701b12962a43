"""How often the functions among the arguments are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..exercise.model import Case
from ..probe.asking import packed, request, unpacked
from ..probe.values import Observation, SourceFunction


class Counting:
    """Cases whose functions note how they are called."""

    def __init__(self, cases: Iterable[Case]) -> None:
        """`cases` of this object are those, to be called in this process.

        Where gradients may go through a function nothing is counted: it runs beside the answer.
        """
        self._functions: list[list[_Counted]] = []
        self.cases = [self._case(case) for case in cases]

    def counted(self, observations: Sequence[Observation]) -> list[Observation]:
        """The observations of the cases, each with how many different calls there were in it."""
        return [
            replace(
                one,
                requests=sum(len(function.requests) for function in functions),
                arguments_after=tuple(map(_as_given, one.arguments_after)),
            )
            for one, functions in zip(observations, self._functions, strict=True)
        ]

    def _case(self, case: Case) -> Case:
        self._functions.append([])
        return case if case.call.may_differentiate else self._counting(case)

    def _counting(self, case: Case) -> Case:
        return replace(
            case,
            arguments=tuple(map(self._counted, case.arguments)),
            keywords={name: self._counted(one) for name, one in case.keywords.items()},
        )

    def _counted(self, argument: Any) -> Any:
        if not isinstance(argument, SourceFunction):
            return argument
        self._functions[-1].append(_Counted(argument.name, argument.source))
        return self._functions[-1][-1]


def _as_given(argument: Any) -> Any:
    if isinstance(argument, _Counted):
        return SourceFunction(argument.name, argument.source)
    return argument


@dataclass(frozen=True)
class _Counted(SourceFunction):
    """A function that is called here as it is in the sandbox: with copies, and for copies."""

    requests: set[bytes] = field(default_factory=set)

    def load(self) -> Any:
        hidden = super().load()

        def function(*arguments: Any, **keywords: Any) -> Any:
            message = request(0, arguments, keywords)
            self.requests.add(message)
            _, copies, named = unpacked(message)
            return unpacked(packed(hidden(*copies, **named)))

        return function

    def __deepcopy__(self, memo: dict[int, Any]) -> _Counted:
        return self
