"""The `quiz` directive: one question, its choices, and a reason for each choice.

    ```{quiz}
    :name: quiz-rows
    What does row 2 of the weights tell?

    - [ ] How strongly every token looks at token 2.
      > That is column 2.
    - [x] How token 2 shares out its attention.
      > Yes. Every row sums to 1.
    ```

In HTML it is a fieldset of radio buttons and an answer key in a `<details>`; `quiz.mjs` adds the
button and the feedback. Without JavaScript, and in every other format, the page shows the question
and its answer key. Choices and reasons may hold math, links and code.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

CHOICE = re.compile(r"- \[([ xX])\] ")
INDENT = "  "
LETTERS = "ABCDEFGH"

logger = logging.getLogger(__name__)


class quiz(nodes.General, nodes.Element):
    """A question. Children: quiz_question, the quiz_choice nodes, then quiz_key."""


class quiz_question(nodes.General, nodes.Element):
    """The blocks of the question; the first is a paragraph."""


class quiz_choice(nodes.General, nodes.TextElement):
    """The inline content of a choice. Attributes: quiz (id), letter, right."""


class quiz_key(nodes.General, nodes.Element):
    """The answer key. Children: quiz_reason, in the order of the choices."""


class quiz_reason(nodes.General, nodes.Element):
    """The reason why a choice is right or wrong. Attributes: quiz (id), letter, right."""


@dataclass(frozen=True)
class Choice:
    """A choice as written. text, reason: lines of the directive's body."""

    line: int
    right: bool
    text: StringList
    reason: StringList


def split(body: StringList) -> tuple[StringList, list[Choice]]:
    """Split the body of a quiz into its question and its choices. Lines count from 0."""
    starts = [line for line, text in enumerate(body) if CHOICE.match(text)]
    question = body[: starts[0]] if starts else body[:]
    choices = []
    for start, end in pairwise([*starts, len(body)]):
        item = body[start:end]
        item.trim_left(len("- [ ] "), 0, 1)
        item.trim_left(len(INDENT), 1, len(item))
        quote = next((i for i, text in enumerate(item) if text.startswith(">")), len(item))
        reason = item[quote:]
        for i, text in enumerate(reason):
            reason.data[i] = re.sub(r"^> ?", "", text)
        right = body[start][3] in "xX"
        choices.append(Choice(start, right, item[:quote], reason))
    return question, choices


