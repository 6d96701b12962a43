"""The attention maps of all heads to browse, and a table of one head for readers without scripts.

`book/_web/head_maps.mjs` turns this HTML into the figure.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

FULL = 255
"""The byte that represents a weight of 1."""


def head_maps(maps: Mapping[str, tuple[Sequence[str], np.ndarray]], start: tuple[int, int]) -> str:
    """Return the HTML: where each token of the first sentence looks most, and all weights.

    maps: for each sentence its n tokens, and the weights (layers, heads, n, n) of all heads. start:
    the layer and the head that are shown first.
    """
    sentences: list[dict[str, Any]] = [
        {
            "text": text,
            "tokens": list(tokens),
            "maps": base64.b64encode((weights * FULL).round().astype(np.uint8).tobytes()).decode(),
        }
        for text, (tokens, weights) in maps.items()
    ]
    tokens, weights = next(iter(maps.values()))
    layers, n_heads = weights.shape[:2]
    most = weights[start].argmax(axis=-1)
    rows = "".join(
        f'<tr><th scope="row">{escape(token)}</th>'
        f"<td>{escape(tokens[at])}</td><td>{weights[start][row, at]:.2f}</td></tr>"
        for row, (token, at) in enumerate(zip(tokens, most, strict=True))
    )
    data = {"sentences": sentences, "layers": layers, "heads": n_heads, "start": start}
    numbers = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    return (
        '<div class="play heads">'
        f"<table><caption>Layer {start[0] + 1}, head {start[1] + 1}: where each token looks most"
        '</caption><thead><tr><th scope="col">token</th><th scope="col">looks most at</th>'
        f'<th scope="col">weight</th></tr></thead><tbody>{rows}</tbody></table>'
        f'<script type="application/json">{numbers}</script>'
        '</div><script type="module" src="_static/head_maps.mjs"></script>'
    )
