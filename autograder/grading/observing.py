"""Run the answers of a submission in the sandbox and observe what they do.

Hidden inputs must never reach a process whose output the student can see. So the first run makes
the public calls of every exercise, and only its messages may be shown. Then the hidden cases run,
and then all cases run again in a second pass. Each of these runs has a process of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..judging.keys import AnswerKey
from ..probe import wire
from ..probe.status import Status
from ..probe.values import Call
from ..sandbox.backends import Sandbox
from ..sandbox.rooms import Room, Run
from ..submission.submission import ProgramCell
from . import messages
from .behaviour import Behaviour, join_cases, join_passes
from .messages import EncodedCalls, encode_calls
from .questions import Question

MOST_LEFT_OUT = 3
"""The number of the student's own cells that may end their process before it counts."""


@dataclass(frozen=True)
class _Part:
    """The calls of an exercise in a run: those of the cases `first` to `last` - 1 of a key."""

    key: AnswerKey
    first: int
    last: int

    @property
    def name(self) -> str:
        """Return the name of the exercise."""
        return self.key.exercise

    @property
    def calls(self) -> tuple[Call, ...]:
        """Return the calls."""
        return self.key.calls[self.first : self.last]

    @property
    def hidden(self) -> bool:
        """Return True if one of the cases is hidden."""
        return self.last > self.key.public

    def call(self, at: int) -> _Part:
        """Return the part with only the call number `at` of this part."""
        return _Part(self.key, self.first + at, self.first + at + 1)


def _part_from(key: AnswerKey, first: int = 0) -> _Part:
    """Return the part with all calls of a key, from its case `first` on."""
    return _Part(key, first, len(key.cases))


@lru_cache(maxsize=32)
def _encode(parts: tuple[_Part, ...]) -> EncodedCalls:
    """Encode the calls of a run; cached, since most submissions of a draw get the same parts."""
    return encode_calls([(part.name, part.calls) for part in parts])


