"""The journal: a file with a JSON line for every grading result, written before any other output.

Each line contains the SHA-256 of the line before it, so that a lost or edited line is detected.
Lines are appended and synced to the disk. A killed run leaves at most one incomplete line at the
end; its result was not reported yet, and it is dropped when the journal is opened again.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ..exercise.outline import Outline
from ..judging.verdict import Example, Judgement, Verdict
from .files import replace_text

FIRST = "0" * 64
"""The value that the first line has in place of the hash of a line before it."""

LOCK_WAIT = 10.0
"""Seconds to wait for another run to release the journal."""


class JournalError(Exception):
    """Raised if a journal cannot be used; the message says where and what to do."""


@dataclass(frozen=True)
class Row:
    """The result of an exercise of a submission: a line of grades.json."""

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
    """The results of a submission, and what they depend on.

    `digest` identifies the submission's content, `fingerprint` the checks and the environment.
    `trusted` is True for a run without the sandbox, which is only meant for one's own files. The
    `hints` and `examples` are by exercise; journals of earlier versions have no examples.
    """

    student: str
    assignment: str
    digest: str
    fingerprint: str
    trusted: bool
    rows: tuple[Row, ...]
    hints: dict[str, str]
    examples: dict[str, Example] = field(default_factory=dict)

    @property
    def final(self) -> bool:
        """Return True unless the grader failed on an exercise, which the next run judges again."""
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
    """Return the record of a submission: a row for each exercise of `assignment`, in its order.

    Exercises that can no longer be judged keep their rows from the record `before`. Raises KeyError
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
    examples = {name: found for name in names if (found := judgements[name].example) is not None}
    return Record(
        student, assignment.name, digest, fingerprint, trusted, tuple(rows), hints, examples
    )


@dataclass(frozen=True)
class Standing:
    """The score of a submission after a run, and its parts.

    `machine` and `person` are the points from the grader and from people, before the late
    `penalty`.
    """

    score: float
    machine: float
    person: float
    penalty: float
    digest: str
    fingerprint: str


@dataclass(frozen=True)
class _Entered:
    """The version of a submission that the gradebook has, as digests of its file and answers."""

    digest: str
    texts: Mapping[str, str] | None


def _chain(last: str, entry: dict[str, Any]) -> bytes:
    """Return a line of the journal; `last` is the hash of the line before it."""
    return json.dumps({"before": last, **entry}, ensure_ascii=True).encode() + b"\n"


