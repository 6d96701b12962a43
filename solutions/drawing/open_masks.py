"""Encoders that fill gaps, to run in the page: the reader hides words and asks what stands there.

This module writes the figure for readers without scripts, and on paper: a table of what each
machine says of one hidden word. `book/_web/open_masks.mjs` runs the machines.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import torch
from torch import Tensor

SHOWN = 4
"""The number of words in the table."""


@dataclass(frozen=True)
class Machine:
    """A machine: its title, whether a token sees only the tokens before it, and its weights."""

    title: str
    causal: bool
    state: Mapping[str, Tensor]


def open_masks(
    machines: Sequence[Machine],
    words: Sequence[str],
    n_heads: int,
    sentence: Sequence[int],
    gap: int,
    shares: Tensor,
    nouns: Mapping[str, Sequence[str]],
    verbs: Sequence[str],
) -> str:
    """Return the figure as HTML.

    words: the last one is the mask. n_heads: of each block. sentence: ids (n,), shown at first with
    the word at position `gap` hidden. shares: what each machine says of it, (machines, words).
    nouns: pronoun -> its nouns. With these and the verbs, the page tells whether the reader has
    drawn a sentence of the language.
    """
    data = {
        "words": list(words),
        "heads": n_heads,
        "sentence": list(sentence),
        "gap": gap,
        "tensors": [[name, list(one.shape)] for name, one in machines[0].state.items()],
        "machines": [
            {"title": one.title, "causal": one.causal, "weights": _halves(one.state)}
            for one in machines
        ],
        "nouns": {pronoun: list(group) for pronoun, group in nouns.items()},
        "verbs": list(verbs),
    }
    numbers = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    text = " ".join(words[-1] if at == gap else words[one] for at, one in enumerate(sentence))
    best = shares.sum(dim=0).argsort(descending=True)[:SHOWN].tolist()
    head = "".join(f'<th scope="col">{escape(words[at])}</th>' for at in best)
    rows = "".join(
        f'<tr><th scope="row">{escape(machine.title)}</th>'
        + "".join(f'<td class="measure" style="--part: {p:.3f}">{p:.2f}</td>' for p in row)
        + "</tr>"
        for machine, row in zip(machines, shares[:, best].tolist(), strict=True)
    )
    return (
        f'<div class="play masks"><div class="table-scroll"><table class="masks-first">'
        f"<caption>{escape(text)}</caption><thead><tr><th></th>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
        f'<script type="application/json">{numbers}</script>'
        '</div><script type="module" src="_static/open_masks.mjs"></script>'
    )


def _halves(state: Mapping[str, Tensor]) -> str:
    """Return all numbers of a state in half precision, little-endian, as base64."""
    flat = torch.cat([one.flatten() for one in state.values()]).half().numpy()
    return base64.b64encode(flat.astype("<f2").tobytes()).decode("ascii")
