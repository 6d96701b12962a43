"""What the pages say of the assignments: `python -m book._ext.assignment_facts` writes it anew.

The facts come from the exercises themselves, some of which need PyTorch. They are kept in
`book/assignments.json`, so that a site can be built without it; a test compares.
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
def kept() -> dict[str, Any]:
    """Return, by chapter, the exercises and written questions of its assignment."""
    facts: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return facts


def collected() -> dict[str, Any]:
    """Return the same from the exercises as they are now."""
    from exercises import COURSE

    return {
        name: {
            "exercises": [
                {
                    "name": one.name,
                    "kind": one.kind.value,
                    "points": one.points,
                    "difficulty": one.difficulty,
                    "minutes": one.minutes,
                    "sections": re.findall("“(.*?)”", one.help[2]),
                }
                for one in assignment.exercises
            ],
            "written": [
                {"name": one.name, "points": one.points, "minutes": one.minutes}
                for one in assignment.written
            ],
        }
        for name, assignment in sorted(COURSE.items())
    }


def main() -> None:
    """Write the facts, if they have changed."""
    text = readable(collected())
    if not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
