"""The journal: every grading result, one JSON line each, written before anything else is.

Each line carries the SHA-256 of the line before it, so that a lost or edited line shows. Lines are
appended and synced to the disk; a run that is killed leaves at most one torn line at the end, which
was never reported to anybody and is dropped when the journal is opened again.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ..exercise.outline import Outline
from ..judging.verdict import Judgement, Verdict
from .files import replace_text

FIRST = "0" * 64
"""What the first line carries in place of the hash of a line before it."""

LOCK_WAIT = 10.0
"""Seconds to wait for another run that holds the journal."""


class JournalError(Exception):
    """The journal cannot be used; the message says where and what to do."""


@dataclass(frozen=True)
class Row:
    """The result of one exercise of one submission: a line of grades.json."""

    student: str
    assignment: str
    exercise: str
    verdict: str
    points: float
    max_points: int
    misconception: str | None
    message: str


@dataclass(frozen=True)
class Record:
    """The results of one submission, and what they depend on.

    `digest` stands for the submission's content, `fingerprint` for the checks and the environment.
    `trusted` is True for a run without the sandbox, which nobody else's files are graded with.
    """

    student: str
    assignment: str
    digest: str
    fingerprint: str
    trusted: bool
    rows: tuple[Row, ...]
    hints: dict[str, str]

    @property
    def final(self) -> bool:
        """False if the grader failed somewhere: then the next run judges the submission again."""
        return all(row.verdict != Verdict.GRADER_FAULT for row in self.rows)


def make_record(
    student: str,
    assignment: Outline,
    judgements: dict[str, Judgement],
    *,
    digest: str,
    fingerprint: str,
    trusted: bool,
    before: Record | None,
) -> Record:
    """The record of one submission: a row for each exercise of `assignment`, in its order.

    Exercises that cannot be judged any more keep their rows of the record `before`. Raises KeyError
    for an exercise without a judgement.
    """
    rows = []
    for exercise in assignment.exercises:
        judgement = judgements[exercise.name]
        rows.append(
            Row(
                student=student,
                assignment=assignment.name,
                exercise=exercise.name,
                verdict=str(judgement.verdict),
                points=judgement.points(exercise.points),
                max_points=exercise.points,
                misconception=judgement.misconception,
                message=judgement.message,
            )
        )
    dropped = {part.name for part in assignment.dropped}
    rows += [row for row in (before.rows if before else ()) if row.exercise in dropped]
    names = [exercise.name for exercise in assignment.exercises]
    hints = {name: hint for name in names if (hint := judgements[name].hint) is not None}
    return Record(student, assignment.name, digest, fingerprint, trusted, tuple(rows), hints)


@dataclass(frozen=True)
class Standing:
    """The score of a submission after a run, and what it is made of.

    `machine` and `person` are the points of the grader and of people, before the late `penalty`.
    """

    score: float
    machine: float
    person: float
    penalty: float
    digest: str
    fingerprint: str


@dataclass(frozen=True)
class _Entered:
    """The version of a submission that the gradebook holds, by the digests of file and answers."""

    digest: str
    texts: Mapping[str, str] | None


def _chained(last: str, entry: dict[str, Any]) -> bytes:
    """Return a line of the journal; `last` is the hash of the line before it."""
    return json.dumps({"before": last, **entry}, ensure_ascii=True).encode() + b"\n"


def text_digest(text: str) -> str:
    """A short digest of an answer's text, to tell whether it has changed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Journal:
    """The journal of one course, held by one run at a time. Use it in a `with` statement.

    `notes` says what was repaired on opening, and `standings` holds the scores after the last run
    by student and assignment. Raises JournalError if another run holds the journal or if it is
    damaged anywhere but in its last, unfinished line.
    """

    def __init__(self, path: Path, dry: bool = False) -> None:
        """Open the journal at `path`, made if it is not there, and read it.

        A `dry` run writes nothing: what it would write is kept in memory.
        """
        self.path = path
        self.standings: dict[tuple[str, str], Standing] = {}
        self._dry = dry
        self.notes: list[str] = []
        self._records: list[Record] = []
        self._index: dict[tuple[str, str, str, str], Record] = {}
        self._latest: dict[tuple[str, str], Record] = {}
        self._entered: dict[tuple[str, str], _Entered] = {}
        self._last = FIRST
        self._broken = ""  # why nothing more can be written
        self._one_at_a_time = threading.Lock()  # two threads write, see nbgrader.writer
        self._stream = self._open()
        try:
            self._read()
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> Journal:
        """The open journal."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let the next run have the journal."""
        with suppress(OSError):  # what a full disk does not take, the run before has said
            self._stream.close()

    def find(
        self, student: str, assignment: str, digest: str, fingerprint: str, *, trusted: bool
    ) -> Record | None:
        """The last final record of exactly this submission under these checks, or None.

        A sandboxed run (`trusted` False) does not build on a record made without the sandbox.
        """
        record = self._index.get((student, assignment, digest, fingerprint))
        return record if record is not None and (trusted or not record.trusted) else None

    def latest(self) -> Iterable[Record]:
        """The newest record of each submission."""
        return self._latest.values()

    def newest(self, student: str, assignment: str) -> Record | None:
        """The newest record of this submission, or None."""
        return self._latest.get((student, assignment))

    def names(self, student: str) -> bool:
        """Return whether any line is on this student."""
        return any(student == name for name, _ in (*self._latest, *self._entered, *self.standings))

    def changed(self, record: Record, texts: Mapping[str, str]) -> frozenset[str]:
        """The names of the answers whose text is not the one that stands in the gradebook.

        `texts` holds the `text_digest` of each answer of `record`.
        """
        before = self._entered.get((record.student, record.assignment))
        if before is None or before.digest == record.digest:
            return frozenset()
        if before.texts is None:  # written by a version that noted no texts
            return frozenset(texts)
        names = {*before.texts, *texts}
        return frozenset(name for name in names if before.texts.get(name) != texts.get(name))

    def append(self, record: Record) -> None:
        """Write `record`; it is on the disk when this returns."""
        self._write({"kind": "graded", **asdict(record)})
        self._take(record)

    def use(self, record: Record) -> None:
        """Make an earlier record the newest of its submission: the student went back to it."""
        if self._latest.get((record.student, record.assignment)) != record:
            self.append(record)

    def enter(self, records: Iterable[tuple[Record, Mapping[str, str]]]) -> None:
        """Note that records now stand in the gradebook, each with the digests of its answers."""
        new = {
            (record.student, record.assignment): _Entered(record.digest, texts)
            for record, texts in records
        }
        new = {key: entered for key, entered in new.items() if self._entered.get(key) != entered}
        self._write(
            *(
                {"kind": "entered", "student": student, "assignment": name, **asdict(entered)}
                for (student, name), entered in new.items()
            )
        )
        self._entered |= new

    def stand(self, standings: Mapping[tuple[str, str], Standing]) -> None:
        """Note the scores after this run, by student and assignment."""
        new = {key: one for key, one in standings.items() if self.standings.get(key) != one}
        self._write(
            *(
                {"kind": "scored", "student": student, "assignment": name, **asdict(one)}
                for (student, name), one in new.items()
            )
        )
        self.standings |= new

    def erase(self, student: str) -> int:
        """Write the journal anew without the lines on `student`; return how many there were.

        The hashes in the lines that stay are computed again. Close the journal afterwards.
        """
        self._stream.seek(0)
        last, kept, erased = FIRST, [], 0
        for line in self._stream:
            entry = json.loads(line)
            del entry["before"]
            if entry["student"] == student:
                erased += 1
                continue
            kept.append(_chained(last, entry))
            last = hashlib.sha256(kept[-1]).hexdigest()
        if erased:
            replace_text(self.path, b"".join(kept).decode())
        return erased

    def _open(self) -> BinaryIO:
        if self._dry and not self.path.exists():
            return io.BytesIO()
        deadline = time.monotonic() + LOCK_WAIT
        while True:
            stream = self.path.open("rb" if self._dry else "a+b")
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # `erase` puts another file in this one's place, which nobody has locked.
                if os.path.samestat(os.fstat(stream.fileno()), self.path.stat()):
                    return stream
                stream.close()
            except BlockingIOError:
                stream.close()
                if time.monotonic() > deadline:
                    raise JournalError(
                        f"{self.path}: another run is grading this course. "
                        "Wait until it has finished, then run the same command again."
                    ) from None
                time.sleep(0.1)

    def _read(self) -> None:
        self._stream.seek(0)
        place = 0
        for number, line in enumerate(self._stream, start=1):
            if not line.endswith(b"\n"):
                if not self._dry:
                    self._stream.truncate(place)
                self.notes.append(
                    f"{self.path}: line {number} was unfinished (the run before was stopped while "
                    "writing it). It is dropped and its submission is graded again."
                )
                break
            self._parse(number, line)
            self._last = hashlib.sha256(line).hexdigest()
            place += len(line)

    def _parse(self, number: int, line: bytes) -> None:
        try:
            entry = json.loads(line)
            before, kind = entry.pop("before"), entry.pop("kind")
            if before != self._last:
                raise ValueError("it does not follow from the line before it")
            if kind == "graded":
                entry["rows"] = tuple(Row(**row) for row in entry["rows"])
                self._take(Record(**entry))
            elif kind == "entered":
                entered = _Entered(entry["digest"], entry.get("texts"))
                self._entered[entry["student"], entry["assignment"]] = entered
            elif kind == "scored":
                key = entry.pop("student"), entry.pop("assignment")
                self.standings[key] = Standing(**entry)
            else:
                raise ValueError(f"it is of the unknown kind {kind!r}")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise JournalError(
                f"{self.path}: line {number} is damaged or edited: {error}. Put the file back from "
                "a backup, or move it away and grade again: the same submissions get the same "
                "results, and marks given by hand stay in the gradebook."
            ) from None

    def _take(self, record: Record) -> None:
        if record.final:
            key = (record.student, record.assignment, record.digest, record.fingerprint)
            self._index[key] = record
        self._latest[record.student, record.assignment] = record

    def _write(self, *entries: dict[str, Any]) -> None:
        if self._dry:
            return
        with self._one_at_a_time:
            if self._broken:  # a line after one that may be torn would not follow from it
                raise JournalError(self._broken)
            last, lines = self._last, []
            for entry in entries:
                line = _chained(last, entry)
                last = hashlib.sha256(line).hexdigest()
                lines.append(line)
            try:
                self._stream.write(b"".join(lines))
                self._stream.flush()
                os.fsync(self._stream.fileno())
            except OSError as error:
                self._broken = (
                    f"{self.path}: the journal cannot be written ({error.strerror}). What it holds "
                    "is not lost. Make room on its disk, then run the same command again."
                )
                raise JournalError(self._broken) from error
            self._last = last
