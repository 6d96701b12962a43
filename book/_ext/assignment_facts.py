"""Facts about the assignments for the pages: `python -m book._ext.assignment_facts` updates them.

The facts come from the exercises, some of which need PyTorch. They are stored in
`book/assignments.json`, so that a site can be built without PyTorch. A test compares the two.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from solutions.running.readable import readable

FILE = Path(__file__).parents[1] / "assignments.json"


@cache
def stored_facts() -> dict[str, Any]:
    """Return the stored facts: chapter -> the exercises and written questions of its assignment."""
    facts: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return facts


def collect_facts() -> dict[str, Any]:
    """Return the same facts, read from the exercises as they are now."""
    from exercises import COURSE

    return {
        name: {
            "exercises": [
                {
                    "name": exercise.name,
                    "kind": exercise.kind.value,
                    "points": exercise.points,
                    "difficulty": exercise.difficulty,
                    "minutes": exercise.minutes,
                    "sections": re.findall("“(.*?)”", exercise.help[2]),
                }
                for exercise in assignment.exercises
            ],
            "written": [
                {"name": question.name, "points": question.points, "minutes": question.minutes}
                for question in assignment.written
            ],
        }
        for name, assignment in sorted(COURSE.items())
    }


def main() -> None:
    """Write the facts, if they have changed."""
    text = readable(collect_facts())
    if not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
