"""Judge a submission: observe it in the sandbox, then compare its results outside of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ..course.plaintext import printable
from ..exercise.model import Assignment
from ..judging.examples import example_of
from ..judging.judge import judge
from ..judging.verdict import IN_A_PROCESS, Judgement, Verdict
from ..notebook.check import read_cases
from ..probe.namespaces import MOST_FILES
from ..probe.status import Status
from ..probe.values import Raised
from ..sandbox.backends import Sandbox
from ..sandbox.limits import LIMITS
from ..sandbox.rooms import NotStarted
from ..submission.submission import ProgramCell
from .behaviour import Behaviour
from .observing import Observer
from .questions import Question, draw_questions

FEWEST_REQUESTS = 0.75
"""A right answer calls a function among its arguments at least this many times as often as the
reference does. An answer that calls it less has its results from somewhere else."""


def judge_program(
    program: Sequence[ProgramCell],
    assignment: Assignment,
    *,
    course_key: bytes,
    digest: str,
    sandbox: Sandbox,
    only: Collection[str] | None = None,
) -> dict[str, Judgement]:
    """Judge the exercises of `assignment`, or `only` these, on public and hidden cases."""
    drawn = draw_questions(assignment, course_key, digest)
    questions = [question for question in drawn if only is None or question.name in only]
    return judge_questions(program, questions, sandbox)


def judge_questions(
    program: Sequence[ProgramCell], questions: Sequence[Question], sandbox: Sandbox
) -> dict[str, Judgement]:
    """Judge all exercises of `program` in shared processes; judge the ones that fail again, alone.

    So one answer can never cost another its points. If the sandbox fails before it runs the
    student's code, the verdict is GRADER_FAULT, since no answer can cause that. If the program
    needs torch, every room imports it beforehand, since the import takes longer than most answers.
    """
    torch = imports_torch(program) or any(question.whole.needs_torch for question in questions)
    judgements: dict[str, Judgement] = {}
    batches = [list(questions)]
    while batches:
        batch = batches.pop()
        behaviours, note = _observe(program, batch, sandbox, torch)
        for question in batch:
            behaviour = behaviours.get(question.name)
            judgement = _judgement(behaviour, note) if behaviour else _not_started(note)
            judgements[question.name] = judgement
            if behaviour and not behaviour.alone and not judgement.passed and len(batch) > 1:
                batches.append([question])
    return {question.name: judgements[question.name] for question in questions}


def imports_torch(cells: Iterable[ProgramCell]) -> bool:
    """Return True if a cell contains an import of torch."""
    return any("import torch" in cell.source for cell in cells)


def _observe(
    program: Sequence[ProgramCell], questions: Sequence[Question], sandbox: Sandbox, torch: bool
) -> tuple[dict[str, Behaviour], str]:
    """Return the answers' behaviour and a note on skipped cells.

    If no room started, return no behaviour, and the reason.
    """
    try:
        with closing(Observer(program, sandbox, torch)) as observer:
            behaviours = observer.observe(questions, lambda key, result: judge(key, result).earns)
            return behaviours, _left_out(program, observer.own_left_out) + (
                _LEFT_OUT_LATER if observer.left_out_later else ""
            )
    except NotStarted as error:
        return {}, str(error)


def _left_out(program: Sequence[ProgramCell], cells: Mapping[int, Status]) -> str:
    return "".join(
        f" (A cell of your own was left out, because it {_DID.get(status, 'ended the process')}. "
        f"It begins with: {printable(program[cell].source.strip()[:40])})"
        for cell, status in sorted(cells.items())
    )


def _judgement(behaviour: Behaviour, note: str) -> Judgement:
    """Return the judgement of an answer's behaviour; only `judge` can pass it."""
    judgement = _judgement_without_note(behaviour)
    if judgement.passed or not note:
        return judgement
    return replace(judgement, message=judgement.message + note)


