"""The chapter's trained GPT as bytes, for the page that runs it, and its readings of some texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

from ...gpt_and_bert import GPT
from ...translators.keeping import ABOUT, PRECISION
from .heads import gpt_maps
from .language_model import SIZES
from .run import with_weights
from .tokens import Tokens


def as_bytes(state: Mapping[str, Tensor], tokens: Tokens) -> bytes:
    """Return a GPT of the chapter's size and its tokens as safetensors, for `from_bytes`.

    state: name -> weights. The same GPT gives the same bytes.
    """
    about = {
        "name": "gpt",
        "blocks": SIZES["n_layers"],
        "heads": SIZES["n_heads"],
        "merges": tokens.merges,
    }
    kept = {name: one.to(PRECISION) for name, one in state.items()}
    return save(kept, {ABOUT: json.dumps(about, sort_keys=True)})


def from_bytes(data: bytes) -> tuple[GPT, Tokens]:
    """Return the GPT, in evaluation mode, and its tokens."""
    length = int.from_bytes(data[:8], "little")  # of the JSON header
    about = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][ABOUT])
    state = {name: one.to(torch.float32) for name, one in load(data).items()}
    return with_weights(state), Tokens([(left, right) for left, right in about["merges"]])


@torch.no_grad()
def readings(model: GPT, tokens: Tokens, texts: Sequence[str]) -> dict[str, Any]:
    """Return what the figure shows of some texts before the reader loads the model.

    heads: of each block. names: the text of each token. beginnings: for each text its ids, the
    logits of the token that follows, (vocabulary,), and the looks of all heads, layer by layer: for
    each token the weights of the tokens up to it.
    """
    vocabulary = range(len(tokens.pieces))
    return {
        "heads": SIZES["n_heads"],
        "names": [repr(tokens.decode(torch.tensor([one])))[1:-1] for one in vocabulary],
        "beginnings": [_reading(model, tokens, text) for text in texts],
    }


def _reading(model: GPT, tokens: Tokens, text: str) -> dict[str, Any]:
    ids = tokens.encode(text)
    maps = gpt_maps(model, ids[None]).flatten(0, 1)  # (layers * heads, n, n)
    return {
        "text": text,
        "ids": ids.tolist(),
        "logits": _rounded(model(ids[None])[0, -1], 3),
        "looks": [
            [_rounded(row[: at + 1], 4) for at, row in enumerate(one)] for one in maps.unbind()
        ],
    }


def _rounded(values: Tensor, digits: int) -> list[float]:
    return [round(one, digits) for one in values.tolist()]
