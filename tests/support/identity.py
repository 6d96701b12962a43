"""Report what a change has altered in the exercises: `COMMIT [CHAPTER ...]`.

All observable facts of an exercise are recorded, for this tree and for the commit: names, points,
help, stub, cases with their contents, and for each answer its source, its verdict, the name
that it is given, and a digest of every number that it returns, on the public cases and on two draws
of hidden cases. Differences are printed, and the status is then 1. A new correct answer is no
difference as long as it passes; nor is an answer that behaves the same but is written differently:
such answers are only counted. The whole course takes a minute and a half.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import autograder
from autograder.exercise.model import Case, Exercise, public_cases
from autograder.exercise.promises import promises
from autograder.exercise.stubs import stub
from autograder.grading.sample import answer_source, sample_class
from autograder.judging.judge import judge
from autograder.judging.keys import AnswerKey, KeyedMisconception, build_key, observe_quietly
from autograder.probe.values import Observation, Raised
from exercises import COURSE

ROOT = Path(__file__).parents[2]
SEEDS = (0, 1)
FACTS = ("name", "points", "difficulty", "minutes", "help", "kind", "tolerance", "forbidden")

Facts = dict[str, Any]


def noted(chapters: Sequence[str]) -> Iterator[tuple[str, Facts]]:
    """Yield the facts of each exercise, each chapter, and the sample class, with their names."""
    for chapter in chapters or COURSE:
        assignment = COURSE[chapter]
        order = [exercise.name for exercise in assignment.exercises]
        written = [asdict(question) for question in assignment.written]
        yield chapter, {"title": assignment.title, "order": order, "written": written}
        for exercise in assignment.exercises:
            yield f"{chapter}.{exercise.name}", facts(exercise)
    if not chapters:
        for submission in sample_class(list(COURSE.values())):
            expected = {name: _plain(outcome) for name, outcome in submission.expected.items()}
            answers = {name: {"source": _digest(text)} for name, text in submission.answers.items()}
            more = {"answers": answers, "expected": expected, "shows": submission.shows}
            yield f"{submission.student}, {submission.assignment}", more


def facts(exercise: Exercise) -> Facts:
    """Return everything observable about an exercise, as a dict that JSON can store."""
    draws = [tuple(exercise.hidden(np.random.default_rng(seed))) for seed in SEEDS]
    keys = [
        build_key(exercise, public_cases(exercise), draws[0]),
        *(build_key(exercise, (), draw) for draw in draws[1:]),
    ]
    judged = _Judged(exercise, keys)
    return {
        **{name: _plain(getattr(exercise, name)) for name in FACTS},
        "reference": f"{exercise.reference.__module__}.{exercise.reference.__qualname__}",
        "stub": stub(exercise),
        "cases": [[_case(case) for case in key.cases] for key in keys],
        "promises": {promise.says: sorted(promise.cases) for promise in promises(exercise)},
        "right": [judged.answer(answer) for answer in (exercise.reference, *exercise.alternatives)],
        "wrong": {
            misconception.name: [
                misconception.hint,
                misconception.released,
                judged.answer(misconception.wrong),
            ]
            for misconception in exercise.misconceptions
        },
    }


class _Judged:
    """The answers to an exercise, each called once on the cases of each key."""

    def __init__(self, exercise: Exercise, keys: Sequence[AnswerKey]) -> None:
        self.exercise = exercise
        self._seen: dict[tuple[Any, int], Sequence[Observation]] = {}
        self._keys = [
            replace(
                key,
                misconceptions=tuple(
                    KeyedMisconception(
                        misconception.name,
                        misconception.hint,
                        lambda wrong=misconception.wrong, key=key, at=at: tuple(
                            self._observed(wrong, key, at)
                        ),
                    )
                    for misconception in exercise.misconceptions
                ),
            )
            for at, key in enumerate(keys)
        ]

    def _observed(self, function: Any, key: AnswerKey, at: int) -> Sequence[Observation]:
        if (function, at) not in self._seen:
            observations = observe_quietly(function, key.cases, self.exercise.forbidden)
            self._seen[function, at] = observations
        return self._seen[function, at]

    def answer(self, function: Any) -> Facts:
        """Return the source (as a syntax tree, so layout is free), verdicts, and results."""
        observed = [self._observed(function, key, at) for at, key in enumerate(self._keys)]
        both = zip(self._keys, observed, strict=True)
        verdicts = [judge(key, observations) for key, observations in both]
        own = function is not self.exercise.reference
        tree = ast.dump(ast.parse(answer_source(function, "answer"))) if own else ""
        return {
            "source": _digest(tree),
            "verdicts": [
                [verdict.verdict.name, verdict.misconception, verdict.share] for verdict in verdicts
            ],
            "returned": [
                _digest(_plain(observations, function.__qualname__)) for observations in observed
            ],
        }


def _case(case: Case) -> list[str]:
    return [case.note, _digest(_plain(replace(case, promises=())))]


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _plain(value: Any, own: str = "") -> Any:
    """Return a value as JSON data; arrays become digests, and the answer's own name is dropped."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
    if isinstance(value, Raised):  # its line numbers depend on the file
        message = re.sub(rf"\b{re.escape(own)}\b(?=[.(])", "NAME", value.message)
        return [value.type_name, message]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: _plain(getattr(value, field.name), own) for field in fields(value)}
        return [type(value).__name__, parts]
    if isinstance(value, dict):
        return [[_plain(key, own), _plain(item, own)] for key, item in value.items()]
    if isinstance(value, tuple | list):
        return [type(value).__name__, *(_plain(element, own) for element in value)]
    return [type(value).__name__, repr(value)]


def differences(before: dict[str, Facts], after: dict[str, Facts]) -> Iterator[str]:
    """Yield a line for each difference."""
    for name in {**before, **after}:
        if name not in before or name not in after:
            yield f"{name}: only {'here' if name in after else 'in the commit'}"
            continue
        old, new = before[name], after[name]
        if "right" in old:
            known_count, added = len(old["right"]), new["right"]
            new = {**new, "right": added[:known_count]}
            for at, answer in enumerate(added[known_count:], known_count):
                if any(verdict != "PASS" for verdict, *_ in answer["verdicts"]):
                    yield f"{name}: right answer {at} is new, and does not pass"
        yield from (f"{name}: {line}" for line in _unlike("", old, new))


def _unlike(path: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != list(new) and sorted(old) == sorted(new):
            yield f"{path}: another order"
        for key in {**old, **new}:
            yield from _unlike(f"{path} {key}".strip(), old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _unlike(f"{path} {at}".strip(), before, after)
    elif old != new:
        yield f"{path}: {json.dumps(old):.100} was, {json.dumps(new):.100} is"


def _of_tree(tree: Path, chapters: Sequence[str], file: Path) -> subprocess.Popen[bytes]:
    """Start another process that records the facts of the tree, and imports the course from it."""
    paths = {"PYTHONPATH": os.pathsep.join([str(tree), str(Path(__file__).parent)])}
    code = f"import identity; identity.write({str(file)!r}, {list(chapters)!r})"
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, cwd=tree, env={**os.environ, **paths, "OMP_NUM_THREADS": "1"})


def write(file: str, chapters: Sequence[str]) -> None:
    """Write the facts of the course in this folder into a file."""
    assert Path(autograder.__file__).is_relative_to(Path.cwd()), autograder.__file__
    Path(file).write_text(json.dumps(dict(noted(chapters))), encoding="utf-8")


def main() -> int:
    """Compare this tree with a commit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("chapters", nargs="*")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run(
            [*git, "add", "--quiet", "--detach", str(tree), arguments.commit], check=True
        )
        try:
            files = {tree: Path(folder) / "before.json", ROOT: Path(folder) / "after.json"}
            processes = [
                _of_tree(folder, arguments.chapters, file) for folder, file in files.items()
            ]
            if any([process.wait() for process in processes]):
                return 2
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
        before, after = (json.loads(file.read_text(encoding="utf-8")) for file in files.values())
    lines = list(differences(before, after))
    sources = [line for line in lines if re.search(r" source: \"\w+\" was, ", line)]
    lines = [line for line in lines if line not in sources]
    exercises = sum("right" in value for value in after.values())
    print(*lines, sep="\n")
    print(f"{exercises} exercises compared: {len(lines)} differences")
    print(f"{len(sources)} answers are written otherwise")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
