"""Put results where people look at them, while others are judged: notebooks and the gradebook."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from ..course.course import Course, SubmissionFile
from ..course.journal import Journal, Record, text_digest
from ..course.times import in_future, submission_time
from ..submission.submission import Submission
from ..submission.task import Task
from .autograded import write_autograded

if TYPE_CHECKING:  # nbgrader's import takes long: the writer's thread does it, beside the judging
    from .entries import Entry
    from .gradebook import Gradebook
    from .scores import Score

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


@dataclass(frozen=True)
class Written:
    """What the gradebook holds after a run: `scores` are those of the whole course."""

    waiting: list[Waiting]
    scores: list[Score]


class GradebookWriter:
    """The one writer of autograded notebooks and gradebook, a thread behind the journal.

    What cannot go into the gradebook just now is tried once more at the end: whatever it needs is
    in the journal by then. Use it in a `with`; leaving that by an exception writes no more.
    """

    def __init__(
        self, course: Course, journal: Journal, tasks: dict[str, Task], dry: bool = False
    ) -> None:
        """`tasks` may still grow: an assignment is in it before a submission of it is written.

        A `dry` run leaves everything as it is.
        """
        self._dry = dry
        self.notes: list[str] = []
        self._course, self._journal, self._tasks = course, journal, tasks
        self._thread = ThreadPoolExecutor(1)
        self._steps: deque[Future[None]] = deque([self._thread.submit(self._check)])
        self._entries: list[Entry] = []
        self._left: list[Entry] = []
        self._waiting: list[Waiting] = []
        self._scores: list[Score] = []

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

    def finish(self) -> Written:
        """Write what is left, then the late penalties. Raises GradebookError, OSError."""
        self._steps.append(self._thread.submit(self._enter_the_rest))
        while self._steps:
            self._steps.popleft().result()
        return Written(self._waiting, self._scores)

    def _check(self) -> None:
        from . import gradebook
        from .database import GradebookError, printable_url

        url = self._course.gradebook_url
        if not gradebook.check_version(url) and self._dry:
            raise GradebookError(
                f"{printable_url(url)}: there is no gradebook yet to compare with. Grade without "
                "--dry-run first."
            )

    def _write(self, file: SubmissionFile, submission: Submission, record: Record) -> None:
        from .database import GradebookError
        from .entries import Entry

        try:
            submitted = submission_time(file.path.parent)
        except ValueError as error:
            submitted = None
            self.notes.append(str(error))
        if submitted is not None and in_future(submitted):
            self.notes.append(
                f"{file.path.parent / 'timestamp.txt'}: the time {submitted} UTC is in the future. "
                "The submission counts as handed in then. Correct the file if that is wrong."
            )
        task = self._tasks[record.assignment]
        if not self._dry:
            write_autograded(self._course, submission, task.outline, task.released, submitted)
        texts = {name: text_digest(text) for name, text in submission.answers.items()}
        changed = self._journal.changed(record, texts)
        self._entries.append(Entry(record, texts, submission.answered, changed, submitted))
        if len(self._entries) >= BATCH and not self._dry:
            full, self._entries = self._entries, []
            if self._left:
                self._left += full
                return
            try:
                with self._gradebook() as book:
                    self._enter(book, full)
            except GradebookError:
                self._left += full

    def _enter_the_rest(self) -> None:
        from .penalties import LatePenalties

        penalties = LatePenalties(self._course.nbgrader_config, self._course.root)
        with self._gradebook() as book:
            self._enter(book, self._left + self._entries)
            book.assign_penalties(penalties)
            self._scores = book.scores()
            self.notes += book.marks_above_maximum()

    def _gradebook(self) -> Gradebook:
        from .gradebook import Gradebook

        return Gradebook(self._course.gradebook_url, self._dry)

    def _enter(self, book: Gradebook, entries: list[Entry]) -> None:
        """Write `entries` into the gradebook, a batch at a time."""
        for name, task in sorted(self._tasks.items()):
            book.add_assignment(name, task.released)
        for start in range(0, len(entries), BATCH):
            batch = entries[start : start + BATCH]
            for entry, answers in zip(batch, book.enter(batch), strict=True):
                record = entry.record
                self._waiting.append(Waiting(record.student, record.assignment, answers))
            self._journal.enter((entry.record, entry.texts) for entry in batch)