class Observer:
    """Runs a submission in a room, and in a new room whenever the room has ended."""

    def __init__(self, program: Sequence[ProgramCell], sandbox: Sandbox, torch: bool) -> None:
        """Enter the first room. Raises NotStarted if it does not start."""
        self._exercises = [cell.exercise for cell in program]
        self._program = wire.encode([(_bytes(cell.source), cell.exercise) for cell in program])
        self._sandbox, self._torch = sandbox, torch
        self._left_out: dict[int, Status] = {}  # cells that ended their process, and how
        self._with_hidden: set[int] = set()  # cells of these that ended a run with hidden inputs
        self._room = self._enter()

    def close(self) -> None:
        """Leave the room."""
        self._room.close()

    @property
    def own_left_out(self) -> dict[int, Status]:
        """Return the student's own cells that ended a run without hidden inputs, and how.

        Other runs must not be reported, since the student's process decides which cell ends them.
        """
        cells = self._own_cells_left_out()
        return {cell: self._left_out[cell] for cell in cells if cell not in self._with_hidden}

    @property
    def left_out_later(self) -> bool:
        """Return True if a cell of the student's own was left out in a run with hidden inputs."""
        return any(cell in self._with_hidden for cell in self._own_cells_left_out())

    def _own_cells_left_out(self) -> list[int]:
        return [cell for cell in self._left_out if self._exercises[cell] is None]

    def observe(
        self, questions: Sequence[Question], passes: Callable[[AnswerKey, Any], bool]
    ) -> dict[str, Behaviour]:
        """Return what each answer does; run hidden cases only if it `passes` the public ones."""
        by_name = {question.name: question for question in questions}
        first = self._run_cases(
            by_name, {name: _part_from(question.public) for name, question in by_name.items()}
        )
        behaviours = {
            name: replace(public, key=by_name[name].public) for name, public in first.items()
        }
        answered = [name for name, public in behaviours.items() if isinstance(public.result, list)]
        right = [name for name in answered if passes(by_name[name].public, behaviours[name].result)]
        hidden = self._run_cases(
            by_name,
            {name: _part_from(by_name[name].whole, by_name[name].whole.public) for name in right},
        )
        for name, behaviour in hidden.items():
            behaviours[name] = join_cases(
                behaviours[name], replace(behaviour, key=by_name[name].whole)
            )
        answered = [
            name
            for name in answered
            if isinstance(behaviours[name].result, list) and not by_name[name].whole.is_test
        ]
        second = self._run_pass(
            by_name, {name: _part_from(behaviours[name].key) for name in answered}, again=True
        )
        for name, behaviour in second.items():
            behaviours[name] = join_passes(behaviours[name], behaviour)
        return behaviours

    def _run_cases(
        self, questions: Mapping[str, Question], parts: Mapping[str, _Part]
    ) -> dict[str, Behaviour]:
        """Make all calls. A test that a student wrote gets a fresh process for each call.

        So a test meets a single implementation, and can neither remember nor call another one.
        Tests need no second pass, since the hidden implementations include the public ones.
        """
        tests = {name: part for name, part in parts.items() if questions[name].whole.is_test}
        functions = {name: part for name, part in parts.items() if name not in tests}
        behaviours = self._run_pass(questions, functions)
        for name in [*tests]:
            in_turns = self._run_in_turns(questions[name], tests[name])
            if in_turns is not None:
                behaviours[name] = in_turns
                del tests[name]
        return behaviours | self._run_separately(questions, tests)

    def _run_in_turns(self, question: Question, part: _Part) -> Behaviour | None:
        """Run the cells of a test once, and each call in a fork of their process.

        Return None if that is not possible, or if a call did not finish.
        """
        all_functions = encode_calls([(part.name, part.calls)]).functions
        encoded = [_encode((part.call(at),)) for at in range(len(part.calls))]
        if part.key.forbidden or len({turn.calls for turn in encoded}) != 1:
            return None
        self._room.close()
        self._room = self._enter()
        run = self._room.run(
            encoded[0].calls,
            functions=all_functions,
            seconds=question.seconds,
            left_out=self._left_out,
            turns=len(encoded),
        )
        if run.status is not Status.ENDED or len(run.results) != len(encoded):
            return None
        combined: Behaviour | None = None
        for at, (calls, result) in enumerate(zip(encoded, run.results, strict=True)):
            turn = replace(run, results=(result,), requests={0: run.requests.get(at, 0)})
            read = self._read([part.call(at)], calls, turn, {part.name: question})
            if part.name not in read:
                return None
            combined = join_cases(combined, read[part.name]) if combined else read[part.name]
            if not isinstance(combined.result, list):
                break
        return combined

    def _run_separately(
        self, questions: Mapping[str, Question], tests: Mapping[str, _Part]
    ) -> dict[str, Behaviour]:
        """Run the cells of tests again for each implementation.

        Each run gets a fresh room, since the messages of a run stay in the memory of its room,
        and later runs in that room would inherit them.
        """
        behaviours: dict[str, Behaviour] = {}
        at = 0
        while tests:
            self._room.close()
            next_calls = {name: part.call(at) for name, part in tests.items()}
            for name, behaviour in self._run_pass(questions, next_calls).items():
                behaviours[name] = (
                    join_cases(behaviours[name], behaviour) if name in behaviours else behaviour
                )
            at += 1
            tests = {
                name: part
                for name, part in tests.items()
                if at < len(part.calls) and isinstance(behaviours[name].result, list)
            }
        return behaviours

    def _run_pass(
        self, questions: Mapping[str, Question], wanted: Mapping[str, _Part], again: bool = False
    ) -> dict[str, Behaviour]:
        """Make the calls of all exercises in one process; if it ends early, the rest in another."""
        behaviours: dict[str, Behaviour] = {}
        parts = list(wanted.values())
        if again:
            # The run goes backwards. Before an exercise with forbidden operations all leftover
            # processes are ended, so these exercises come last.
            parts.reverse()
            parts.sort(key=lambda part: bool(part.key.forbidden))
        while parts:
            ended_by = self._ended_by_its_cell(parts[0].name)
            if ended_by is not None:
                behaviours[parts[0].name] = Behaviour(
                    ended_by, questions[parts[0].name].public, alone=True
                )
                del parts[0]
                continue
            batch = [part for part in parts if self._ended_by_its_cell(part.name) is None]
            order = list(reversed(batch)) if again else batch
            encoded = _encode(tuple(order))
            run = self._run(encoded, max(questions[part.name].seconds for part in batch), again)
            if run.cell is not None and self._can_be_left_out(run.cell):
                self._left_out[run.cell] = (
                    Status.KILLED if run.status is Status.ENDED else run.status
                )
                if any(part.hidden for part in batch):
                    self._with_hidden.add(run.cell)
                continue
            read = self._read(batch, encoded, run, questions)
            if not read:  # the batch's first exercise ended the run, before any other had run
                status = Status.KILLED if run.status is Status.ENDED else run.status
                key = questions[batch[0].name].public
                read = {
                    key.exercise: Behaviour(
                        status, key, alone=True, left=_leftovers_ended(run, key)
                    )
                }
            behaviours |= read
            parts = [part for part in parts if part.name not in behaviours]
        return behaviours

    def _run(self, encoded: EncodedCalls, seconds: float, again: bool) -> Run:
        if not self._room.open:
            self._room = self._enter()
        return self._room.run(
            encoded.calls,
            functions=encoded.functions,
            seconds=seconds,
            again=again,
            left_out=self._left_out,
        )

    def _enter(self) -> Room:
        return self._sandbox.room(self._program, self._torch)

    def _read(
        self,
        batch: Sequence[_Part],
        encoded: EncodedCalls,
        run: Run,
        questions: Mapping[str, Question],
    ) -> dict[str, Behaviour]:
        """Return the behaviour of the batch, in its order, up to the first missing result."""
        behaviours: dict[str, Behaviour] = {}
        changed = _calls_after(run, encoded, batch)
        for index, (part, message) in enumerate(zip(batch, run.results, strict=False)):
            status, result = Status.ENDED, None
            try:
                name, result = messages.pair(wire.decode(message))
            except wire.WireError:
                name, status = part.name, Status.MALFORMED
            if name != part.name:
                break
            if isinstance(result, list):
                result = messages.observations(result, len(part.calls), encoded)
                status = Status.MALFORMED if result is None else status
            if isinstance(result, list) and changed is not None:
                result = [
                    replace(observation, arguments_after=_after(call))
                    for observation, call in zip(result, changed[part.name], strict=True)
                ]
            if isinstance(result, list):
                counts = [
                    sum(run.requests.get(number, 0) for number in numbers)
                    for numbers in encoded.numbers[part.name]
                ]
                result = [
                    replace(observation, requests=count)
                    for observation, count in zip(result, counts, strict=True)
                ]
            behaviours[part.name] = Behaviour(
                status,
                questions[part.name].public,
                result,
                changed is not None,
                alone=index == 0,
                left=_leftovers_ended(run, part.key),
            )
        return behaviours

    def _ended_by_its_cell(self, exercise: str) -> Status | None:
        cells = [i for i, name in enumerate(self._exercises) if name == exercise]
        return next((self._left_out[cell] for cell in cells if cell in self._left_out), None)

    def _can_be_left_out(self, cell: int) -> bool:
        """Return True if the run can go on without a cell.

        That holds once for each answer's cell, and for the first few of the student's own.
        """
        if not 0 <= cell < len(self._exercises) or cell in self._left_out:
            return False
        return self._exercises[cell] is not None or len(self._own_cells_left_out()) < MOST_LEFT_OUT


