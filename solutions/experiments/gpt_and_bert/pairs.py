"""Which heads of the published encoder switch what "it" looks at, in six pairs of sentences."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ...published.minilm import MiniLM
from .heads import bert_maps
from .meanings import DECIDES_NOTHING, SENTENCE

PAIRS = (
    (SENTENCE, "animal", "street", "tired", "wide"),
    ("The trophy did not fit into the suitcase because it was too {}.", "trophy", "suitcase",
     "large", "small"),
    ("The ball broke the table because it was made of {}.", "ball", "table", "steel", "glass"),
    ("The truck overtook the bus because it was going so {}.", "truck", "bus", "fast", "slowly"),
    ("The worm tasted better than the apple because it was {}.", "worm", "apple", "fresh",
     "rotten"),
    ("The sculpture rolled off the shelf because it was not {}.", "sculpture", "shelf",
     "anchored", "level"),
)  # fmt: skip
"""A sentence, its two nouns, and two words: with the first one, "it" is the first noun.

All but the first are after the pairs of Levesque, Davis and Morgenstern (2012).
"""

DRAWS = 10_000


@dataclass(frozen=True)
class Switching:
    """How many heads switch with the pairs of words that decide, and with pairs that do not.

    switches: (pairs, 6, 12), True for a head that prefers the first noun with the first word and
    the second noun with the second. by_chance: for ordered pairs of words that decide nothing, the
    same, (pairs, ordered pairs, 72). most: in how many of the pairs the best head switches.
    chance_most: the same for each draw of one ordered pair of idle words a sentence, (DRAWS,).
    """

    switches: Tensor
    by_chance: Tensor
    most: int
    chance_most: Tensor


def switching(model: MiniLM) -> Switching:
    """Measure all heads on all pairs."""
    switches = torch.stack([switch(model, *pair) for pair in PAIRS])
    idle = []
    for sentence, first, second, *_ in PAIRS:
        shares = torch.stack(
            [share(model, sentence.format(word), first, second) for word in DECIDES_NOTHING]
        ).flatten(1)  # (words, 72)
        both = (shares[:, None] > 0.5) & (shares < 0.5)  # (words, words, 72)
        apart = ~torch.eye(len(shares), dtype=torch.bool)
        idle.append(both[apart])
    by_chance = torch.stack(idle)
    draws = torch.randint(
        by_chance.shape[1], (DRAWS, len(PAIRS)), generator=torch.Generator().manual_seed(0)
    )
    drawn = by_chance[torch.arange(len(PAIRS)), draws]  # (DRAWS, pairs, 72)
    return Switching(
        switches,
        by_chance,
        int(switches.sum(dim=0).max()),
        drawn.sum(dim=1).amax(dim=-1),
    )


def switch(model: MiniLM, sentence: str, first: str, second: str, one: str, other: str) -> Tensor:
    """Return whether each head, (6, 12), prefers `first` with `one`, and `second` with `other`."""
    with_one, with_other = (
        share(model, sentence.format(word), first, second) for word in (one, other)
    )
    return (with_one > 0.5) & (with_other < 0.5)


def share(model: MiniLM, sentence: str, first: str, second: str) -> Tensor:
    """Return, of the weight from "it" on two nouns, the share of the first: (6, 12)."""
    tokens = model.tokens(sentence)
    maps = bert_maps(model.encoder, model.batch([sentence]).ids)  # (6, 12, n, n)
    one, other = (maps[..., tokens.index("it"), tokens.index(noun)] for noun in (first, second))
    return one / (one + other)
