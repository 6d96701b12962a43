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
APPENDIX = "_appendix"


@cache
def stored_facts() -> dict[str, Any]:
    """Return the stored facts: chapter -> the exercises and written questions of its assignment."""
    facts: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return facts


def chapter_of(page: str) -> str:
    """Return the chapter that a page belongs to: `positions` for `positions_appendix`.

    A chapter's further pages and its appendix are called `<chapter>_<word>`. A page that belongs to
    no chapter is returned as it is.
    """
    chapter = page.rpartition("_")[0]
    return chapter if page not in stored_facts() and chapter in stored_facts() else page


def pages_of(chapter: str, folder: Path) -> list[str]:
    """Return the pages of a chapter that exist: its own, its further pages, and its appendix."""
    names = (path.stem for path in folder.glob(f"{chapter}*.md"))
    own = [name for name in names if chapter_of(name) == chapter]
    return sorted(own, key=lambda name: (name.endswith(APPENDIX), name))


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
