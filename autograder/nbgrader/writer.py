"""Put results where people look at them, while others are judged: notebooks and the gradebook."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from ..course.course import Course, SubmissionFile
from ..course.journal import Journal, Record
from ..submission.submission import Submission
from ..submission.task import Task
from .autograded import write_autograded

if TYPE_CHECKING:  # nbgrader's import takes long: the writer's thread does it, beside the judging
    from .entries import Entry

BATCH = 100
"""How many submissions are entered into the gradebook in one transaction."""

BEHIND = 4 * BATCH
"""How many results may wait to be written before judging waits for them."""


@dataclass(frozen=True)
class Waiting:
    """How many answers of one submission wait for a person."""

    student: str
    assignment: str
    answers: int


class GradebookWriter:
    """The one writer of autograded notebooks and gradebook, a thread behind the journal.

    What cannot go into the gradebook just now is tried once more at the end: whatever it needs is
    in the journal by then. Use it in a `with`; leaving that by an exception writes no more.
    """

    def __init__(self, course: Course, journal: Journal, tasks: dict[str, Task]) -> None:
        """`tasks` may still grow: an assignment is in it before a submission of it is written."""
        self.notes: list[str] = []
        self._course, self._journal, self._tasks = course, journal, tasks
        self._thread = ThreadPoolExecutor(1)
        self._steps: deque[Future[None]] = deque([self._thread.submit(self._check)])
        self._entries: list[Entry] = []
        self._left: list[Entry] = []
        self._waiting: list[Waiting] = []

    def __enter__(self) -> GradebookWriter:
        """The writer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """End the thread."""
        self._thread.shutdown(cancel_futures=True)

    def write(self, file: SubmissionFile, submission: Submission, record: Record) -> None:
        """Have the result of a submission written. Raises what writing an earlier one raised."""
        self._steps.append(self._thread.submit(self._write, file, submission, record))
        while len(self._steps) > BEHIND or (self._steps and self._steps[0].done()):
            self._steps.popleft().result()

    def finish(self) -> list[Waiting]:
        """Write what is left; return what waits for a person. Raises GradebookError, OSError."""
        self._steps.append(self._thread.submit(self._enter_the_rest))
        while self._steps:
            self._steps.popleft().result()
        return self._waiting

    def _check(self) -> None:
        from . import gradebook

        gradebook.check_version(self._course.gradebook_url)

    def _write(self, file: SubmissionFile, submission: Submission, record: Record) -> None:
        from . import gradebook
        from .database import GradebookError
        from .entries import Entry

        try:
            submitted = gradebook.submission_time(file.path.parent)
        except ValueError as error:
            submitted = None
            self.notes.append(str(error))
        task = self._tasks[record.assignment]
        write_autograded(self._course, submission, task.outline, task.released, submitted)
        before = self._journal.entered(record.student, record.assignment)
        changed = before is not None and before != record.digest
        self._entries.append(Entry(record, submission.answered, changed, submitted))
        if len(self._entries) >= BATCH:
            full, self._entries = self._entries, []
            if self._left:
                self._left += full
                return
            try:
                self._enter(full)
            except GradebookError:
                self._left += full

    def _enter_the_rest(self) -> None:
        self._enter(self._left + self._entries)

    def _enter(self, entries: list[Entry]) -> None:
        """Write `entries` into the gradebook, a batch at a time."""
        from . import gradebook

        with gradebook.Gradebook(self._course.gradebook_url) as book:
            for name, task in sorted(self._tasks.items()):
                book.add_assignment(name, task.released)
            for start in range(0, len(entries), BATCH):
                batch = entries[start : start + BATCH]
                records = [entry.record for entry in batch]
                for record, answers in zip(records, book.enter(batch), strict=True):
                    self._waiting.append(Waiting(record.student, record.assignment, answers))
                self._journal.enter(records)