class Quiz(SphinxDirective):
    """A multiple-choice question with one right choice. The module shows the syntax."""

    has_content = True
    option_spec: ClassVar = {"name": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        question, choices = split(self.content)
        problems = self._problems(question, choices)
        for line, problem in problems:
            logger.warning(
                "malformed quiz: %s",
                problem,
                location=self._place(line),
            )
        if problems:
            return []
        number = self.env.new_serialno("quiz") + 1
        node = quiz(number=number)
        self.set_source_info(node)
        if "name" in self.options:
            self.add_name(node)
        else:
            node["ids"].append(f"quiz-{number}")
            self.state.document.note_explicit_target(node)
        identity = node["ids"][0]
        node += self._parse(quiz_question(), question, 0)
        key = quiz_key()
        for letter, choice in zip(LETTERS, choices, strict=False):
            shared = {"quiz": identity, "letter": letter, "right": choice.right}
            # Parse the choice as inline text: otherwise a choice "0." would become a list.
            text, _ = self.state.inline_text("\n".join(choice.text), self._place(choice.line)[1])
            node += quiz_choice("", "", *text, **shared)
            line = choice.line + len(choice.text)
            key += self._parse(quiz_reason(**shared), choice.reason, line)
        node += key
        return [node]

    def _place(self, line: int) -> tuple[str, int]:
        """Return (page, line) of line `line` of the body; MyST counts the offset from the fence."""
        return self.env.docname, self.lineno + self.content_offset + line + 1

    def _parse(self, into: nodes.Element, lines: StringList, first: int) -> nodes.Element:
        self.state.nested_parse(lines, self.content_offset + first, into)
        return into

    def _problems(self, question: StringList, choices: list[Choice]) -> list[tuple[int, str]]:
        """Return (line of the body, message) for each mistake in how the quiz is written."""
        problems = []
        if not "".join(question).strip():
            problems.append((0, "there is no question before the first choice"))
        if not 2 <= len(choices) <= len(LETTERS):
            problems.append((0, f"{len(choices)} choices; write 2 to {len(LETTERS)}"))
        rights = sum(choice.right for choice in choices)
        if choices and rights != 1:
            problems.append((0, f"{rights} choices are marked right, with [x]; mark exactly one"))
        for choice in choices:
            if not "".join(choice.text).strip():
                problems.append((choice.line, "a choice has no text"))
            if not "".join(choice.reason).strip():
                problems.append((choice.line, "a choice has no reason; write `> ...` below it"))
        return problems


class PlainQuiz(SphinxPostTransform):
    """Replace a quiz, in formats other than HTML, by its question, choices and answer key."""

    default_priority = 5

    def is_supported(self) -> bool:
        return self.app.builder.format != "html"

    def run(self, **keywords: object) -> None:
        for node in list(self.document.findall(quiz)):
            question, *choices, key = node.children
            box = nodes.container(ids=node["ids"], names=node["names"])
            box += nodes.paragraph("", "", nodes.strong("", f"Question {node['number']}"))
            box += question.children
            options = nodes.enumerated_list(enumtype="upperalpha", prefix="", suffix=".")
            for choice in choices:
                options += nodes.list_item("", nodes.paragraph("", "", *choice.children))
            box += options
            box += nodes.paragraph("", "", nodes.strong("", "Answer key"))
            reasons = nodes.enumerated_list(enumtype="upperalpha", prefix="", suffix=".")
            for reason in key:
                verdict = nodes.strong("", "Right." if reason["right"] else "Not right.")
                head = nodes.paragraph("", "", verdict)
                reasons += nodes.list_item("", head, *reason.children)
            box += reasons
            node.replace_self(box)


def visit_quiz(self: HTML5Translator, node: quiz) -> None:
    self.body.append(self.starttag(node, "fieldset", CLASS="quiz"))


def depart_quiz(self: HTML5Translator, node: quiz) -> None:
    self.body.append("</fieldset>\n")


def visit_question(self: HTML5Translator, node: quiz_question) -> None:
    number = node.parent["number"]
    write_legend(self, node, f'<span class="quiz-number">Question {number}</span>')
    raise nodes.SkipNode


def write_legend(self: HTML5Translator, question: nodes.Element, title: str) -> None:
    """Write the question's first paragraph as the legend, and its other blocks below it."""
    self.body.append(f"<legend>{title} ")
    for child in question[0].children:
        child.walkabout(self)
    self.body.append("</legend>\n")
    for child in question.children[1:]:
        child.walkabout(self)


def visit_choice(self: HTML5Translator, node: quiz_choice) -> None:
    identity = f"{node['quiz']}-{node['letter'].lower()}"
    self.body.append(
        f'<div class="quiz-choice"><input type="radio" name="{node["quiz"]}" id="{identity}" '
        f'value="{node["letter"]}"><label for="{identity}">'
        f'<span class="quiz-letter">{node["letter"]}.</span> '
    )


def depart_choice(self: HTML5Translator, node: quiz_choice) -> None:
    self.body.append("</label></div>\n")


def visit_key(self: HTML5Translator, node: quiz_key) -> None:
    self.body.append('<details class="quiz-key"><summary>Answer key</summary>\n<ol type="A">\n')


def depart_key(self: HTML5Translator, node: quiz_key) -> None:
    self.body.append("</ol></details>\n")


def visit_reason(self: HTML5Translator, node: quiz_reason) -> None:
    state, verdict = ("right", "Right.") if node["right"] else ("wrong", "Not right.")
    self.body.append(
        f'<li data-choice="{node["letter"]}" data-verdict="{state}">'
        f'<strong class="quiz-verdict">{verdict}</strong>\n'
    )


def depart_reason(self: HTML5Translator, node: quiz_reason) -> None:
    self.body.append("</li>\n")


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, object], doctree: nodes.document
) -> None:
    """Load `quiz.mjs` on each page that has a quiz."""
    if doctree is not None and next(doctree.findall(quiz), None) is not None:
        app.add_js_file("quiz.mjs", type="module")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("quiz", Quiz)
    app.add_post_transform(PlainQuiz)
    app.add_node(quiz, html=(visit_quiz, depart_quiz))
    app.add_node(quiz_question, html=(visit_question, None))
    app.add_node(quiz_choice, html=(visit_choice, depart_choice))
    app.add_node(quiz_key, html=(visit_key, depart_key))
    app.add_node(quiz_reason, html=(visit_reason, depart_reason))
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
