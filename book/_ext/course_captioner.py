"""The directive `captioner`: captioners that run in the page, on a picture that a reader composes.

    ```{captioner}
    The caption.
    ```

In HTML, `live/captions.mjs` does the rest, and fetches the models when the reader first presses its
button. Without scripts, in print and in other formats only the caption is shown.
"""

import json
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from live_models import packed
from live_pictures import facts
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

EXECUTED = Path(__file__).parents[1] / "executed"


class Machine(NamedTuple):
    """A captioner: its title, and the page that trains it.

    hard: whether it looks at a single place at a time, the likeliest.
    """

    title: str
    page: str
    hard: bool = False


MACHINES = {
    "captioner_soft": Machine("Soft look, told where it looked", "captioning"),
    "captioner_remembering": Machine("Soft look, told what it saw", "captioning_appendix"),
    "captioner_hard": Machine("Hard look, told where it looked", "captioning", hard=True),
}
START = (
    ("red", "circle", 5, 5, 15),
    ("blue", "square", 28, 6, 15),
    ("green", "triangle", 27, 29, 15),
)
"""The first picture: colour, kind, top, left and size of each shape."""
START_CAPTION = "a red circle above a blue square left of a green triangle"


class captioner(nodes.container):
    """The captioners. Children: the caption."""


class CaptionerDirective(SphinxDirective):
    """Three captioners of chapter 3."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        for name in MACHINES:
            self.env.note_dependency(str(weights_of(name)))
        node = captioner()
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


def weights_of(name: str) -> Path:
    """Return the file with the weights of a captioner: of the first seed that its page keeps."""
    return EXECUTED / MACHINES[name].page / f"{name}-0.safetensors"


def data(models: dict[str, bytes]) -> dict[str, Any]:
    """Return the script's data: constants of pictures, the first picture, and the captioners."""
    machines = [
        {
            "name": name,
            "title": machine.title,
            "kB": round(len(models[name]) / 1000),
            "hard": machine.hard,
        }
        for name, machine in MACHINES.items()
    ]
    keys = ("colour", "kind", "top", "left", "size")
    start = [dict(zip(keys, shape, strict=True)) for shape in START]
    return {"facts": facts(), "start": start, "machines": machines}


def models() -> dict[str, bytes]:
    """Return the weights of each captioner in the format that the page fetches."""
    return {name: packed(weights_of(name).read_bytes()) for name in MACHINES}


def html(machines: dict[str, bytes]) -> str:
    """Return the HTML before the caption."""
    written = escape(json.dumps(data(machines), separators=(",", ":")), quote=False)
    return (
        f'<div class="captioner"><script type="application/json">{written}</script>\n'
        f'<p class="live-source live-kept">{START_CAPTION}</p>\n<div class="live-go"></div>\n'
        '<div class="live-caption">\n'
    )


def visit_captioner(self: HTML5Translator, node: captioner) -> None:
    self.body.append(html(models()))


def depart_captioner(self: HTML5Translator, node: captioner) -> None:
    self.body.append("</div></div>\n")


def add_script(
    app: Sphinx, page: str, template: str, context: dict[str, object], doctree: nodes.document
) -> None:
    """Load the script on the page that has the captioners, and write the models that it fetches."""
    if doctree is None or not any(doctree.findall(captioner)):
        return
    app.add_js_file("live/captions.mjs", type="module")
    folder = Path(app.outdir, "_static", "live")
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in models().items():
        (folder / f"{name}.model").write_bytes(model)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("captioner", CaptionerDirective)
    app.add_node(captioner, html=(visit_captioner, depart_captioner))
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
