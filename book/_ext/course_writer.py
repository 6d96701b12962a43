"""The directive `writer`: chapter 10's GPT writes in the page, and shows where its heads look.

    ```{writer}
    The caption.
    ```

In HTML, `live/writer.mjs` does the rest: the page has the model's reading of a few texts, and the
model itself is fetched when the reader presses the figure's button. Without scripts there are two
tables: the likeliest tokens after the first text, and where each head looks from its last token.
"""

import json
from html import escape
from math import exp
from pathlib import Path
from typing import Any

from docutils import nodes
from live_models import packed
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

EXECUTED = Path(__file__).parents[1] / "executed" / "gpt_and_bert"
WEIGHTS = EXECUTED / "gpt-0.safetensors"
READINGS = EXECUTED / "writer.json"
LISTED = 8
"""The number of tokens in the table for readers without scripts."""


class writer(nodes.container):
    """The GPT that writes. Children: the caption."""


class WriterDirective(SphinxDirective):
    """The GPT of chapter 10."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        for file in (WEIGHTS, READINGS):
            self.env.note_dependency(str(file))
        node = writer()
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


def model() -> bytes:
    """Return the weights in the format that the page fetches."""
    return packed(WEIGHTS.read_bytes())


def html(readings: dict[str, Any], kilobytes: int) -> str:
    """Return the HTML before the caption.

    readings: see `solutions.experiments.gpt_and_bert.keeping.readings`.
    """
    data = json.dumps({**readings, "kB": kilobytes}, separators=(",", ":"))
    written = data.replace("<", "\\u003c")  # some token is "<"
    first = readings["beginnings"][0]
    return (
        f'<div class="play writer"><script type="application/json">{written}</script>\n'
        f'<div class="writer-kept">{likeliest(readings["names"], first)}'
        f'{looks(readings, first)}</div>\n<div class="live-go"></div>\n'
        '<div class="live-caption">\n'
    )


def likeliest(names: list[str], beginning: dict[str, Any]) -> str:
    """Return a table of the likeliest tokens after a text."""
    logits = beginning["logits"]
    most = max(logits)
    total = sum(exp(one - most) for one in logits)
    best = sorted(range(len(logits)), key=lambda at: (-logits[at], at))[:LISTED]
    rows = "".join(
        f'<tr><th scope="row"><code>{escape(shown(names[at]))}</code></th>'
        f"<td>{exp(logits[at] - most) / total:.2g}</td></tr>"
        for at in best
    )
    return (
        f"<table><caption>The likeliest tokens after “{escape(beginning['text'])}”</caption>"
        '<thead><tr><th scope="col">token</th><th scope="col">probability</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def looks(readings: dict[str, Any], beginning: dict[str, Any]) -> str:
    """Return a table of where each head looks most from the last token of a text."""
    names, ids = readings["names"], beginning["ids"]
    rows = ""
    for number, look in enumerate(beginning["looks"]):
        weights = look[-1]
        most = weights.index(max(weights))
        rows += (
            f'<tr><th scope="row">{head_name(number, readings["heads"])}</th>'
            f"<td><code>{escape(shown(names[ids[most]]))}</code></td>"
            f"<td>{weights[most]:.2f}</td></tr>"
        )
    last = escape(shown(names[ids[-1]]))
    return (
        f"<table><caption>Where each head looks most from its last token, “{last}”</caption>"
        '<thead><tr><th scope="col">head</th><th scope="col">looks most at</th>'
        f'<th scope="col">weight</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def head_name(number: int, heads: int) -> str:
    """Return a head's name. number: from 0, block by block. heads: of each block."""
    return f"Block {number // heads + 1}, head {number % heads + 1}"


def shown(token: str) -> str:
    """Return a token with its spaces visible."""
    return token.replace(" ", "␣")


def visit_writer(self: HTML5Translator, node: writer) -> None:
    readings = json.loads(READINGS.read_text(encoding="utf-8"))
    self.body.append(html(readings, round(len(model()) / 1000)))


def depart_writer(self: HTML5Translator, node: writer) -> None:
    self.body.append("</div></div>\n")


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, object], doctree: nodes.document
) -> None:
    """Load the script on the page that has the GPT, and write the model that it fetches."""
    if doctree is None or not any(doctree.findall(writer)):
        return
    app.add_js_file("live/writer.mjs", type="module")
    folder = Path(app.outdir, "_static", "live")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gpt.model").write_bytes(model())


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("writer", WriterDirective)
    app.add_node(writer, html=(visit_writer, depart_writer))
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
