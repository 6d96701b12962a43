"""Define the report as data. `autograder report --json` prints it with these names.

docs/report.md describes every field. In an anonymous report, each `student` is a label.
"""

from __future__ import annotations

from dataclasses import dataclass, field

FORMAT = 1
"""The version of the JSON. A field may be added to it; any other change raises it."""


@dataclass(frozen=True)
class Distribution:
    """How scores are distributed, as shares of the maximum from 0 to 1.

    `bins` counts the scores in each tenth of that range; the last includes 1. The numbers between
    are None if there are no scores.
    """

    n: int
    bins: tuple[int, ...]
    mean: float | None = None
    lowest: float | None = None
    lower_quartile: float | None = None
    median: float | None = None
    upper_quartile: float | None = None
    highest: float | None = None


@dataclass(frozen=True)
class Discrimination:
    """The correlation of an answer's points with those of the other exercises, over `n` students.

    `low` and `high` bound its 95 % confidence interval.
    """

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Item:
    """An exercise or a written question, over the `n` students whose answer has its points.

    `difficulty` is the mean share of the points, so that 1 is easiest; None if `n` is 0.
    `discrimination` is None if there are too few students for it to mean anything.
    """

    name: str
    written: bool
    max_points: float
    n: int
    full: int
    none: int
    difficulty: float | None
    discrimination: Discrimination | None


@dataclass(frozen=True)
class Mistake:
    """A mistake in an exercise, and who makes it in the newest submission.

    `name` is the misconception, or a few words for a wrong answer that fits none; `named` tells
    which. `question` asks about it, and `where` is Markdown that says what to read. `of` is the
    number of submissions. `overcome` counts students who made it in an earlier version only.
    """

    exercise: str
    name: str
    named: bool
    count: int
    of: int
    overcome: int
    question: str
    where: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class Stuck:
    """A student with the same mistake in the newest submission and in earlier ones."""

    student: str
    exercise: str
    mistake: str
    submissions: int


@dataclass(frozen=True)
class Waiting:
    """A submission with `answers` that a person must mark; `outdated` have an earlier mark."""

    student: str
    answers: int
    outdated: int


@dataclass(frozen=True)
class Look:
    """A submission that a person should look at, with the reason and its exercises."""

    student: str
    reason: str
    exercises: tuple[str, ...]


@dataclass(frozen=True)
class Marking:
    """How far the marking of a written question is, in numbers of submissions.

    `marked` have a person's mark, and `waiting` need one; the others have no answer. `outdated` are
    those of `waiting` that have a mark for an earlier text.
    """

    question: str
    max_points: float
    submissions: int
    marked: int
    waiting: int
    outdated: int


@dataclass(frozen=True)
class Alike:
    """How alike two answers to an exercise are, from 0 to 1, beside the class.

    `usual` is the median of all pairs of the class, and `share` the share of pairs that are at
    least as alike.
    """

    exercise: str
    similarity: float
    usual: float
    share: float


@dataclass(frozen=True)
class Pair:
    """Two submissions, or one and the reference, that are more alike than is usual.

    `rarity` adds up -log10 of `share` over the exercises. `exercises` has the rarest few.
    """

    students: tuple[str, ...]
    rarity: float
    exercises: tuple[Alike, ...]


@dataclass(frozen=True)
class Likeness:
    """How alike the pairs of a class are, beside the same class with its answers dealt out anew.

    `usual` is the median rarity of all `compared` pairs. `null` is the highest rarity of any pair
    after the answers to each exercise were shuffled among the students, so that no pair has more
    in common than single answers. `pairs` are those above it, the rarest first, and `beyond` is
    how many there are.
    """

    compared: int
    usual: float
    null: float
    beyond: int
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Similarity:
    """The likeness of submissions to each other, and to the reference; a hint to look.

    `reference` is None without the source of the reference. `left_out` counts answers that could
    not be read as Python.
    """

    each_other: Likeness
    reference: Likeness | None
    left_out: int


@dataclass(frozen=True)
class AssignmentReport:
    """The report on an assignment.

    `students` counts the class, `submissions` what was graded, and `ungraded` what was handed in
    and is not graded in its newest version. `similarity` is None if it was not asked for or the
    class is too small.
    """

    name: str
    title: str
    max_score: float
    students: int
    submissions: int
    late: int
    ungraded: tuple[str, ...]
    scores: Distribution
    items: tuple[Item, ...]
    mistakes: tuple[Mistake, ...]
    stuck: tuple[Stuck, ...]
    absent: tuple[str, ...]
    waiting: tuple[Waiting, ...]
    look: tuple[Look, ...]
    marking: tuple[Marking, ...]
    similarity: Similarity | None = None


@dataclass(frozen=True)
class ClassReport:
    """The report on an assignment, or on the term, which has several.

    `scores` is the distribution of the percentages of grades-term.csv in a term, and that of the
    scores otherwise. `names` are the names of students by identifier, as far as they are known.
    `notes` say what the report could not take into account.
    """

    format: int
    made: str
    anonymous: bool
    term: bool
    students: int
    scores: Distribution
    assignments: tuple[AssignmentReport, ...]
    names: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
