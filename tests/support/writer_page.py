"""Make a small site that holds only the GPT that writes, and run it without a page."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from book._ext.course_site import STYLES, WEB, bundle, font_files
from book._ext.course_writer import html
from book._ext.live_models import packed
from solutions.experiments.gpt_and_bert.keeping import as_bytes, from_bytes, readings
from solutions.experiments.gpt_and_bert.language_model import CONTEXT, SIZES
from solutions.experiments.gpt_and_bert.tokens import Tokens, learned
from solutions.gpt_and_bert import GPT

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>A GPT</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><link rel="stylesheet" href="_static/course.css">
<script type="module" src="_static/live/writer.mjs"></script></head>
<body><main><article class="text"><h1>A GPT</h1>
{figure}<p>The GPT of this chapter.</p></div></div>
</article></main></body></html>
"""
TEXTS = ("The weights of a", "the gradi", "query and a")
SCRIPT = """
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { GPT } from "%s";
const gpt = new GPT(new Uint8Array(gunzipSync(readFileSync(process.argv[1]))));
const [texts, even] = JSON.parse(readFileSync(process.argv[2], "utf8"));
const read = texts.map((text) => {
    const ids = gpt.tokens.encode(text);
    const reading = gpt.read(ids.slice(0, gpt.longest), new Set(even));
    return { ids, text: gpt.tokens.decode(ids), ...reading };
});
console.log(JSON.stringify(read));
"""


def untaught(seed: int) -> bytes:
    """Return a GPT of the chapter's size with random weights, large enough to look somewhere."""
    tokens = learned("the weights of the query and the key of the gradient " * 3, 20)
    torch.manual_seed(seed)
    model = GPT(len(tokens.pieces), max_len=CONTEXT, **SIZES)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return as_bytes(model.state_dict(), tokens)


def in_the_page(
    weights: bytes, texts: list[str], folder: Path, even: tuple[int, ...] = ()
) -> list[dict[str, Any]]:
    """Return the ids, logits and looks that the page computes for texts.

    even: the blocks whose heads look evenly.
    """
    model, request = folder / "gpt.model", folder / "texts.json"
    model.write_bytes(packed(weights))
    request.write_text(json.dumps([texts, even]), encoding="utf-8")
    code = SCRIPT % (WEB / "live" / "gpt.mjs").as_uri()
    command = ["node", "--input-type=module", "--eval", code, "--", str(model), str(request)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def looks_of(maps: np.ndarray) -> list[list[list[float]]]:
    """Return maps (heads, n, n) as the page has them: of each row only what it may see."""
    return [[row[: at + 1].tolist() for at, row in enumerate(one)] for one in maps]


def make(folder: Path, weights: bytes) -> tuple[GPT, Tokens]:
    """Write the site; return the model that it has."""
    static = folder / "_static"
    bundle(static)
    (static / "fonts").mkdir()
    for file in font_files():
        shutil.copyfile(file, static / "fonts" / file.name)
    sheets = [(WEB / "styles" / f"{name}.css").read_text(encoding="utf-8") for name in STYLES]
    (static / "course.css").write_text("\n".join(sheets), encoding="utf-8")
    shutil.copyfile(WEB / "learning" / "product.wasm", static / "learning" / "product.wasm")
    model = packed(weights)
    (static / "live" / "gpt.model").write_bytes(model)
    gpt, tokens = from_bytes(weights)
    figure = html(readings(gpt, tokens, TEXTS), round(len(model) / 1000))
    (folder / "index.html").write_text(PAGE.format(figure=figure), encoding="utf-8")
    return gpt, tokens
