"""Say in words and pictures what was found in an answer, for its section of the feedback page."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docutils.nodes import make_id

from ..course.plaintext import printable
from ..judging.examples import value_of
from ..judging.keys import AnswerKey
from ..judging.verdict import AS_GIVEN, IN_WORDS, RIGHT_ON_PUBLIC, Example, Verdict
from ..notebook.check import read_cases
from ..notebook.pictures import case_pictures, with_code
from .results import Result, Results

GRADER_FAULT = (
    "This is a fault of the grader, not of the answer. No points are lost: a person will mark this "
    "exercise."
)

UNTRUSTED = "Graded without isolation (`--trust`)."

TRY_PUBLIC = (
    "Run `check({name})` below your answer in the notebook, which draws this case. Work out one "
    "number of the right result by hand, change your code, and run the check again."
)
TRY_EXCEPTION = (
    "Call your function on this input in a cell of your own, and read the traceback from its last "
    "line upwards."
)
TRY_HIDDEN = (
    "The self-check passes here, so it cannot help you further. Make a small input of this kind in "
    "a cell of your own, work out the right result by hand, and compare."
)
TRY_CELLS = (
    "Restart the kernel, run all cells from the top, and read the first traceback from its last "
    "line upwards."
)
NEXT: Mapping[Verdict, str] = {
    Verdict.MISSED: (
        "Think of a wrong implementation that your test accepts. On which input does it differ "
        "from a right one? Add that input to your test."
    ),
    Verdict.FALSE_ALARM: (
        "Look for an assertion that asks for more than the docstring promises, or that allows no "
        "rounding."
    ),
    Verdict.TIMEOUT: (
        "Call your function on the smallest input that you can think of, and print a line in each "
        "round of its loops."
    ),
    Verdict.MEMORY: "Print the shape of each array, and compare it with the docstring.",
    Verdict.FORBIDDEN: "Read the three helps above the answer cell, and write the steps yourself.",
    Verdict.MISSING: (
        "Read “Help 1: where to look” above the answer cell, then write the first step, even if "
        "the rest is missing. The self-check tells you how far it gets."
    ),
}
"""What to try next, for verdicts that are not about a case."""

WITHOUT_ADVICE = {Verdict.PASS, Verdict.GRADER_FAULT, Verdict.MALFORMED}
WITHOUT_ADVICE |= {Verdict.OUTPUT, Verdict.KILLED, Verdict.NONDETERMINISTIC}
"""The verdicts whose message already says what to do."""

SELF_EXPLANATORY = {Verdict.MISSING, Verdict.MALFORMED, Verdict.GRADER_FAULT}
"""The verdicts whose messages already describe them in words."""

CLAUSE = re.compile("(“[^“”]*”|;|, and )")
"""Matches the ends of clauses, and quotes, in which there are none."""

ELSEWHERE = re.compile(r"\bchapter \d|\bappendix\b|\bpage\b", re.IGNORECASE)
"""Matches the words of a clause that points to another page than the chapter's own."""


@dataclass(frozen=True)
class Finding:
    """What a page says about an exercise. All but the plain texts are HTML that is safe to show.

    `short` is a plain text of a few words for the list at the top of the page. `other` is the plain
    text of another right answer. The code is `folded` if there is nothing to look for in it.
    """

    passed: bool
    folded: bool
    short: str
    headline: str
    lines: tuple[str, ...]
    misconception: str
    question: str
    case: str
    pictures: str
    where: str
    advice: str
    other: str


@dataclass(frozen=True)
class Book:
    """The address of the book, without a slash at its end, and the page of this assignment.

    Without an address, there are no links.
    """

    address: str | None
    assignment: str

    def where(self, text: str) -> str:
        """Return the text that says where to read, with links to the chapter's own sections."""
        clauses = [""]
        for part in CLAUSE.split(text):
            if CLAUSE.fullmatch(part) and not part.startswith("“"):
                clauses += [part, ""]
            else:
                clauses[-1] += part
        return "".join(map(self._linked, clauses))

    def _linked(self, clause: str) -> str:
        escaped = with_code(clause)
        if not self.address or "section" not in clause.lower() or ELSEWHERE.search(clause):
            return escaped
        return re.sub("“([^“”]+)”", self._link, escaped)

    def _link(self, match: re.Match[str]) -> str:
        place = f"{self.assignment}.html#{make_id(html.unescape(match[1]))}"
        address = html.escape(f"{self.address}/{place}", quote=True)
        return f'“<a href="{address}">{match[1]}</a>”'


def finding(name: str, result: Result, results: Results, release: Path, book: Book) -> Finding:
    """Return what the page says about the exercise `name`.

    The public cases for the pictures come from the `.cases` file in `release`, the folder of the
    released assignment; without it there are no pictures.
    """
    verdict = Verdict(result.verdict)
    passed = verdict is Verdict.PASS
    words = IN_WORDS.get(verdict, "")
    headline = f"{words[:1].upper()}{words[1:]}." if verdict not in SELF_EXPLANATORY else ""
    lines = [GRADER_FAULT] if verdict is Verdict.GRADER_FAULT else []
    lines += result.message.splitlines()
    if results.trusted:
        lines.append(UNTRUSTED)
    drawn = "" if result.example is None else _pictures(name, result.example, release)
    return Finding(
        passed=passed,
        folded=passed or verdict is Verdict.MISSING,
        short="" if passed else printable(result.misconception or words),
        headline=headline,
        lines=tuple(with_code(printable(line)) for line in lines),
        misconception=with_code(printable(result.misconception or "")),
        question=with_code(printable(result.question or "")),
        case=with_code(printable(result.example.note)) if drawn and result.example else "",
        pictures=drawn,
        where="" if verdict in WITHOUT_ADVICE else book.where(result.where),
        advice=with_code(_advice(name, verdict, result)),
        other=result.other if passed else "",
    )


def _advice(name: str, verdict: Verdict, result: Result) -> str:
    """Return what to try next; empty if the message says it, or if nothing general helps."""
    if verdict in WITHOUT_ADVICE or result.message == AS_GIVEN.message:
        return ""
    if verdict in NEXT:
        return NEXT[verdict]
    if result.example is not None and verdict is Verdict.EXCEPTION:
        return TRY_EXCEPTION
    if result.example is not None:
        return TRY_PUBLIC.format(name=name)
    if result.message.startswith(RIGHT_ON_PUBLIC):
        return TRY_HIDDEN
    return TRY_CELLS if verdict is Verdict.EXCEPTION else ""


def _pictures(name: str, example: Example, release: Path) -> str:
    """Return the pictures of a case: inputs, the answer's result, the right one, the difference."""
    path = release / f"{release.name}.cases"
    key = _keys(path, _version(path)).get(name)
    if key is None or not 0 <= example.case < len(key.cases):
        return ""
    case, expected = key.cases[example.case], key.expected[example.case]
    if case.note != example.note:  # released again since, with other cases
        return ""
    try:
        return case_pictures(name, case, value_of(example), expected, key.names)
    except Exception:  # the value came from a student's process; the words remain without pictures
        return ""


@cache
def _keys(path: Path, _: tuple[int, int]) -> Mapping[str, AnswerKey]:
    """Return the keys in a `.cases` file, by exercise; none if it is missing or damaged."""
    try:
        return {key.exercise: key for key in read_cases(path)}
    except (OSError, ValueError):
        return {}


def _version(path: Path) -> tuple[int, int]:
    """Return the size and the time of a file, since a server may outlive a release."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns
