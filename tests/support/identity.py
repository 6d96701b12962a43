"""Say what a change has altered in the exercises: `COMMIT [CHAPTER ...]`.

All that can be told of an exercise is noted, of this tree and of the commit: names, points, help,
stub, cases and what they hold, and for each answer its source, its verdict, the name that it earns,
and a digest of every number that it returns, on the public cases and on two draws of hidden ones.
What differs is printed, and the status is then 1. A right answer that is only here now is no
difference, as long as it passes; nor is an answer that does the same and is written otherwise,
which is counted. It takes a minute and a half for the whole course.
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
from autograder.judging.judge import (
    AnswerKey,
    KeyedMisconception,
    build_key,
    judge,
    observe_quietly,
)
from autograder.probe.values import Observation, Raised
from exercises import COURSE

ROOT = Path(__file__).parents[2]
SEEDS = (0, 1)
FACTS = ("name", "points", "difficulty", "minutes", "help", "kind", "tolerance", "forbidden")

Facts = dict[str, Any]


def noted(chapters: Sequence[str]) -> Iterator[tuple[str, Facts]]:
    """By name, the facts of each exercise, of each chapter, and of the sample class."""
    for chapter in chapters or COURSE:
        assignment = COURSE[chapter]
        order = [one.name for one in assignment.exercises]
        written = [asdict(one) for one in assignment.written]
        yield chapter, {"title": assignment.title, "order": order, "written": written}
        for exercise in assignment.exercises:
            yield f"{chapter}.{exercise.name}", facts(exercise)
    if not chapters:
        for one in sample_class(list(COURSE.values())):
            expected = {name: _plain(each) for name, each in one.expected.items()}
            answers = {name: {"source": _digest(text)} for name, text in one.answers.items()}
            more = {"answers": answers, "expected": expected, "shows": one.shows}
            yield f"{one.student}, {one.assignment}", more


def facts(exercise: Exercise) -> Facts:
    """All that can be told of an exercise, as JSON has it."""
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
        "promises": {one.says: sorted(one.cases) for one in promises(exercise)},
        "right": [judged.answer(one) for one in (exercise.reference, *exercise.alternatives)],
        "wrong": {
            one.name: [one.hint, one.released, judged.answer(one.wrong)]
            for one in exercise.misconceptions
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
                        one.name,
                        one.hint,
                        lambda wrong=one.wrong, key=key, at=at: tuple(
                            self._observed(wrong, key, at)
                        ),
                    )
                    for one in exercise.misconceptions
                ),
            )
            for at, key in enumerate(keys)
        ]

    def _observed(self, function: Any, key: AnswerKey, at: int) -> Sequence[Observation]:
        if (function, at) not in self._seen:
            seen = observe_quietly(function, key.cases, self.exercise.forbidden)
            self._seen[function, at] = seen
        return self._seen[function, at]

    def answer(self, function: Any) -> Facts:
        """Its source (its syntax tree: layout is free), verdicts, and what it returned."""
        observed = [self._observed(function, key, at) for at, key in enumerate(self._keys)]
        both = zip(self._keys, observed, strict=True)
        verdicts = [judge(key, observations) for key, observations in both]
        own = function is not self.exercise.reference
        tree = ast.dump(ast.parse(answer_source(function, "answer"))) if own else ""
        return {
            "source": _digest(tree),
            "verdicts": [[one.verdict.name, one.misconception, one.share] for one in verdicts],
            "returned": [_digest(_plain(one, function.__qualname__)) for one in observed],
        }


def _case(case: Case) -> list[str]:
    return [case.note, _digest(_plain(replace(case, promises=())))]


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _plain(value: Any, own: str = "") -> Any:
    """A value as JSON has it: arrays are digests, and the name of an answer is no part of it."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
    if isinstance(value, Raised):  # its lines count from the beginning of a file
        message = re.sub(rf"\b{re.escape(own)}\b(?=[.(])", "NAME", value.message)
        return [value.type_name, message]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {one.name: _plain(getattr(value, one.name), own) for one in fields(value)}
        return [type(value).__name__, parts]
    if isinstance(value, dict):
        return [[_plain(key, own), _plain(one, own)] for key, one in value.items()]
    if isinstance(value, tuple | list):
        return [type(value).__name__, *(_plain(one, own) for one in value)]
    return [type(value).__name__, repr(value)]


def differences(before: dict[str, Facts], after: dict[str, Facts]) -> Iterator[str]:
    """What is not the same, a line each."""
    for name in {**before, **after}:
        if name not in before or name not in after:
            yield f"{name}: only {'here' if name in after else 'in the commit'}"
            continue
        old, new = before[name], after[name]
        if "right" in old:
            known, added = len(old["right"]), new["right"]
            new = {**new, "right": added[:known]}
            for at, one in enumerate(added[known:], known):
                if any(verdict != "PASS" for verdict, *_ in one["verdicts"]):
                    yield f"{name}: right answer {at} is new, and does not pass"
        yield from (f"{name}: {line}" for line in _unlike("", old, new))


def _unlike(path: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != list(new) and sorted(old) == sorted(new):
            yield f"{path}: another order"
        for key in {**old, **new}:
            yield from _unlike(f"{path} {key}".strip(), old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _unlike(f"{path} {at}".strip(), one, other)
    elif old != new:
        yield f"{path}: {json.dumps(old):.100} was, {json.dumps(new):.100} is"


def _of_tree(tree: Path, chapters: Sequence[str], file: Path) -> subprocess.Popen[bytes]:
    """Another process that notes the facts of the tree, in which it looks for the course."""
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
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), given.commit], check=True)
        try:
            files = {tree: Path(folder) / "before.json", ROOT: Path(folder) / "after.json"}
            begun = [_of_tree(one, given.chapters, file) for one, file in files.items()]
            if any([one.wait() for one in begun]):
                return 2
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)
        before, after = (json.loads(file.read_text(encoding="utf-8")) for file in files.values())
    found = list(differences(before, after))
    sources = [line for line in found if re.search(r" source: \"\w+\" was, ", line)]
    found = [line for line in found if line not in sources]
    exercises = sum("right" in one for one in after.values())
    print(*found, sep="\n")
    print(f"{exercises} exercises compared: {len(found)} differences")
    print(f"{len(sources)} answers are written otherwise")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
