"""Test that the browser's Python reports on every known answer exactly like this Python.

For each exercise of the chapters that can be done in the page, the stub, the reference, each
alternative and each misconception run in the notebook and are checked, both in Pyodide (CPython
3.12, NumPy 2.0, 32 bits) and in the Python of the tests. By day, only the first BY_DAY of an
exercise's misconceptions are. The verdict, the misconception, the message and the whole report must
be equal, except for the last digit of a displayed number.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from pprint import pformat
from typing import Any, NamedTuple

import pytest
from nightly import some
from practising import Step, archive, in_node, in_python, needs_pyodide
from reference_cells import reference_source

from autograder.exercise.model import Exercise
from autograder.grading.sample import answer_source
from exercises import COURSE

BY_DAY = 2
CHAPTERS = [name for name, assignment in COURSE.items() if not assignment.torch]
NARROW = "NumPy makes whole numbers of 32 bits there, and the message names their dtype"
DIFFERENT = {
    "captioning": {"hard_attention: number of the place instead of one-hot": NARROW},
    "queries_keys_values": {"padding_mask: integers instead of booleans": NARROW},
}
"""The answers for which the page's result differs, by chapter, each with the reason."""

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
LOOK = re.compile(r' (?:fill|height|style|viewBox|width|x|y)=\\"[^"]*"')
"""The attributes of a picture that may differ, which are all except its label."""


class Asked(NamedTuple):
    """A step; a check also has the name of its answer, and the expected result."""

    step: Step
    answer: str = ""
    passes: bool = False
    misconception: str | None = None


def steps_of(packed: Path) -> Iterator[Asked]:
    """Yield the locked cells in order, with the answers of each exercise in place."""
    name = packed.stem
    exercises = {exercise.name: exercise for exercise in COURSE[name].exercises}
    notebook = json.loads(zipfile.ZipFile(packed).read(f"{name}/{name}.ipynb"))
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code" or cell["id"].endswith("-check"):
            continue
        yield Asked({"run": "".join(cell["source"]), "cell": cell["id"]})
        if cell["id"] in exercises:
            yield from answers_to(exercises[cell["id"]])


def answers_to(exercise: Exercise) -> Iterator[Asked]:
    """Yield the cell and the check of each known answer; for the stub, only the check."""
    name, check = exercise.name, {"check": exercise.name}
    yield Asked(check, f"{name}: stub")
    right = [reference_source(exercise.reference)]
    right += [answer_source(function, name) for function in exercise.alternatives]
    for number, source in enumerate(right):
        yield Asked({"run": source, "cell": name})
        yield Asked(check, f"{name}: right {number}", passes=True)
    for wrong in some(exercise.misconceptions, BY_DAY):
        yield Asked({"run": answer_source(wrong.wrong, name), "cell": name})
        reported = None if wrong.released else wrong.name
        yield Asked(check, f"{name}: {wrong.name}", misconception=reported)


def differences(page_result: dict[str, Any], own_result: dict[str, Any]) -> list[str]:
    """Return the parts in which two results differ by more than rounding, in pairs."""
    parts = []
    for result in (own_result, page_result):
        fields = {key: result[key] for key in sorted(result) if key not in ("seconds", "waited")}
        words = LOOK.sub("", json.dumps(fields, ensure_ascii=False))
        parts.append(words.split("<"))
    if len(parts[0]) != len(parts[1]):
        return ["<".join(words) for words in parts]
    pairs = zip(*parts, strict=True)
    return [text for pair in pairs if not same_but_for_rounding(*pair) for text in pair]


def same_but_for_rounding(first: str, second: str) -> bool:
    """Return True if two texts are equal except for the last digits of numbers.

    0.001295 is shown as 0.0013 here, and may be slightly less where sums are rounded differently.
    """
    numbers = zip(NUMBER.findall(first), NUMBER.findall(second), strict=False)
    return NUMBER.sub("", first) == NUMBER.sub("", second) and all(
        isclose(float(first_number), float(second_number), rel_tol=0.01, abs_tol=1e-6)
        for first_number, second_number in numbers
    )


@needs_pyodide
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_page_judges_every_known_answer_like_the_grader(chapter: str, tmp_path: Path) -> None:
    packed = archive(chapter, tmp_path)
    known_steps = list(steps_of(packed))
    steps = [known_step.step for known_step in known_steps]
    page, here = in_node(packed, steps), in_python(packed, steps)
    different, waited = {}, []
    for known_step, page_result, own_result in zip(
        known_steps, page["steps"], here["steps"], strict=True
    ):
        assert own_result["ok"], (known_step.step, own_result)
        if known_step.answer:
            waited.append(page_result["waited"])
            for result in (own_result, page_result):
                outcome = result["passed"], result["misconception"]
                assert outcome == (known_step.passes, known_step.misconception), (
                    known_step.answer,
                    result,
                )
            assert own_result["verdict"] == page_result["verdict"], known_step.answer
        if lines := differences(page_result, own_result):
            different[known_step.answer or known_step.step["cell"]] = lines
    asked = {known_step.answer for known_step in known_steps}
    assert different.keys() == DIFFERENT.get(chapter, {}).keys() & asked, pformat(different)
    first, *later = waited
    print(
        f"{chapter}: {len(waited)} answers; the first is checked {page['ready'] + first:.1f} s "
        f"after the start, each other one in {sum(later) / len(later):.2f} s, {max(later):.2f} at "
        f"most; the archive has {packed.stat().st_size / 1000:.0f} kB"
    )
