"""What an answer was seen to do, in one run, and in several put together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..judging.judge import AnswerKey
from ..probe.observe import merge_passes
from ..probe.status import Status


@dataclass(frozen=True)
class Seen:
    """What an answer did: a status, and if that is ENDED what came of it.

    `result` is what its cell raised, "stub", None for no such name, or an observation for each case
    of `key`. `changed` says that the grader saw arguments change. `alone` is False if exercises
    before it ran in the same process. `left` says that processes which the cells had left were
    ended before it, since something is forbidden in it.
    """

    status: Status
    key: AnswerKey
    result: Any = None
    changed: bool = False
    alone: bool = False
    left: bool = False


def joined(public: Seen, hidden: Seen) -> Seen:
    """What an answer did on some cases and on others, such as the public and the hidden ones."""
    if not isinstance(hidden.result, list):
        return unlike(public, hidden)
    return replace(
        hidden,
        result=[*public.result, *hidden.result],
        changed=public.changed or hidden.changed,
        alone=public.alone and hidden.alone,
    )


def twice(first: Seen, second: Seen) -> Seen:
    """What an answer did in both passes."""
    if not isinstance(second.result, list):
        return unlike(first, second)
    both = merge_passes(first.result, second.result)
    if second.changed and not first.changed:
        both = [
            replace(one, arguments_after=again.arguments_after)
            for one, again in zip(both, second.result, strict=True)
        ]
    return replace(first, result=both, alone=first.alone and second.alone, left=second.left)


def unlike(before: Seen, now: Seen) -> Seen:
    """An answer that was there in one process and is not in the next."""
    status = Status.UNSTEADY if now.status is Status.ENDED else now.status
    alone = before.alone and now.alone
    return replace(before, status=status, result=None, alone=alone, left=now.left)
