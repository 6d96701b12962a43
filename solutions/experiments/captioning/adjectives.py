"""Where a published encoder looks at a shape's name: at its colour, or at the word before it.

The captions are of this chapter's kind, in two orders of words. In the first a colour is the word
before its shape, in the second it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product

import torch
from torch import Tensor

from ...data.pictures import COLOURS, KINDS
from ...published.minilm import MiniLM
from ..gpt_and_bert.heads import weights_of

BEFORE = "a {colour} {kind} above a {other_colour} {other_kind}"
APART = "a {kind} that is {colour} above a {other_kind} that is {other_colour}"


@dataclass(frozen=True)
class Looks:
    """What each head gives in one order of words, from a shape's name: all (names, layers, heads).

    own: to the shape's own colour. other: to the colour of the other shape. previous: to the word
    before the name.
    """

    own: Tensor
    other: Tensor
    previous: Tensor

    @property
    def share(self) -> Tensor:
        """Of what both colours get, the share of the own one: (layers, heads), a mean over names.

        A head that looks at colours and ignores the name has one half.
        """
        return (self.own / (self.own + self.other)).mean(dim=0)

    @property
    def told_apart(self) -> Tensor:
        """The share of names from which the own colour gets more: (layers, heads)."""
        return (self.own > self.other).double().mean(dim=0)


def looks(model: MiniLM, order: str) -> Looks:
    """Ask all heads at both names of every caption with two colours and two kinds."""
    named = list(product(permutations(COLOURS, 2), permutations(KINDS, 2)))
    captions = [
        order.format(colour=one, other_colour=other, kind=kind, other_kind=other_kind)
        for (one, other), (kind, other_kind) in named
    ]
    layers = model.layers(captions)  # 7 times (captions, n, d); all captions have n tokens
    pairs = zip(model.encoder.blocks, layers[:-1], strict=True)
    maps = torch.stack([weights_of(block, X) for block, X in pairs], dim=1)
    own, other, previous = [], [], []
    for caption, (colours, kinds), weights in zip(captions, named, maps, strict=True):
        tokens = model.tokens(caption)
        for kind, its, not_its in zip(kinds, colours, reversed(colours), strict=True):
            at = tokens.index(kind)
            own.append(weights[..., at, tokens.index(its)])  # (layers, heads)
            other.append(weights[..., at, tokens.index(not_its)])
            previous.append(weights[..., at, at - 1])
    return Looks(*(torch.stack(rows) for rows in (own, other, previous)))
