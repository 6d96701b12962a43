"""The observed behaviour of an answer in one run, and combined over several runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..judging.keys import AnswerKey
from ..probe.observe import merge_passes
from ..probe.status import Status


@dataclass(frozen=True)
class Behaviour:
    """What an answer did: a status and, if that is ENDED, a result.

    `result` is the exception that its cell raised, "stub", None if the name is not defined, or a
    list with an observation for each case of `key`. `changed` is True if the grader saw arguments
    change. `alone` is False if other exercises ran before it in the same process. `left` is True
    if leftover processes of the cells were ended before it, since it has forbidden operations.
    """

    status: Status
    key: AnswerKey
    result: Any = None
    changed: bool = False
    alone: bool = False
    left: bool = False


def join_cases(public: Behaviour, hidden: Behaviour) -> Behaviour:
    """Combine what an answer did on some cases and on others, such as public and hidden ones."""
    if not isinstance(hidden.result, list):
        return without_result(public, hidden)
    return replace(
        hidden,
        result=[*public.result, *hidden.result],
        changed=public.changed or hidden.changed,
        alone=public.alone and hidden.alone,
    )


def join_passes(first: Behaviour, second: Behaviour) -> Behaviour:
    """Combine what an answer did in the first and the second pass."""
    if not isinstance(second.result, list):
        return without_result(first, second)
    both = merge_passes(first.result, second.result)
    if second.changed and not first.changed:
        both = [
            replace(observation, arguments_after=repeated.arguments_after)
            for observation, repeated in zip(both, second.result, strict=True)
        ]
    return replace(first, result=both, alone=first.alone and second.alone, left=second.left)


def without_result(before: Behaviour, now: Behaviour) -> Behaviour:
    """Return the behaviour of an answer that gave results in one process, but not in the next."""
    status = Status.UNSTEADY if now.status is Status.ENDED else now.status
    alone = before.alone and now.alone
    return replace(before, status=status, result=None, alone=alone, left=now.left)