def _judgement_without_note(behaviour: Behaviour) -> Judgement:
    key, result = behaviour.key, behaviour.result
    if behaviour.status is Status.TIMEOUT and behaviour.left:
        return _NEEDS_LEFTOVERS
    if behaviour.status is not Status.ENDED:
        return _STATUS[behaviour.status]
    if result is None:
        return Judgement(
            Verdict.MISSING,
            f"After the cells have run, there is no {key.noun} called `{key.exercise}`. Define it "
            "under this name in its answer cell, and let no later cell delete it.",
        )
    if isinstance(result, str) and result == "stub":
        return Judgement(Verdict.MISSING, "Not answered: the stub is unchanged.")
    if isinstance(result, Raised):
        line = f", line {result.line}" if result.line else ""
        return Judgement(
            Verdict.EXCEPTION,
            f"Its cell raises {result.type_name}{line}: {result.message[:300]}",
        )
    if not isinstance(result, list):
        return _STATUS[Status.MALFORMED]
    judgement = judge(key, result)
    if judgement.verdict is Verdict.NONDETERMINISTIC and behaviour.left:
        return _NEEDS_LEFTOVERS
    requests = sum(observation.requests for observation in result)
    if judgement.earns and FEWEST_REQUESTS * key.requests > requests:
        return Judgement(
            Verdict.FORBIDDEN,
            "It hardly calls the function that is passed to it, but the task needs about "
            f"{key.requests} different calls. Compute the result from what that function returns.",
        )
    return replace(judgement, example=example_of(judgement, key, result))


def _not_started(reason: str) -> Judgement:
    return Judgement(
        Verdict.GRADER_FAULT,
        f"The sandbox did not start ({printable(reason)[:200]}), so the answer has not run. "
        "Run `autograder doctor`.",
    )


_LEFT_OUT_LATER = (
    " (A cell of your own was left out: it ran the first time, but ended the process when it ran "
    "again.)"
)
_DID = {
    Status.TIMEOUT: "exceeded the time limit",
    Status.MEMORY: "used too much memory",
    Status.OUTPUT: "printed too much",
    Status.RESULTS: "returned too much data",
    Status.PROCESSES: "started too many processes",
    Status.FILES: "created too many files",
}
_NEEDS_LEFTOVERS = Judgement(
    Verdict.FORBIDDEN,
    "It stops working when the processes and threads that your cells left running are ended. The "
    "grader could not see whether something ready-made runs in one of them. Compute the result in "
    "the function itself: writing it is the exercise.",
)
_NO_RESULT = Judgement(Verdict.MALFORMED, "The answer did not return a valid result.")
_STATUS = {
    Status.SEALED: IN_A_PROCESS,
    Status.TIMEOUT: Judgement(
        Verdict.TIMEOUT, "It exceeded the time limit. Is there an infinite loop?"
    ),
    Status.MEMORY: Judgement(
        Verdict.MEMORY,
        f"It used more than {LIMITS.memory // 2**20} MiB of memory. Is one of its arrays much "
        "larger than the task needs, or does a list grow in every call?",
    ),
    Status.OUTPUT: Judgement(
        Verdict.OUTPUT, f"It printed more than {LIMITS.output // 2**10} KiB. Print less."
    ),
    Status.RESULTS: Judgement(
        Verdict.OUTPUT,
        f"Its results take more than {LIMITS.answer // 2**20} MiB. Return only what the docstring "
        "asks for.",
    ),
    Status.KILLED: Judgement(
        Verdict.KILLED,
        "The process ended before it returned a result (an exit, or a crash). Remove calls such as "
        "`exit()`, and run the cells one by one to find the one that ends it.",
    ),
    Status.PROCESSES: Judgement(
        Verdict.KILLED,
        f"It ran more than {LIMITS.processes} processes at the same time. Compute the result "
        "without starting processes.",
    ),
    Status.FILES: Judgement(
        Verdict.KILLED,
        f"It created more than {MOST_FILES} files. Compute the result without writing files.",
    ),
    Status.UNSTEADY: Judgement(
        Verdict.NONDETERMINISTIC,
        "When run a second time, the cells do not define it as before. Does a cell depend on "
        "random numbers, on the time, or on a file that the first run has changed?",
    ),
    Status.MALFORMED: _NO_RESULT,
    Status.SHARED: _NO_RESULT,  # a room reports this only of a run with turns
}


def check_program(
    program: Sequence[ProgramCell], cases: Path, sandbox: Sandbox
) -> dict[str, Judgement]:
    """Judge `program` on the public cases only, which a release's `.cases` file holds."""
    questions = [Question(key, key, LIMITS.cell_seconds) for key in read_cases(cases)]
    return judge_questions(program, questions, sandbox)