def _leftovers_ended(run: Run, key: AnswerKey) -> bool:
    """Return True if leftover processes had to be ended before an exercise."""
    return run.left and bool(key.forbidden)


def _after(call: Call) -> tuple[Any, ...]:
    """Return the arguments of a call, in the order of an observation's `arguments_after`."""
    return (*call.arguments, *(call.keywords[name] for name in sorted(call.keywords)))


def _calls_after(
    run: Run, encoded: EncodedCalls, batch: Sequence[_Part]
) -> dict[str, list[Call]] | None:
    """Return the calls as the grader saw them after the run; None if they are unchanged."""
    if run.changed is None:
        return None
    with contextlib.suppress(wire.WireError, TypeError, ValueError):
        calls = dict(encoded.restore_functions(wire.decode(run.changed)))
        if all(_are_calls(calls.get(part.name), len(part.calls)) for part in batch):
            return calls
    empty = Call(("its arguments are no longer there",))  # even their header was overwritten
    return {part.name: [empty] * len(part.calls) for part in batch}


def _are_calls(value: Any, count: int) -> bool:
    """Return True for a list of `count` calls; a student's code can overwrite the message."""
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(item, Call) for item in value)
    )


def _bytes(source: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a cell as bytes, since a cell with data can be too long for a string on the wire."""
    return np.frombuffer(source.encode(), np.uint8)