def text_digest(text: str) -> str:
    """Return a short digest of an answer's text, to detect changes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Journal:
    """The journal of a course, a context manager that locks it for a single run at a time.

    `notes` lists repairs made on opening; `standings` holds the scores after the last run, by
    student and assignment. Raises JournalError if another run holds the journal, or if any line
    except an unfinished last line is damaged.
    """

    def __init__(self, path: Path, dry: bool = False) -> None:
        """Open the journal at `path`, creating it if necessary, and read it.

        A `dry` run writes nothing to the file, and only updates this object.
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
        self._write_error = ""  # the message if writing has failed
        self._write_lock = threading.Lock()  # two threads write, see nbgrader.writer
        self._stream = self._open()
        try:
            self._read()
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> Journal:
        """Return the open journal."""
        return self

    def __exit__(self, *_: object) -> None:
        """Release the journal for the next run."""
        with suppress(OSError):  # the write that met a full disk has already been reported
            self._stream.close()

    def find(
        self, student: str, assignment: str, digest: str, fingerprint: str, *, trusted: bool
    ) -> Record | None:
        """Return the last final record of this submission under these checks, or None.

        A sandboxed run (`trusted` False) does not reuse a record made without the sandbox.
        """
        record = self._index.get((student, assignment, digest, fingerprint))
        return record if record is not None and (trusted or not record.trusted) else None

    def latest(self) -> Iterable[Record]:
        """Return the newest record of each submission."""
        return self._latest.values()

    def newest(self, student: str, assignment: str) -> Record | None:
        """Return the newest record of this submission, or None."""
        return self._latest.get((student, assignment))

    def records(self) -> Sequence[Record]:
        """Return the records of all versions of all submissions, in the order of the journal."""
        return self._records

    def names(self, student: str) -> bool:
        """Return whether any line concerns this student."""
        return any(student == name for name, _ in (*self._latest, *self._entered, *self.standings))

    def changed(self, record: Record, texts: Mapping[str, str]) -> frozenset[str]:
        """Return the names of the answers whose text differs from the text in the gradebook.

        `texts` maps each answer of `record` to its `text_digest`.
        """
        before = self._entered.get((record.student, record.assignment))
        if before is None or before.digest == record.digest:
            return frozenset()
        if before.texts is None:  # written by a version that did not record texts
            return frozenset(texts)
        names = {*before.texts, *texts}
        return frozenset(name for name in names if before.texts.get(name) != texts.get(name))

    def append(self, record: Record) -> None:
        """Write `record`; it is on the disk when this returns."""
        self._write({"kind": "graded", **asdict(record)})
        self._index_record(record)

    def use(self, record: Record) -> None:
        """Make an earlier record the newest again, for a student who returned to that version."""
        if self._latest.get((record.student, record.assignment)) != record:
            self.append(record)

    def enter(self, records: Iterable[tuple[Record, Mapping[str, str]]]) -> None:
        """Record that the gradebook now holds these records, with the digests of their answers."""
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
        """Record the scores after this run, by student and assignment."""
        new = {
            key: standing
            for key, standing in standings.items()
            if self.standings.get(key) != standing
        }
        self._write(
            *(
                {"kind": "scored", "student": student, "assignment": name, **asdict(standing)}
                for (student, name), standing in new.items()
            )
        )
        self.standings |= new

    def erase(self, student: str) -> int:
        """Rewrite the journal without the lines about `student`; return how many were removed.

        The hashes in the remaining lines are recomputed. Close the journal afterwards.
        """
        self._stream.seek(0)
        last, remaining, erased = FIRST, [], 0
        for line in self._stream:
            entry = json.loads(line)
            del entry["before"]
            if entry["student"] == student:
                erased += 1
                continue
            remaining.append(_chain(last, entry))
            last = hashlib.sha256(remaining[-1]).hexdigest()
        if erased:
            replace_text(self.path, b"".join(remaining).decode())
        return erased

    def _open(self) -> BinaryIO:
        if self._dry and not self.path.exists():
            return io.BytesIO()
        deadline = time.monotonic() + LOCK_WAIT
        while True:
            stream = self.path.open("rb" if self._dry else "a+b")
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # `erase` may have replaced the file since, and the lock would be on the old one.
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
        position = 0
        for number, line in enumerate(self._stream, start=1):
            if not line.endswith(b"\n"):
                if not self._dry:
                    self._stream.truncate(position)
                self.notes.append(
                    f"{self.path}: line {number} was incomplete, because an earlier run was "
                    "stopped while writing it. The line was dropped and its submission is graded "
                    "again."
                )
                break
            self._parse(number, line)
            self._last = hashlib.sha256(line).hexdigest()
            position += len(line)

    def _parse(self, number: int, line: bytes) -> None:
        try:
            entry = json.loads(line)
            before, kind = entry.pop("before"), entry.pop("kind")
            if before != self._last:
                raise ValueError("its hash does not match the line before it")
            if kind == "graded":
                entry["rows"] = tuple(Row(**row) for row in entry["rows"])
                examples = entry.get("examples", {})
                entry["examples"] = {name: Example(**part) for name, part in examples.items()}
                self._index_record(Record(**entry))
            elif kind == "entered":
                entered = _Entered(entry["digest"], entry.get("texts"))
                self._entered[entry["student"], entry["assignment"]] = entered
            elif kind == "scored":
                key = entry.pop("student"), entry.pop("assignment")
                self.standings[key] = Standing(**entry)
            else:
                raise ValueError(f"its kind {kind!r} is unknown")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise JournalError(
                f"{self.path}: line {number} is damaged or edited: {error}. Restore the file from "
                "a backup, or move it away and grade again: the same submissions get the same "
                "results, and marks given by hand stay in the gradebook."
            ) from None

    def _index_record(self, record: Record) -> None:
        if record.final:
            key = (record.student, record.assignment, record.digest, record.fingerprint)
            self._index[key] = record
        self._latest[record.student, record.assignment] = record
        self._records.append(record)

    def _write(self, *entries: dict[str, Any]) -> None:
        if self._dry:
            return
        with self._write_lock:
            if self._write_error:  # a line after an incomplete one would break the chain of hashes
                raise JournalError(self._write_error)
            last, lines = self._last, []
            for entry in entries:
                line = _chain(last, entry)
                last = hashlib.sha256(line).hexdigest()
                lines.append(line)
            try:
                self._stream.write(b"".join(lines))
                self._stream.flush()
                os.fsync(self._stream.fileno())
            except OSError as error:
                self._write_error = (
                    f"{self.path}: the journal cannot be written ({error.strerror}). Its earlier "
                    "content is not lost. Free space on its disk, then run the same command again."
                )
                raise JournalError(self._write_error) from error
            self._last = last
