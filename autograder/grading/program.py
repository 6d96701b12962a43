"""Judge one submission: observe it in the sandbox, compare what comes back out here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ..course.plaintext import printable
from ..exercise.model import Assignment
from ..judging import judge
from ..judging.verdict import IN_A_PROCESS, Judgement, Verdict
from ..notebook.check import read_cases
from ..probe.namespaces import MOST_FILES
from ..probe.status import Status
from ..probe.values import Raised
from ..sandbox.backends import Sandbox
from ..sandbox.limits import LIMITS
from ..sandbox.rooms import NotBegun
from ..submission.submission import ProgramCell
from .observing import Observer
from .questions import Question, draw_questions
from .seen import Seen

FEWEST_REQUESTS = 0.75
"""Of the calls that the reference makes of a function among its arguments, a right answer makes so
many at least; what it hard-codes, or knows from elsewhere, it does not ask for."""


def judge_program(
    program: Sequence[ProgramCell],
    assignment: Assignment,
    *,
    course_key: bytes,
    digest: str,
    sandbox: Sandbox,
    only: Collection[str] | None = None,
) -> dict[str, Judgement]:
    """Judge every exercise of `assignment`, or `only` these, on public cases and hidden ones."""
    drawn = draw_questions(assignment, course_key, digest)
    wanted = [one for one in drawn if only is None or one.name in only]
    return judge_questions(program, wanted, sandbox)


def judge_questions(
    program: Sequence[ProgramCell], questions: Sequence[Question], sandbox: Sandbox
) -> dict[str, Judgement]:
    """Judge `program`: all exercises in common processes, and what fails there by itself.

    So one answer never costs another its points. A sandbox that fails before it begins with the
    student's code is a GRADER_FAULT: no answer did that. A program that imports torch finds it
    imported already in every room: the import takes longer than most answers.
    """
    torch = imports_torch(program) or any(one.whole.needs_torch for one in questions)
    judgements: dict[str, Judgement] = {}
    batches = [list(questions)]
    while batches:
        batch = batches.pop()
        seen, note = _observed(program, batch, sandbox, torch)
        for one in batch:
            found = seen.get(one.name)
            judgement = _judgement(found, note) if found else _not_begun(note)
            judgements[one.name] = judgement
            if found and not found.alone and not judgement.passed and len(batch) > 1:
                batches.append([one])
    return {one.name: judgements[one.name] for one in questions}


def imports_torch(cells: Iterable[ProgramCell]) -> bool:
    """True if a cell says so."""
    return any("import torch" in cell.source for cell in cells)


def _observed(
    program: Sequence[ProgramCell], questions: Sequence[Question], sandbox: Sandbox, torch: bool
) -> tuple[dict[str, Seen], str]:
    """What the answers do, and a note on cells that were left out; why, if no room stood."""
    try:
        with closing(Observer(program, sandbox, torch)) as observer:
            seen = observer.observe(questions, lambda key, result: judge.judge(key, result).earns)
            return seen, _left_out(program, observer.own_left_out) + (
                _LEFT_OUT_LATER if observer.left_out_later else ""
            )
    except NotBegun as error:
        return {}, str(error)


def _left_out(program: Sequence[ProgramCell], cells: Mapping[int, Status]) -> str:
    return "".join(
        f" (A cell of your own was left out, since it {_DID.get(how, 'ended the process')}. "
        f"It begins with: {printable(program[cell].source.strip()[:40])})"
        for cell, how in sorted(cells.items())
    )


def _judgement(seen: Seen, note: str) -> Judgement:
    """Turn what was seen of an answer into a judgement; only `judge` can pass it."""
    judgement = _judgement_alone(seen)
    if judgement.passed or not note:
        return judgement
    return replace(judgement, message=judgement.message + note)


def _judgement_alone(seen: Seen) -> Judgement:
    key, result = seen.key, seen.result
    if seen.status is Status.TIMEOUT and seen.left:
        return _NEEDS_WHAT_WAS_LEFT
    if seen.status is not Status.ENDED:
        return _STATUS[seen.status]
    if result is None:
        return Judgement(
            Verdict.MISSING,
            f"No {key.noun} called `{key.exercise}` is there after running the cells.",
        )
    if isinstance(result, str) and result == "stub":
        return Judgement(Verdict.MISSING, "Not answered: the stub is as it was released.")
    if isinstance(result, Raised):
        line = f", line {result.line}" if result.line else ""
        return Judgement(
            Verdict.EXCEPTION,
            f"Its cell raises {result.type_name}{line}: {result.message[:300]}",
        )
    if not isinstance(result, list):
        return _STATUS[Status.MALFORMED]
    judgement = judge.judge(key, result)
    if judgement.verdict is Verdict.NONDETERMINISTIC and seen.left:
        return _NEEDS_WHAT_WAS_LEFT
    requests = sum(one.requests for one in result)
    if judgement.earns and FEWEST_REQUESTS * key.requests > requests:
        return Judgement(
            Verdict.FORBIDDEN,
            "It hardly calls the function that it is given, where the task takes about "
            f"{key.requests} different calls. Its result has to come from what that returns.",
        )
    return judgement


def _not_begun(reason: str) -> Judgement:
    return Judgement(
        Verdict.GRADER_FAULT,
        f"The sandbox did not start ({printable(reason)[:200]}), so nothing of the answer has run. "
        "See `autograder doctor`.",
    )


_LEFT_OUT_LATER = (
    " (A cell of your own was left out: it ran well, but ended the process when it ran again.)"
)
_DID = {
    Status.TIMEOUT: "did not end in time",
    Status.MEMORY: "asked for too much memory",
    Status.OUTPUT: "printed too much",
    Status.RESULTS: "gave back too much",
    Status.PROCESSES: "started too many processes",
    Status.FILES: "made too many files",
}
_NEEDS_WHAT_WAS_LEFT = Judgement(
    Verdict.FORBIDDEN,
    "It no longer works when the processes and threads that your cells have left behind are ended, "
    "and nothing would see whether something ready-made runs in one. Compute it in the function "
    "itself: writing it is the exercise.",
)
_NO_RESULT = Judgement(Verdict.MALFORMED, "What came back from the answer is no result.")
_STATUS = {
    Status.SEALED: IN_A_PROCESS,
    Status.TIMEOUT: Judgement(
        Verdict.TIMEOUT, "It did not end in time. Is there a loop without an end?"
    ),
    Status.MEMORY: Judgement(
        Verdict.MEMORY, f"It asked for more than {LIMITS.memory // 2**20} MiB of memory."
    ),
    Status.OUTPUT: Judgement(
        Verdict.OUTPUT, f"It printed more than {LIMITS.output // 2**10} KiB. Remove the printing."
    ),
    Status.RESULTS: Judgement(
        Verdict.OUTPUT, f"Its results take more than {LIMITS.answer // 2**20} MiB."
    ),
    Status.KILLED: Judgement(
        Verdict.KILLED, "The process ended before it gave a result (an exit, or a crash)."
    ),
    Status.PROCESSES: Judgement(
        Verdict.KILLED, f"It started more than {LIMITS.processes} processes at a time."
    ),
    Status.FILES: Judgement(Verdict.KILLED, f"It made more than {MOST_FILES} files."),
    Status.UNSTEADY: Judgement(
        Verdict.NONDETERMINISTIC, "Run a second time, the cells do not define it as they did."
    ),
    Status.MALFORMED: _NO_RESULT,
    Status.SHARED: _NO_RESULT,  # no room says so of a run that has no turns
}


def check_program(
    program: Sequence[ProgramCell], cases: Path, sandbox: Sandbox
) -> dict[str, Judgement]:
    """Judge `program` on the public cases of a release's `.cases` file only."""
    questions = [Question(key, key, LIMITS.cell_seconds) for key in read_cases(cases)]
    return judge_questions(program, questions, sandbox)
