"""How often the functions among the arguments are called."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ..sandbox.untrusted.asking import request
from ..sandbox.untrusted.values import SourceFunction
from .exercise import Case


class Counting:
    """Cases whose functions note how they are called."""

    def __init__(self, cases: Iterable[Case]) -> None:
        """`cases` of this object are those, to be called in this process.

        With tensors among the arguments nothing is counted, since the function runs beside the
        answer.
        """
        self._functions: list[_Counted] = []
        self.cases = [one if one.call.needs_torch else self._counting(one) for one in cases]

    @property
    def asks(self) -> int:
        """How many different calls of them there were until now, of the function of each case."""
        return sum(len(one.requests) for one in self._functions)

    def _counting(self, case: Case) -> Case:
        return replace(
            case,
            arguments=tuple(map(self._counted, case.arguments)),
            keywords={name: self._counted(one) for name, one in case.keywords.items()},
        )

    def _counted(self, argument: Any) -> Any:
        if not isinstance(argument, SourceFunction):
            return argument
        self._functions.append(_Counted(argument.name, argument.source))
        return self._functions[-1]


@dataclass(frozen=True)
class _Counted(SourceFunction):
    requests: set[bytes] = field(default_factory=set)

    def load(self) -> Any:
        function = super().load()

        def counted(*arguments: Any, **keywords: Any) -> Any:
            self.requests.add(request(0, arguments, keywords))
            return function(*arguments, **keywords)

        return counted

    def __deepcopy__(self, memo: dict[int, Any]) -> _Counted:
        return self
