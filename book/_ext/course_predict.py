"""The directives `predict` and `seen`: a question that the reader answers before the answer opens.

    ```{predict}
    :name: predict-far-token
    Which of the three is the last to learn the task?

    - [ ] The RNN.
    - [ ] The GRU.
    - [x] Self-attention.
    ```

    ... the cells, figures and sentences that answer ...

    ```{seen}
    If you said the GRU, its gradient has misled you.
    ```

The part between the two stays closed until the reader guesses (`course_seen.py`). The body of
`seen` compares guess and result, and may be empty. There are four kinds of guess:

- a choice, written as in a quiz but without reasons. `[x]` marks the choice that is true or was
  measured; mark none if no single choice is right;
- a number, with its label in `:number:` and the measured value in `:measured:`;
- a curve, with `:curve: label of the vertical axis, 0 to 1`, `:against: label of the horizontal
  axis`, and a list of points in place of the choices: `- 10`, or `- 10: value measured there`.
  `1e-6 to 1 (log)` makes the axis logarithmic;
- a sentence, if the directive has neither choices nor these options.

Measured values come from the run: {glue:text}`name:.2f`, or {kept}`file name * 2:.2f`.

In HTML it is a fieldset, and `predict.mjs` does the rest: once the answer is open, the right choice
is named next to the guess, and marked in the list. Without JavaScript, in print, and in every other
format, the answer follows the question, and `seen` begins with "It was C."
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from course_quiz import LETTERS, Choice, quiz_choice, split, write_legend
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

TITLE = "Predict, then see"
POINT = re.compile(r"- ([^:]+?)\s*(?:: (.+))?")
RIGHT = ' <span class="predict-right">it was this</span>'
AXIS = re.compile(r"(?P<label>.+), (?P<low>\S+) to (?P<high>\S+?)(?P<log> \(log\))?")

logger = logging.getLogger(__name__)


class prediction(nodes.General, nodes.Element):
    """Children: prediction_question, then quiz_choice, prediction_point or prediction_measured.

    Attributes: kind (choice, number, curve, sentence); right, the letter of the choice that is
    marked; label of a number; axis of a curve.
    """


class prediction_question(nodes.General, nodes.Element):
    """The blocks of the question; the first is a paragraph."""


class prediction_measured(nodes.General, nodes.TextElement):
    """The measured value of a number."""


class prediction_point(nodes.General, nodes.TextElement):
    """A point of a curve: the value measured there. Attribute: at, its position on the axis."""


class seen_end(nodes.General, nodes.Element):
    """The end of the closed part. Children: the sentences that compare guess and result."""


@dataclass(frozen=True)
class Axis:
    """The vertical axis of a curve."""

    label: str
    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, text: str) -> "Axis":
        """Parse a text such as `accuracy, 0 to 1`. Raises ValueError if it is malformed."""
        match = AXIS.fullmatch(text)
        if not match:
            raise ValueError(text)
        axis = cls(match["label"], float(match["low"]), float(match["high"]), bool(match["log"]))
        if not axis.low < axis.high or (axis.log and axis.low <= 0):
            raise ValueError(text)
        return axis


class Placed(SphinxDirective):
    """A directive that reports the line of a mistake in it."""

    has_content = True

    def place(self, line: int = 0) -> tuple[str, int]:
        """Return (page, line) of line `line` of the body; MyST counts the offset from the fence."""
        return self.env.docname, self.lineno + self.content_offset + line + 1

    def warn(self, problem: str) -> None:
        logger.warning(
            "malformed prediction: %s", problem, location=(self.env.docname, self.lineno)
        )

    def inline(self, text: str, line: int = 0) -> list[nodes.Node]:
        inline: list[nodes.Node] = self.state.inline_text(text, self.place(line)[1])[0]
        return inline


class Predict(Placed):
    """A question and how it is answered. The module's docstring describes the syntax.

    After a warning about a missing part, a default takes its place, so that the build can go on.
    """

    option_spec: ClassVar = dict.fromkeys(
        ("name", "number", "measured", "curve", "against"), directives.unchanged_required
    )

    def run(self) -> list[nodes.Node]:
        kinds = [kind for kind in ("number", "curve") if kind in self.options]
        question, choices = split(self.content)
        kinds += ["choice"] if choices else []
        if len(kinds) > 1:
            self.warn(
                f"it asks for a {' and a '.join(kinds)}; write a separate prediction for each"
            )
        kind = kinds[0] if kinds else "sentence"
        node = prediction(kind=kind, line=self.lineno)
        self.set_source_info(node)
        if "name" not in self.options:
            self.warn("it has no name, under which the guess is stored; add `:name: predict-...`")
            self.options["name"] = f"predict-{self.lineno}"
        self.add_name(node)
        points: list[tuple[int, str, str]] = []
        if kind == "curve":
            question, points = split_points(self.content)
        question_node = prediction_question()
        self.state.nested_parse(question, self.content_offset, question_node)
        if not question_node.children:
            self.warn("there is no question")
            question_node += nodes.paragraph()
        node += question_node
        if kind == "choice":
            node += self._choices(node, choices)
        elif kind == "number":
            if "measured" not in self.options:
                self.warn("the measured value is missing; add, for instance, `:measured: 0.5`")
            node["label"] = self.options["number"]
            node += prediction_measured("", "", *self.inline(self.options.get("measured", "")))
        elif kind == "curve":
            node += self._points(node, points)
        return [node]

    def _choices(self, node: prediction, choices: list[Choice]) -> list[nodes.Node]:
        if not 2 <= len(choices) <= len(LETTERS):
            self.warn(f"{len(choices)} choices; write 2 to {len(LETTERS)}")
        rights = [letter for letter, choice in zip(LETTERS, choices, strict=False) if choice.right]
        if len(rights) > 1:
            self.warn(f"{len(rights)} choices are marked, with [x]; mark at most one")
        if rights:
            node["right"] = rights[0]
        if any("".join(choice.reason).strip() for choice in choices):
            self.warn("a choice has a reason, with >; move the reason to the answer")
        choice_nodes = [
            quiz_choice(
                *("", "", *self.inline("\n".join(choice.text), choice.line)),
                quiz="".join(node["ids"]),
                letter=letter,
            )
            for letter, choice in zip(LETTERS, choices, strict=False)
        ]
        if rights:
            choice_nodes[LETTERS.index(rights[0])] += nodes.raw("", RIGHT, format="html")
        return choice_nodes

    def _points(
        self, node: prediction, points: list[tuple[int, str, str]]
    ) -> list[prediction_point]:
        try:
            node["axis"] = Axis.of(self.options["curve"])
        except ValueError:
            self.warn(
                f"cannot read {self.options['curve']!r} as an axis; write "
                "`:curve: accuracy, 0 to 1`, or `1e-6 to 1 (log)`"
            )
            node["axis"] = Axis("", 0, 1, False)
        if "against" not in self.options:
            self.warn(
                "the horizontal axis has no label; add, for instance, `:against: training steps`"
            )
        if len(points) < 3:
            self.warn(
                f"{len(points)} points; write a list of at least 3, `- 10`, below the question"
            )
        node["against"] = self.options.get("against", "")
        return [
            prediction_point("", "", *self.inline(measured, line), at=at)
            for line, at, measured in points
        ]


def split_points(body: StringList) -> tuple[StringList, list[tuple[int, str, str]]]:
    """Split the body of a curve into its question and (line, position, measured value)."""
    matches = [(line, POINT.fullmatch(text)) for line, text in enumerate(body)]
    points = [(line, match[1], match[2] or "") for line, match in matches if match]
    return body[: points[0][0]] if points else body[:], points


class Seen(Placed):
    """The end of the part that a prediction closes, and the sentences that compare."""

    def run(self) -> list[nodes.Node]:
        node = seen_end(line=self.lineno)
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


class PlainPrediction(SphinxPostTransform):
    """Replace a prediction, in formats other than HTML, by its title, question and choices.

    The letters are written as text, since the answer names a letter and some formats number the
    items of a list.
    """

    default_priority = 5

    def is_supported(self) -> bool:
        return self.app.builder.format != "html"

    def run(self, **keywords: object) -> None:
        for node in list(self.document.findall(prediction)):
            question, *rest = node.children
            box = nodes.container(ids=node["ids"], names=node["names"])
            box += nodes.paragraph("", "", nodes.strong("", TITLE))
            box += question.children
            if node["kind"] == "choice":
                options = nodes.line_block()
                for choice in rest:
                    options += nodes.line("", f"{choice['letter']}. ", *choice.children)
                box += options
            node.replace_self(box)


FIELDS = {
    "choice": "",
    "number": '<label for="{id}-guess">{label}</label> '
    '<input class="predict-field" id="{id}-guess" inputmode="decimal" autocomplete="off">',
    "sentence": '<label for="{id}-guess">Your guess, in a sentence</label> '
    '<textarea class="predict-field" id="{id}-guess" rows="2"></textarea>',
    "curve": '<div class="predict-chart"></div>',
}
"""The HTML of the field for each kind of guess, below the question."""

BUTTONS = """\
<div class="predict-row">
<p class="predict-said" role="status"></p>
<button type="button" class="predict-commit">See the answer</button>
<button type="button" class="predict-skip">Show without a guess</button>
<button type="button" class="predict-change">Change my guess</button>
<button type="button" class="predict-clear">Clear</button>
</div>
"""


def visit_prediction(self: HTML5Translator, node: prediction) -> None:
    key = f"{self.builder.current_docname}/{node['ids'][0]}"
    attributes = {"data-kind": node["kind"], "data-key": key}
    if "right" in node:
        attributes["data-right"] = node["right"]
    self.body.append(self.starttag(node, "fieldset", CLASS="predict", **attributes))


def depart_prediction(self: HTML5Translator, node: prediction) -> None:
    label = self.encode(node.get("label", ""))
    fields = FIELDS[node["kind"]].format(id=node["ids"][0], label=label)
    self.body.append(f'<div class="predict-guess">{fields}</div>\n{BUTTONS}</fieldset>\n')


def visit_question(self: HTML5Translator, node: prediction_question) -> None:
    write_legend(self, node, f'<span class="predict-title">{TITLE}</span>')
    if node.parent["kind"] == "curve":
        axis = node.parent["axis"]
        self.body.append(
            f'<ol class="predict-points" hidden data-label="{self.attval(axis.label)}" '
            f'data-low="{axis.low}" data-high="{axis.high}" data-log="{int(axis.log)}" '
            f'data-against="{self.attval(node.parent["against"])}">'
        )
    raise nodes.SkipNode


def visit_measured(self: HTML5Translator, node: prediction_measured) -> None:
    self.body.append('<span class="predict-measured" hidden>')


def depart_measured(self: HTML5Translator, node: prediction_measured) -> None:
    self.body.append("</span>\n")


def visit_point(self: HTML5Translator, node: prediction_point) -> None:
    self.body.append(f'<li data-at="{self.attval(node["at"])}">')


def depart_point(self: HTML5Translator, node: prediction_point) -> None:
    self.body.append("</li>")
    if node is node.parent[-1]:
        self.body.append("</ol>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("predict", Predict)
    app.add_directive("seen", Seen)
    app.add_post_transform(PlainPrediction)
    app.add_node(prediction, html=(visit_prediction, depart_prediction))
    app.add_node(prediction_question, html=(visit_question, None))
    app.add_node(prediction_measured, html=(visit_measured, depart_measured))
    app.add_node(prediction_point, html=(visit_point, depart_point))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
