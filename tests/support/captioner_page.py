"""Make a small site that holds only the figure of the captioners, as on the book's site."""

import shutil
from pathlib import Path

from book._ext.course_captioner import html
from book._ext.course_site import PACKAGES, STYLES, WEB, bundle, font_files
from book._ext.live_models import packed

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Captioners</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><link rel="stylesheet" href="_static/course.css">
<script type="module" src="_static/live/captions.mjs"></script></head>
<body><main><article class="text"><h1>Captioners</h1>
{figures}
</article></main></body></html>
"""
SENTENCE = "<p>The captioners of this chapter.</p></div></div>\n"


def make(folder: Path, weights: dict[str, bytes], figures: int = 1) -> None:
    """Write the site. weights: the weights of each captioner, as the page stores them."""
    static = folder / "_static"
    bundle(static)
    (static / "learning" / "worker.mjs").unlink()
    shutil.copyfile(WEB / "learning" / "product.wasm", static / "learning" / "product.wasm")
    (static / "fonts").mkdir()
    for file in font_files():
        shutil.copyfile(file, static / "fonts" / file.name)
    assert PACKAGES.is_dir()
    sheets = [(WEB / "styles" / f"{name}.css").read_text(encoding="utf-8") for name in STYLES]
    (static / "course.css").write_text("\n".join(sheets), encoding="utf-8")
    models = {name: packed(model) for name, model in weights.items()}
    for name, model in models.items():
        (static / "live" / f"{name}.model").write_bytes(model)
    text = PAGE.format(figures=figures * (html(models) + SENTENCE))
    (folder / "index.html").write_text(text, encoding="utf-8")
