"""Simulate the term from the first release to the last export, stage by stage."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from . import plan
from .archives import HAS_TIMES, make_archive
from .compare import Key, Wanted, differences
from .course import ADDED, LENIENT, TermCourse, assignments
from .plan import Assignment, Student, Work

EXTENSION = timedelta(days=2)
MARKS = (3.0, 2.0)
"""The points that each of the two markers gives for a written answer."""


class Difference(Exception):
    """Raised if a number differs from that of the plain computation."""


class Term:
    """The term of `students` people with the assignments `names`, in the folder `root`."""

    def __init__(
        self, root: Path, names: Sequence[str], students: int, say: Callable[[str], None]
    ) -> None:
        self.course = TermCourse(root, say)
        self.numbers = 0  # that were compared
        self._root, self._say = root, say
        self._assignments = assignments(names)
        self._students = [Student(number) for number in range(1, students + 1)]
        self._work: dict[Key, Work] = {}
        self._extended: set[Key] = set()
        self._marks: dict[tuple[str, str, str], float] = {}
        self._lenient = [LENIENT[1]]
        self._asked_later = {ADDED[1]}

    def play(self) -> None:
        """Simulate all stages. Raises Difference, or CalledProcessError if a command fails."""
        self.course.open(self._students, self._assignments)
        for assignment in self._assignments:
            first = {student: plan.handed_in(assignment, student) for student in self._students}
            self._collect(
                assignment, {who: work for who, work in first.items() if work is not None}
            )
        self._grade("the first hand-in")
        self._extend()
        self._mark()
        self._grade("extensions and marks by two people")
        self._hand_in_again()
        self._grade("resubmissions")
        self._mend_a_check()
        self._add_an_exercise()
        self._drop_out()
        self.course.run("feedback")
        self._compare("the end of the term", pages=True)

    def _collect(self, assignment: Assignment, work: dict[Student, Work]) -> None:
        """Hand in the work through the platform of the assignment."""
        archive = self._root / f"{assignment.name}.zip"
        handed = {
            student: (done, self.course.notebook(assignment, student, done))
            for student, done in work.items()
        }
        options = make_archive(archive, assignment, handed)
        self.course.run("collect", str(archive), "--yes", *options)
        for student, done in work.items():
            self._work[assignment.name, student.id] = done

    def _extend(self) -> None:
        for assignment in self._assignments:
            for student in self._students[2::10]:
                if (assignment.name, student.id) in self._work:
                    self.course.extend(assignment, student, EXTENSION)
                    self._extended.add((assignment.name, student.id))

    def _mark(self) -> None:
        """Have two people mark the written answers, each for half of the class."""
        for marker, points in enumerate(MARKS):
            with self.course.gradebook() as book:
                for assignment in self._assignments:
                    for student in self._students[marker::2]:
                        work = self._work.get((assignment.name, student.id))
                        if work is None or not work.in_words:
                            continue
                        for question in assignment.written:
                            place = (assignment.name, assignment.name, student.id)
                            grade = book.find_grade(question.name, *place)
                            grade.manual_score, grade.needs_manual_grade = points, False
                            self._marks[assignment.name, student.id, question.name] = points
                book.db.commit()

    def _hand_in_again(self) -> None:
        """Have every 15th student correct a mistake, with unchanged written answers."""
        for assignment in self._assignments:
            again = {}
            for student in self._students[::15]:
                work = self._work.get((assignment.name, student.id))
                wrong = (
                    [name for name, kind in work.answers.items() if kind != plan.RIGHT]
                    if work
                    else []
                )
                if work is not None and wrong:
                    again[student] = plan.again(work, wrong[0])
            if again:
                self._collect(assignment, again)

    def _mend_a_check(self) -> None:
        """Fix the check, which must change only the scores of students with that mistake."""
        name, exercise = LENIENT[:2]
        if name not in {each.name for each in self._assignments}:
            return
        before = self._wanted()
        self.course.mend_the_check()
        self._lenient = []
        after = self._wanted()
        changed = {
            f"{key[0]}, {key[1]}: {before[key].score:g} to {after[key].score:g}"
            for key in after
            if before[key].score != after[key].score
        }
        for more in (["--dry-run"], []):
            printed = self.course.run("grade", *more)
            printed_changes = set(
                re.findall(r"^  (\w+, \w+: [\d.]+ to [\d.]+) \(", printed, re.MULTILINE)
            )
            if printed_changes != changed:
                raise Difference(
                    f"{more}: the scores that changed are {printed_changes}, not {changed}"
                )
        self._compare(f"a mended check of {exercise}: {len(changed)} scores change")

    def _add_an_exercise(self) -> None:
        name, exercise = ADDED
        chosen = [each for each in self._assignments if each.name == name]
        if not chosen:
            return
        self.course.add_the_exercise()
        self._asked_later = set()
        for key, work in self._work.items():
            if key[0] == name:  # their notebooks have no cell for it
                answers = {**work.answers, exercise: plan.OPEN}
                self._work[key] = replace(work, answers=answers)
        again = {
            student: plan.again(self._work[name, student.id], exercise)
            for student in self._students[1::20]
            if (name, student.id) in self._work
        }
        if again:
            self._collect(chosen[0], again)
        self._grade("an exercise added in mid-term")

    def _drop_out(self) -> None:
        gone = self._students[4]
        self.course.run("remove", gone.id)
        self._students.remove(gone)
        self._work = {key: work for key, work in self._work.items() if key[1] != gone.id}
        self._grade("a drop-out")

    def _grade(self, stage: str) -> None:
        self.course.run("grade")
        self._compare(stage)

    def _compare(self, stage: str, pages: bool = False) -> None:
        self.course.run("export")
        compared, wrong = differences(self.course.course, self._wanted(), pages)
        self.numbers += compared
        self._say(f"{stage}: {compared} numbers compared, {len(wrong)} differences")
        if wrong:
            raise Difference("\n".join(wrong[:20]))

    def _wanted(self) -> dict[Key, Wanted]:
        """Return the numbers of the plain computation for everyone on the roster."""
        return {
            (assignment.name, student.id): self._one(assignment, student)
            for assignment in self._assignments
            for student in self._students
        }

    def _one(self, assignment: Assignment, student: Student) -> Wanted:
        key = (assignment.name, student.id)
        asked = [each for each in assignment.exercises if each.name not in self._asked_later]
        today = replace(assignment, exercises=tuple(asked))
        work = self._work.get(key)
        if work is None:
            return Wanted({}, 0.0, False, today.max_score)
        marks = {
            question.name: self._marks.get((*key, question.name), 0.0)
            for question in assignment.written
        }
        points = plan.points(today, work, self._lenient, marks)
        extension = EXTENSION if key in self._extended else timedelta()
        has_times = HAS_TIMES[assignment.platform]
        penalty = plan.penalty(sum(points.values()), work, extension, has_times)
        return Wanted(points, penalty, True, today.max_score)
