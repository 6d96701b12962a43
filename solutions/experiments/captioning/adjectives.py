"""Where a published encoder looks from a shape's name: at its colour, or at the previous word.

The captions are like those of the chapter, in two word orders. In the first order, a colour
directly precedes its shape; in the second it does not.
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
    """The weights of each head from a shape's name, for one word order: all (names, layers, heads).

    own: on the shape's own colour. other: on the colour of the other shape. previous: on the word
    before the name.
    """

    own: Tensor
    other: Tensor
    previous: Tensor

    @property
    def share(self) -> Tensor:
        """Return the own colour's share of the weight on both colours, (layers, heads).

        The share is a mean over names. A head that looks at colours but ignores the name has one
        half.
        """
        return (self.own / (self.own + self.other)).mean(dim=0)

    @property
    def told_apart(self) -> Tensor:
        """Return the share of names from which the own colour gets more weight: (layers, heads)."""
        return (self.own > self.other).double().mean(dim=0)


def looks(model: MiniLM, order: str) -> Looks:
    """Read all heads at both names of every caption with two colours and two kinds."""
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
