"""An interactive distribution over the next token, and a table for readers without scripts.

`book/_web/sampler.mjs` turns this HTML into the figure.
"""

import json
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

LISTED = 12
"""The number of tokens in the table."""


def sampler(beginnings: Mapping[str, np.ndarray], names: Sequence[str]) -> str:
    """Return the HTML: the likeliest tokens after the first beginning, and all logits.

    beginnings: a text -> the logits (V,) of the token after it. names: the text of each of the V
    tokens.
    """
    data = []
    for text, logits in beginnings.items():
        ranking = np.argsort(-logits, kind="stable")
        ranked = (logits[ranking] - logits.max()).round(2).tolist()
        data.append({"text": text, "tokens": [names[one] for one in ranking], "logits": ranked})
    shares = np.exp(data[0]["logits"])
    rows = "".join(
        f'<tr><th scope="row"><code>{escape(name)}</code></th><td>{share:.2g}</td></tr>'
        for name, share in list(zip(data[0]["tokens"], shares / shares.sum(), strict=True))[:LISTED]
    )
    numbers = json.dumps({"beginnings": data}, allow_nan=False).replace("<", "\\u003c")
    return (
        '<div class="play sampler">'
        f"<table><caption>The likeliest tokens after “{escape(data[0]['text'])}”</caption>"
        '<thead><tr><th scope="col">token</th><th scope="col">probability</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
        f'<script type="application/json">{numbers}</script>'
        '</div><script type="module" src="_static/sampler.mjs"></script>'
    )
