"""Reading times: estimated from a page's text, and written on the page by the role `minutes`.

    **Time:** about {minutes}`to read`, about {minutes}`for the assignment`.

`to read` counts the page itself: prose, formulas, visible code, figures and questions. `for the
assignment` adds up the minutes that the chapter's exercises state, and links to them. Both are
rounded to multiples of five.

The directive `times` is a table of both for all chapters, with their sums in hours.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from assignment_facts import APPENDIX, pages_of, stored_facts
from docutils import nodes
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

WORDS_A_MINUTE = 120
SECONDS = {"formulas": 45, "lines": 5, "figures": 60, "questions": 90}
"""Seconds that a reader spends on a displayed formula, a line of code, a figure, a question.

These and WORDS_A_MINUTE are for reading with a pencil: working the small numbers out, answering
before looking, and tracing each line of code. That takes about twice as long as reading through.
"""

QUESTIONS = ("predict", "quiz")
BOXES = ("admonition", "note", "tip", "warning", "seen", "dropdown", "spoiler")
WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
CONFIG = Path(__file__).parents[2] / "_config.yml"
OPTIONS = re.compile(r"\A---\n(.*?)^---\n", re.MULTILINE | re.DOTALL)
SHORT_OPTION = re.compile(r"\A(?::[\w-]+:.*\n)+")


@dataclass(frozen=True)
class Reading:
    """The amounts of text, formulas, code, figures and questions on a page.

    words: words of prose, including headings, tables, captions and boxes, but not code, formulas,
    questions and references. lines: lines of visible code. questions: predictions and quizzes.
    """

    words: int = 0
    formulas: int = 0
    lines: int = 0
    figures: int = 0
    questions: int = 0

    def __add__(self, other: "Reading") -> "Reading":
        return Reading(*(getattr(self, f) + getattr(other, f) for f in self.__dataclass_fields__))

    @property
    def minutes(self) -> float:
        """The minutes that one reading takes."""
        looking = sum(seconds * getattr(self, name) for name, seconds in SECONDS.items())
        return float(self.words / WORDS_A_MINUTE + looking / 60)


def measure(text: str) -> Reading:
    """Measure `text`, the MyST source of a page or of a box on it."""
    return sum((of_token(token) for token in parser().parse(text)), Reading())


@cache
def parser() -> MarkdownIt:
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    extensions = set(config["parse"]["myst_enable_extensions"])
    return create_md_parser(MdParserConfig(enable_extensions=extensions), RendererHTML)


def of_token(token: Token) -> Reading:
    """Measure a block of a page."""
    if token.type == "inline":
        return Reading(words=sum(1 for text in texts(token) for _ in WORD.finditer(text)))
    if token.type in ("math_block", "math_block_label", "amsmath"):
        return Reading(formulas=1)
    if token.type not in ("fence", "colon_fence"):
        return Reading()
    kind, _, title = token.info.strip().partition(" ")
    kind = kind.strip("{}")
    if kind in ("code-cell", "python", "code-block"):
        return of_cell(token.content)
    if kind in QUESTIONS:
        return Reading(questions=1)
    if kind in BOXES:
        return measure(f"{title}\n\n{SHORT_OPTION.sub('', token.content)}")
    return Reading(figures=int(kind in ("figure", "image", "mermaid")))


def texts(token: Token) -> Iterator[str]:
    """Yield the texts of a line; a formula, number or citation in it counts as a single word."""
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            yield child.content
        elif child.type in ("math_inline", "myst_role"):
            yield "one"


def of_cell(content: str) -> Reading:
    """Measure a cell: its lines if they are visible, its figure, and the figure's caption."""
    options, source = cell_parts(content)
    tags, notes = options.get("tags", []), options.get("mystnb", {})
    if "remove-cell" in tags:
        return Reading()
    hidden = "hide-input" in tags or "remove-input" in tags
    lines = 0 if hidden else sum(bool(line.strip()) for line in source.splitlines())
    caption = measure(notes.get("figure", {}).get("caption", ""))
    return caption + Reading(lines=lines, figures=int("image" in notes))


def cell_parts(content: str) -> tuple[dict[str, Any], str]:
    """Return the options of a cell, in either of MyST's two notations, and its code."""
    block, short = OPTIONS.match(content), SHORT_OPTION.match(content)
    if block:
        return yaml.safe_load(block[1]) or {}, content[block.end() :]
    if short:
        return yaml.safe_load(re.sub("^:", "", short[0], flags=re.MULTILINE)), content[
            short.end() :
        ]
    return {}, content


class Minutes(SphinxRole):
    """The minutes of this page: `to read`, or `for the assignment`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        path = Path(self.env.doc2path(self.env.docname))
        if self.text == "to read":
            minutes = measure(path.read_text(encoding="utf-8")).minutes
        elif self.text == "for the assignment":
            minutes = assignment_minutes(self.env.docname)
        else:
            message = self.inliner.reporter.error(
                f"unknown kind of minutes {self.text!r}. Write 'to read' or 'for the assignment'."
            )
            return [], [message]
        text = f"{in_fives(minutes)} minutes {self.text}"
        exercises = f"practise/{self.env.docname}"
        if self.text == "to read" or exercises not in self.env.found_docs:
            return [nodes.Text(text)], []
        return [nodes.reference("", text, refuri=f"{exercises}.html")], []


class Times(SphinxDirective):
    """A table of the minutes of each chapter with an assignment, in the order of the contents."""

    def run(self) -> list[nodes.Node]:
        source = Path(self.env.srcdir)
        rows = ["| chapter | to read | assignment |", "|:--|--:|--:|"]
        reading = practice = 0.0
        for chapter in chapters(source / "_toc.yml"):
            read = 0.0
            for page in pages_of(chapter, source):
                if not page.endswith(APPENDIX):
                    path = source / f"{page}.md"
                    self.env.note_dependency(str(path))
                    read += measure(path.read_text(encoding="utf-8")).minutes
            task = assignment_minutes(chapter)
            rows.append(f"| {{doc}}`{chapter}` | {in_fives(read)} min | {in_fives(task)} min |")
            reading, practice = reading + read, practice + task
        rows.append(f"| in all | {in_hours(reading)} | {in_hours(practice)} |")
        return self.parse_text_to_nodes("\n".join(rows))


def chapters(contents: Path) -> list[str]:
    """Return the chapters with an assignment, in the order of the table of contents."""
    toc = yaml.safe_load(contents.read_text(encoding="utf-8"))
    files = [entry["file"] for part in toc.get("parts", [toc]) for entry in part["chapters"]]
    return [file for file in files if file in stored_facts()]


def assignment_minutes(chapter: str) -> int:
    """Return the minutes that all exercises of `chapter` take together."""
    assignment = stored_facts()[chapter]
    return sum(
        exercise["minutes"] for exercise in (*assignment["exercises"], *assignment["written"])
    )


def in_fives(minutes: float) -> int:
    """Round minutes to a multiple of 5, at least 5."""
    return max(5, 5 * round(minutes / 5))


def in_hours(minutes: float) -> str:
    """Return minutes as a text in whole hours, at least 1."""
    hours = max(1, round(minutes / 60))
    return f"{hours} hour{'s' * (hours > 1)}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_role("minutes", Minutes())
    app.add_directive("times", Times)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
