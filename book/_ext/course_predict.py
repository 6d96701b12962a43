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

What stands between the two is closed until a guess is given (`course_seen.py`). The body of `seen`
compares, and may be empty. The guess is one of four kinds:

- a choice, written as in a quiz, without reasons; `[x]` marks the one that was measured or is
  true, and none where no single one is;
- a number, with `:number: what it is of`, and what it turned out to be in `:measured:`;
- a curve, with `:curve: what is drawn, 0 to 1`, `:against: what is across`, and a list of points
  in place of the choices, `- 10` or `- 10: what was measured there`; `1e-6 to 1 (log)` is a scale
  in powers of ten;
- a sentence, if it is none of these.

What was measured comes from the run: {glue:text}`name:.2f`, or {kept}`file name * 2:.2f`.

In HTML it is a fieldset, and `predict.mjs` does the rest: the choice that was right is named beside
the guess, and marked in the list, once the answer is open. Without JavaScript, in print, and in
every other format, question and answer follow each other, and `seen` begins with "It was C."
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from course_quiz import LETTERS, quiz_choice, split, write_legend
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
    """What a number turned out to be."""


class prediction_point(nodes.General, nodes.TextElement):
    """A point of a curve: what was measured there. Attribute: at, its place on the axis."""


class seen_end(nodes.General, nodes.Element):
    """Where what is closed ends. Children: the sentences that compare."""


@dataclass(frozen=True)
class Axis:
    """What is drawn upwards."""

    label: str
    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, text: str) -> "Axis":
        """Read `accuracy, 0 to 1`. Raises ValueError."""
        found = AXIS.fullmatch(text)
        if not found:
            raise ValueError(text)
        axis = cls(found["label"], float(found["low"]), float(found["high"]), bool(found["log"]))
        if not axis.low < axis.high or (axis.log and axis.low <= 0):
            raise ValueError(text)
        return axis


class Placed(SphinxDirective):
    """A directive that says where a fault of it stands."""

    has_content = True

    def place(self, line: int = 0) -> tuple[str, int]:
        """Return where line `line` of the body stands (MyST counts the offset from the fence)."""
        return self.env.docname, self.lineno + self.content_offset + line + 1

    def warn(self, problem: str) -> None:
        logger.warning(
            "malformed prediction: %s", problem, location=(self.env.docname, self.lineno)
        )

    def inline(self, text: str, line: int = 0) -> list[nodes.Node]:
        return self.state.inline_text(text, self.place(line)[1])[0]


class Predict(Placed):
    """A question and how it is answered. See the module for how it is written.

    What is missing is filled in once it was told, so that the build comes to its end.
    """

    option_spec: ClassVar = dict.fromkeys(
        ("name", "number", "measured", "curve", "against"), directives.unchanged_required
    )

    def run(self) -> list[nodes.Node]:
        kinds = [kind for kind in ("number", "curve") if kind in self.options]
        question, choices = split(self.content)
        kinds += ["choice"] if choices else []
        if len(kinds) > 1:
            self.warn(f"a {' and a '.join(kinds)} at once; ask for one, in two predictions for two")
        kind = kinds[0] if kinds else "sentence"
        node = prediction(kind=kind, line=self.lineno)
        self.set_source_info(node)
        if "name" not in self.options:
            self.warn("it has no name, and a guess is kept under it; add `:name: predict-...`")
            self.options["name"] = f"predict-{self.lineno}"
        self.add_name(node)
        points: list[tuple[int, str, str]] = []
        if kind == "curve":
            question, points = split_points(self.content)
        asked = prediction_question()
        self.state.nested_parse(question, self.content_offset, asked)
        if not asked.children:
            self.warn("there is no question")
            asked += nodes.paragraph()
        node += asked
        if kind == "choice":
            node += self._choices(node, choices)
        elif kind == "number":
            if "measured" not in self.options:
                self.warn("nothing says what the number is; add `:measured: 0.5`")
            node["label"] = self.options["number"]
            node += prediction_measured("", "", *self.inline(self.options.get("measured", "")))
        elif kind == "curve":
            node += self._points(node, points)
        return [node]

    def _choices(self, node: prediction, choices: list) -> list[nodes.Node]:
        if not 2 <= len(choices) <= len(LETTERS):
            self.warn(f"{len(choices)} choices; write 2 to {len(LETTERS)}")
        rights = [letter for letter, choice in zip(LETTERS, choices, strict=False) if choice.right]
        if len(rights) > 1:
            self.warn(f"{len(rights)} choices are marked, with [x]; mark one, or none")
        if rights:
            node["right"] = rights[0]
        if any("".join(choice.reason).strip() for choice in choices):
            self.warn("a choice has a reason, with >; write it where the answer stands")
        found = [
            quiz_choice(
                *("", "", *self.inline("\n".join(choice.text), choice.line)),
                quiz="".join(node["ids"]),
                letter=letter,
            )
            for letter, choice in zip(LETTERS, choices, strict=False)
        ]
        if rights:
            found[LETTERS.index(rights[0])] += nodes.raw("", RIGHT, format="html")
        return found

    def _points(
        self, node: prediction, points: list[tuple[int, str, str]]
    ) -> list[prediction_point]:
        try:
            node["axis"] = Axis.of(self.options["curve"])
        except ValueError:
            self.warn(
                f"{self.options['curve']!r} is no axis; write `:curve: accuracy, 0 to 1`, "
                "or `1e-6 to 1 (log)`"
            )
            node["axis"] = Axis("", 0, 1, False)
        if "against" not in self.options:
            self.warn("nothing says what is across; add `:against: training steps`")
        if len(points) < 3:
            self.warn(
                f"{len(points)} points; write a list of 3 or more, `- 10`, below the question"
            )
        node["against"] = self.options.get("against", "")
        return [
            prediction_point("", "", *self.inline(measured, line), at=at)
            for line, at, measured in points
        ]


def split_points(body: StringList) -> tuple[StringList, list[tuple[int, str, str]]]:
    """Split the body of a curve into its question and (line, place, what was measured there)."""
    found = [(line, POINT.fullmatch(text)) for line, text in enumerate(body)]
    points = [(line, match[1], match[2] or "") for line, match in found if match]
    return body[: points[0][0]] if points else body[:], points


class Seen(Placed):
    """The end of what a prediction closes, and the sentences that compare."""

    def run(self) -> list[nodes.Node]:
        node = seen_end(line=self.lineno)
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


class PlainPrediction(SphinxPostTransform):
    """For a format other than HTML: the title, the question, and a line for each choice.

    The letters are text, since the end names one, and some formats write numbers in a list.
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
"""What is filled in, below the question."""

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
