"""See what the answers of one submission do, in the sandbox: run by run, and in which order.

What is hidden must not come to where the student's words are heard. So the public cases come first,
each exercise's first pass over them; only what is said there may be shown. Then come the hidden
cases, and the second pass over all of them, each in a process that has not run the first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..judging.judge import AnswerKey
from ..probe import wire
from ..probe.status import Status
from ..probe.values import Call
from ..sandbox.backends import Sandbox
from ..sandbox.rooms import Room, Run
from ..submission.submission import ProgramCell
from . import messages
from .messages import Handed, hand_over
from .questions import Question
from .seen import Seen, joined, twice

MOST_LEFT_OUT = 3
"""So many of a student's own cells may end their process before it counts."""


@dataclass(frozen=True)
class _Part:
    """The calls of an exercise that one run makes: of the cases `first` to `last` of a key."""

    key: AnswerKey
    first: int
    last: int

    @property
    def name(self) -> str:
        """The name of the exercise."""
        return self.key.exercise

    @property
    def calls(self) -> tuple[Call, ...]:
        """These calls."""
        return self.key.calls[self.first : self.last]

    @property
    def hidden(self) -> bool:
        """True if one of these cases is."""
        return self.last > self.key.public

    def one(self, at: int) -> _Part:
        """One of them."""
        return _Part(self.key, self.first + at, self.first + at + 1)


def _from(key: AnswerKey, first: int = 0) -> _Part:
    """All calls of a key, from its case `first` on."""
    return _Part(key, first, len(key.cases))


@lru_cache(maxsize=32)
def _handed(parts: tuple[_Part, ...]) -> Handed:
    """What a run gets; most submissions meet the same parts in the same draw."""
    return hand_over([(part.name, part.calls) for part in parts])


