"""The exercise that docs/declaring_exercises.md shows, as if it were part of a chapter."""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
from pathlib import Path

import pytest

import solutions
from autograder.exercise.model import Exercise

TEXT = (Path(__file__).parents[2] / "docs" / "declaring_exercises.md").read_text(encoding="utf-8")
(CODE,) = re.findall(r'```python\n("""The exercise `row_mean`.*?)```', TEXT, re.DOTALL)


def row_mean(x):
    """Return the mean of each row of x: (m, n). Integers are as good as floats."""
    return x.mean(axis=1)


def _declared() -> Exercise:
    path = Path(tempfile.mkdtemp()) / "row_mean.py"
    path.write_text(CODE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("exercises.chapter.row_mean", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solutions, "chapter", sys.modules[__name__], raising=False)
        spec.loader.exec_module(module)
    exercise: Exercise = module.row_mean.exercise
    return exercise


SMALLEST = _declared()
