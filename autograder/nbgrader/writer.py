"""Write autograded notebooks and the gradebook in a thread, while other submissions are judged."""

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

if TYPE_CHECKING:  # importing nbgrader is slow, so the thread does it, in parallel with judging
    from .entries import Entry
    from .gradebook import Gradebook
    from .scores import Score

BATCH = 100
"""The number of submissions that are entered into the gradebook in a transaction."""

MOST_QUEUED = 4 * BATCH
"""The number of results in the writer's queue at which judging waits for the writer."""


@dataclass(frozen=True)
class Waiting:
    """The number of answers in a submission that a person must mark."""

    student: str
    assignment: str
    answers: int


@dataclass(frozen=True)
class GradebookState:
    """The state of the gradebook after a run. `scores` are those of the whole course."""

    waiting: list[Waiting]
    scores: list[Score]


class GradebookWriter:
    """The only writer of autograded notebooks and the gradebook. It uses a thread.

    Results are in the journal before they get here. If a batch cannot be written to the gradebook,
    the writer tries again at the end of the run. Use it as a context manager: if the block ends
    with an exception, queued results are not written.
    """

    def __init__(
        self, course: Course, journal: Journal, tasks: dict[str, Task], dry: bool = False
    ) -> None:
        """Start the thread. A `dry` run changes neither notebooks nor the gradebook.

        `tasks` may grow, but must have an assignment before a submission of it is written.
        """
        self._dry = dry
        self.notes: list[str] = []
        self._course, self._journal, self._tasks = course, journal, tasks
        self._thread = ThreadPoolExecutor(1)
        self._steps: deque[Future[None]] = deque([self._thread.submit(self._check)])
        self._entries: list[Entry] = []
        self._postponed: list[Entry] = []
        self._waiting: list[Waiting] = []
        self._scores: list[Score] = []

    def __enter__(self) -> GradebookWriter:
        """Return the writer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Cancel queued results and end the thread."""
        self._thread.shutdown(cancel_futures=True)

    def write(self, file: SubmissionFile, submission: Submission, record: Record) -> None:
        """Queue a result for writing. If writing an earlier one failed, raises that exception."""
        self._steps.append(self._thread.submit(self._write, file, submission, record))
        while len(self._steps) > MOST_QUEUED or (self._steps and self._steps[0].done()):
            self._steps.popleft().result()

    def finish(self) -> GradebookState:
        """Write the remaining results and the late penalties. Raises GradebookError, OSError."""
        self._steps.append(self._thread.submit(self._finish))
        while self._steps:
            self._steps.popleft().result()
        return GradebookState(self._waiting, self._scores)

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
                "It counts as the time of submission. Correct the file if it is wrong."
            )
        task = self._tasks[record.assignment]
        if not self._dry:
            write_autograded(self._course, submission, task, record, submitted)
        texts = {name: text_digest(text) for name, text in submission.answers.items()}
        changed = self._journal.changed(record, texts)
        self._entries.append(Entry(record, texts, submission.answered, changed, submitted))
        if len(self._entries) >= BATCH and not self._dry:
            batch, self._entries = self._entries, []
            if self._postponed:
                self._postponed += batch
                return
            try:
                with self._gradebook() as book:
                    self._enter(book, batch)
            except GradebookError:
                self._postponed += batch

    def _finish(self) -> None:
        from .penalties import LatePenalties

        penalties = LatePenalties(self._course.nbgrader_config, self._course.root)
        with self._gradebook() as book:
            self._enter(book, self._postponed + self._entries)
            book.assign_penalties(penalties)
            self._scores = book.scores()
            self.notes += book.marks_above_maximum()

    def _gradebook(self) -> Gradebook:
        from .gradebook import Gradebook

        return Gradebook(self._course.gradebook_url, self._dry)

    def _enter(self, book: Gradebook, entries: list[Entry]) -> None:
        """Write `entries` to the gradebook in batches, and note them in the journal."""
        for name, task in sorted(self._tasks.items()):
            book.add_assignment(name, task.released)
        for start in range(0, len(entries), BATCH):
            batch = entries[start : start + BATCH]
            for entry, answers in zip(batch, book.enter(batch), strict=True):
                record = entry.record
                self._waiting.append(Waiting(record.student, record.assignment, answers))
            self._journal.enter((entry.record, entry.texts) for entry in batch)