class Observer:
    """One submission in one room, and in another where that one has gone."""

    def __init__(self, program: Sequence[ProgramCell], sandbox: Sandbox, torch: bool) -> None:
        """Enter the first room. Raises NotBegun if it does not stand."""
        self._exercises = [cell.exercise for cell in program]
        self._program = wire.encode([(_bytes(cell.source), cell.exercise) for cell in program])
        self._sandbox, self._torch = sandbox, torch
        self._left_out: dict[int, Status] = {}  # cells that ended their process, and how
        self._with_hidden: set[int] = set()  # those of them that did so beside hidden inputs
        self._room = self._enter()

    def close(self) -> None:
        """Leave the room."""
        self._room.close()

    @property
    def own_left_out(self) -> dict[int, Status]:
        """The cells of no exercise that were left out in runs without hidden inputs, and why.

        Of other runs neither may be told: the student's process says what they are.
        """
        return {i: self._left_out[i] for i in self._own() if i not in self._with_hidden}

    @property
    def left_out_later(self) -> bool:
        """True if a cell of no exercise was left out in a run with hidden inputs."""
        return any(i in self._with_hidden for i in self._own())

    def _own(self) -> list[int]:
        return [i for i in self._left_out if self._exercises[i] is None]

    def observe(
        self, questions: Sequence[Question], passes: Callable[[AnswerKey, Any], bool]
    ) -> dict[str, Seen]:
        """What each answer does; on the hidden cases only if it `passes` the public ones."""
        by_name = {one.name: one for one in questions}
        first = self._made(by_name, {name: _from(one.public) for name, one in by_name.items()})
        seen = {name: replace(one, key=by_name[name].public) for name, one in first.items()}
        answered = [name for name, one in seen.items() if isinstance(one.result, list)]
        right = [name for name in answered if passes(by_name[name].public, seen[name].result)]
        hidden = self._made(
            by_name,
            {name: _from(by_name[name].whole, by_name[name].whole.public) for name in right},
        )
        for name, one in hidden.items():
            seen[name] = joined(seen[name], replace(one, key=by_name[name].whole))
        answered = [
            name
            for name in answered
            if isinstance(seen[name].result, list) and not by_name[name].whole.is_test
        ]
        second = self._pass(by_name, {name: _from(seen[name].key) for name in answered}, again=True)
        for name, one in second.items():
            seen[name] = twice(seen[name], one)
        return seen

    def _made(
        self, questions: Mapping[str, Question], parts: Mapping[str, _Part]
    ) -> dict[str, Seen]:
        """Make all calls: those of a test that a student wrote one by one, each in a fresh process.

        So a test meets one implementation, and can neither remember another one nor ask it. There
        is no second pass for a test: it meets each public implementation again among the hidden
        ones.
        """
        tests = {name: part for name, part in parts.items() if questions[name].whole.is_test}
        seen = self._pass(questions, {n: part for n, part in parts.items() if n not in tests})
        for name in [*tests]:
            in_turns = self._in_turns(questions[name], tests[name])
            if in_turns is not None:
                seen[name] = in_turns
                del tests[name]
        return seen | self._one_by_one(questions, tests)

    def _in_turns(self, question: Question, part: _Part) -> Seen | None:
        """What a test does where its cells run once, and each call in a copy of their process.

        None if that cannot be done, or one of the calls did not come to its end.
        """
        all_functions = hand_over([(part.name, part.calls)]).functions
        handed = [_handed((part.one(at),)) for at in range(len(part.calls))]
        if part.key.forbidden or len({one.calls for one in handed}) != 1:
            return None
        self._room.close()
        self._room = self._enter()
        run = self._room.run(
            handed[0].calls,
            functions=all_functions,
            seconds=question.seconds,
            left_out=self._left_out,
            turns=len(handed),
        )
        if run.status is not Status.ENDED or len(run.results) != len(handed):
            return None
        seen: Seen | None = None
        for at, (one, result) in enumerate(zip(handed, run.results, strict=True)):
            turn = replace(run, results=(result,), requests={0: run.requests.get(at, 0)})
            found = self._read([part.one(at)], one, turn, {part.name: question})
            if part.name not in found:
                return None
            seen = joined(seen, found[part.name]) if seen else found[part.name]
            if not isinstance(seen.result, list):
                break
        return seen

    def _one_by_one(
        self, questions: Mapping[str, Question], tests: Mapping[str, _Part]
    ) -> dict[str, Seen]:
        """What tests do where the cells run anew for each implementation.

        Each time there is a fresh room: what a run has said stays in the memory of its room, which
        the next one there would inherit.
        """
        seen: dict[str, Seen] = {}
        at = 0
        while tests:
            self._room.close()
            one_each = {name: part.one(at) for name, part in tests.items()}
            for name, one in self._pass(questions, one_each).items():
                seen[name] = joined(seen[name], one) if name in seen else one
            at += 1
            tests = {
                name: part
                for name, part in tests.items()
                if at < len(part.calls) and isinstance(seen[name].result, list)
            }
        return seen

    def _pass(
        self, questions: Mapping[str, Question], wanted: Mapping[str, _Part], again: bool = False
    ) -> dict[str, Seen]:
        """Make the calls of all exercises in one process; what does not end there, in another."""
        seen: dict[str, Seen] = {}
        parts = list(wanted.values())
        if again:
            # The run goes backwards; last come those before which all other processes end.
            parts.reverse()
            parts.sort(key=lambda one: bool(one.key.forbidden))
        while parts:
            ended_by = self._ended_by_its_cell(parts[0].name)
            if ended_by is not None:
                seen[parts[0].name] = Seen(ended_by, questions[parts[0].name].public, alone=True)
                del parts[0]
                continue
            batch = [one for one in parts if self._ended_by_its_cell(one.name) is None]
            order = list(reversed(batch)) if again else batch
            handed = _handed(tuple(order))
            run = self._run(handed, max(questions[one.name].seconds for one in batch), again)
            if run.cell is not None and self._may_leave_out(run.cell):
                self._left_out[run.cell] = (
                    Status.KILLED if run.status is Status.ENDED else run.status
                )
                if any(one.hidden for one in batch):
                    self._with_hidden.add(run.cell)
                continue
            found = self._read(batch, handed, run, questions)
            if not found:  # the first of them ended the run, and it was alone with the cells
                status = Status.KILLED if run.status is Status.ENDED else run.status
                key = questions[batch[0].name].public
                found = {key.exercise: Seen(status, key, alone=True, left=_left(run, key))}
            seen |= found
            parts = [one for one in parts if one.name not in seen]
        return seen

    def _run(self, handed: Handed, seconds: float, again: bool) -> Run:
        if not self._room.open:
            self._room = self._enter()
        return self._room.run(
            handed.calls,
            functions=handed.functions,
            seconds=seconds,
            again=again,
            left_out=self._left_out,
        )

    def _enter(self) -> Room:
        return self._sandbox.room(self._program, self._torch)

    def _read(
        self, batch: Sequence[_Part], handed: Handed, run: Run, questions: Mapping[str, Question]
    ) -> dict[str, Seen]:
        """What came back, in the order of the batch, up to the first that is none of it."""
        seen: dict[str, Seen] = {}
        changed = _calls_after(run, handed, batch)
        for index, (part, message) in enumerate(zip(batch, run.results, strict=False)):
            status, result = Status.ENDED, None
            try:
                name, result = messages.pair(wire.decode(message))
            except wire.WireError:
                name, status = part.name, Status.MALFORMED
            if name != part.name:
                break
            if isinstance(result, list):
                result = messages.observations(result, len(part.calls), handed)
                status = Status.MALFORMED if result is None else status
            if isinstance(result, list) and changed is not None:
                result = [
                    replace(one, arguments_after=_after(call))
                    for one, call in zip(result, changed[part.name], strict=True)
                ]
            if isinstance(result, list):
                result = [
                    replace(one, requests=sum(run.requests.get(number, 0) for number in numbers))
                    for one, numbers in zip(result, handed.numbers[part.name], strict=True)
                ]
            seen[part.name] = Seen(
                status,
                questions[part.name].public,
                result,
                changed is not None,
                alone=index == 0,
                left=_left(run, part.key),
            )
        return seen

    def _ended_by_its_cell(self, exercise: str) -> Status | None:
        cells = [i for i, name in enumerate(self._exercises) if name == exercise]
        return next((self._left_out[cell] for cell in cells if cell in self._left_out), None)

    def _may_leave_out(self, cell: int) -> bool:
        """True for the cell of an answer, and the first few others that end the process."""
        if not 0 <= cell < len(self._exercises) or cell in self._left_out:
            return False
        return self._exercises[cell] is not None or len(self._own()) < MOST_LEFT_OUT


def _left(run: Run, key: AnswerKey) -> bool:
    """True if processes had to end before an exercise."""
    return run.left and bool(key.forbidden)


def _after(call: Call) -> tuple[Any, ...]:
    """The arguments of a call, in the order in which an observation has them."""
    return (*call.arguments, *(call.keywords[name] for name in sorted(call.keywords)))


def _calls_after(run: Run, handed: Handed, batch: Sequence[_Part]) -> dict[str, list[Call]] | None:
    """The calls as they were after the run, seen from outside; None if they are as before."""
    if run.changed is None:
        return None
    with contextlib.suppress(wire.WireError, TypeError, ValueError):
        calls = dict(handed.put_back(wire.decode(run.changed)))
        if all(_are_calls(calls.get(one.name), len(one.calls)) for one in batch):
            return calls
    empty = Call(("its arguments are no longer there",))  # not even their header is as it was
    return {one.name: [empty] * len(one.calls) for one in batch}


def _are_calls(value: Any, count: int) -> bool:
    """True for a list of so many calls: the student's code could write to all of the message."""
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(one, Call) for one in value)
    )


def _bytes(source: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A cell as bytes: the wire's texts are too short for one with data in it."""
    return np.frombuffer(source.encode(), np.uint8)
