"""The browser's Python judges every known answer as ours does, to the word and the picture.

For each exercise of the chapters that are practised in the page: the stub, the reference, each
alternative and each misconception are run in the notebook and checked, in Pyodide (CPython 3.12,
NumPy 2.0, 32 bits) and in the Python of the tests. Verdict, misconception, message and the whole
report must be equal, but for the last digit of a number that is shown.
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
from practising import Step, archive, in_node, in_python, needs_pyodide
from reference_cells import reference_source

from autograder.exercise.model import Exercise
from autograder.grading.sample import answer_source
from exercises import COURSE

CHAPTERS = [name for name, assignment in COURSE.items() if not assignment.torch]
NARROW = "NumPy makes whole numbers of 32 bits there, and the message names their dtype"
DIFFERENT = {
    "captioning": {"hard_attention: number of the place instead of one-hot": NARROW},
    "queries_keys_values": {
        "padding_mask: integers instead of booleans": NARROW,
        "causal_mask: integers instead of booleans": NARROW,
    },
    "positions": {"interpolated_positions: one length for all sequences": NARROW},
}
"""By chapter, the answers of which the page says something else, each with the reason."""

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
LOOK = re.compile(r' (?:fill|height|style|viewBox|width|x|y)=\\"[^"]*"')
"""What a picture looks like beside its label and its text."""


class Asked(NamedTuple):
    """A step; of a check the name of its answer, and what it should find."""

    step: Step
    answer: str = ""
    passes: bool = False
    misconception: str | None = None


def steps_of(packed: Path) -> Iterator[Asked]:
    """Yield the given cells in the notebook's order, and at its place each exercise's answers."""
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
    """Yield two steps for each known answer: its cell, and its check; of the stub the check."""
    name, check = exercise.name, {"check": exercise.name}
    yield Asked(check, f"{name}: stub")
    right = [reference_source(exercise.reference)]
    right += [answer_source(function, name) for function in exercise.alternatives]
    for number, source in enumerate(right):
        yield Asked({"run": source, "cell": name})
        yield Asked(check, f"{name}: right {number}", passes=True)
    for wrong in exercise.misconceptions:
        yield Asked({"run": answer_source(wrong.wrong, name), "cell": name})
        named = None if wrong.released else wrong.name
        yield Asked(check, f"{name}: {wrong.name}", misconception=named)


def differences(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Return the parts of two results that differ by more than rounding, alternating the two."""
    parts = []
    for result in (ours, theirs):
        kept = {key: result[key] for key in sorted(result) if key not in ("seconds", "waited")}
        words = LOOK.sub("", json.dumps(kept, ensure_ascii=False))
        parts.append(words.split("<"))
    if len(parts[0]) != len(parts[1]):
        return ["<".join(words) for words in parts]
    pairs = zip(*parts, strict=True)
    return [text for pair in pairs if not same_but_for_rounding(*pair) for text in pair]


def same_but_for_rounding(one: str, other: str) -> bool:
    """Return whether two texts are equal where a number may end in another digit.

    What is 0.001295 here, and shown as 0.0013, is a little less where sums are rounded otherwise.
    """
    numbers = zip(NUMBER.findall(one), NUMBER.findall(other), strict=False)
    return NUMBER.sub("", one) == NUMBER.sub("", other) and all(
        isclose(float(mine), float(theirs), rel_tol=0.01, abs_tol=1e-6) for mine, theirs in numbers
    )


@needs_pyodide
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_page_judges_every_known_answer_like_the_grader(chapter: str, tmp_path: Path) -> None:
    packed = archive(chapter, tmp_path)
    asked = list(steps_of(packed))
    steps = [one.step for one in asked]
    page, here = in_node(packed, steps), in_python(packed, steps)
    different, waited = {}, []
    for one, theirs, ours in zip(asked, page["steps"], here["steps"], strict=True):
        assert ours["ok"], (one.step, ours)
        if one.answer:
            waited.append(theirs["waited"])
            for result in (ours, theirs):
                found = result["passed"], result["misconception"]
                assert found == (one.passes, one.misconception), (one.answer, result)
            assert ours["verdict"] == theirs["verdict"], one.answer
        if lines := differences(theirs, ours):
            different[one.answer or one.step["cell"]] = lines
    assert different.keys() == DIFFERENT.get(chapter, {}).keys(), pformat(different)
    first, *later = waited
    print(
        f"{chapter}: {len(waited)} answers; the first is checked {page['ready'] + first:.1f} s "
        f"after the start, each other one in {sum(later) / len(later):.2f} s, {max(later):.2f} at "
        f"most; the archive has {packed.stat().st_size / 1000:.0f} kB"
    )
