"""The directive `playground`: machines that the reader trains in the page.

    ```{playground} one-head-or-two
    The caption.
    ```

The argument names an entry of `book/_web/playground/questions.json`, which sets the machines, the
visible switches, and the pace. With the option `:whole:` all switches and the puzzles are shown.

In HTML, `playground/playground.mjs` does the rest. Without scripts, in print and as a file, the
page shows a picture of a stored run, `book/_web/playground/kept/<name>.json`, which
`node tests/web/playground/keep.mjs` writes. Other formats show only the caption.
"""

import json
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

FOLDER = Path(__file__).parents[1] / "_web" / "playground"
QUESTIONS = FOLDER / "questions.json"
KEPT = FOLDER / "kept"

DEAD = "document.documentElement.classList.add('pg-dead')"
"""The script that shows the stored run if the module cannot be loaded."""

WIDTH, HEIGHT = 420, 230
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 26, 38


class playground(nodes.container):
    """A playground. Attributes: question (settings), picture (SVG), whole. Children: caption."""


class Playground(SphinxDirective):
    """A question of `questions.json` about machines that learn in the page."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"whole": directives.flag}

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        name = self.arguments[0]
        questions = json.loads(QUESTIONS.read_text(encoding="utf-8"))
        if name not in questions:
            raise self.error(f"{QUESTIONS} has no question {name!r}; it has {', '.join(questions)}")
        run_file = KEPT / f"{name}.json"
        for file in (QUESTIONS, run_file):
            self.env.note_dependency(str(file))
        try:
            run = json.loads(run_file.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            run = {"settings": f"none, since there is no {error.filename}"}
        if run["settings"] != questions[name]["settings"]:
            raise self.error(
                f"the stored run of {name} was made with other settings ({run['settings']}); "
                "type `node tests/web/playground/keep.mjs`"
            )
        node = playground(question=questions[name], whole="whole" in self.options)
        node["picture"] = picture(run)
        node["name"] = name
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


def picture(run: dict[str, Any]) -> str:
    """Return a chart of the accuracy of a stored run's machines against the step, as HTML."""
    steps = run["every"] * (len(run["accuracy"][0]) - 1)

    def place(step: float, share: float) -> str:
        x = LEFT + step / steps * (WIDTH - LEFT - RIGHT)
        return f"{x:.1f},{HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM):.1f}"

    def text(at: str, anchor: str, words: str, shift: tuple[float, float] = (0, 0)) -> str:
        x, y = (float(part) + more for part, more in zip(at.split(","), shift, strict=True))
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'

    lines = [
        f'<polyline class="pg-line pg-{at}" points="'
        + " ".join(place(run["every"] * index, share) for index, share in enumerate(shares))
        + '"/>'
        for at, shares in enumerate(run["accuracy"], start=1)
    ]
    ends = "; ".join(
        f"{name} ends at {shares[-1]:.0%}"
        for name, shares in zip(run["names"], run["accuracy"], strict=True)
    )
    label = f"Accuracy against the step in a stored run with seed {run['seed']}: {ends}."
    guess = " ".join(place(step, run["chance"]) for step in (0, steps))
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
        + text(f"0,{TOP - 12}", "start", f"right, of {run['sequences']} new sequences")
        + "".join(
            text(place(0, share), "end", f"{share:g}", (-6, 5))
            + f'<polyline class="grid" points="{place(0, share)} {place(steps, share)}"/>'
            for share in (0, 0.5, 1)
        )
        + "".join(text(place(step, 0), "middle", f"{step:g}", (0, 18)) for step in (0, steps))
        + text(place(steps / 2, 0), "middle", "step", (0, 32))
        + f'<polyline class="pg-level" points="{guess}"/>'
        + "".join(lines)
        + "</svg>"
        + '<p class="pg-legend">'
        + "".join(
            f'<span class="pg-key pg-{at}">{escape(name)}</span>'
            for at, name in enumerate(run["names"], start=1)
        )
        + '<span class="pg-key pg-level">a guess</span></p>'
    )


def visit_playground(self: HTML5Translator, node: playground) -> None:
    question = node["question"]
    data = {"settings": question["settings"], "pace": question["pace"], "question": node["name"]}
    data |= {"switches": " ".join(question["switches"])} if not node["whole"] else {}
    data |= {"longer": " ".join(map(str, question.get("longer", ())))}
    attributes = "".join(f' data-{name}="{escape(str(value))}"' for name, value in data.items())
    self.body.append(
        f'<div class="playground"{attributes}>\n'
        f'<div class="pg-kept">{node["picture"]}</div>\n<div class="pg-caption">\n'
    )


def depart_playground(self: HTML5Translator, node: playground) -> None:
    self.body.append("</div></div>\n")


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, object], doctree: nodes.document
) -> None:
    """Load the script on each page that has a playground."""
    if doctree is not None and next(doctree.findall(playground), None) is not None:
        app.add_js_file("playground/playground.mjs", type="module", onerror=DEAD)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("playground", Playground)
    app.add_node(playground, html=(visit_playground, depart_playground))
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
