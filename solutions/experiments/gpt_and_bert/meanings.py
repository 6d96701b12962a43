"""The published encoder's vectors of a word in context: "date" and "it"."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from ...published.minilm import MiniLM
from .heads import bert_maps

WORD = "date"
CONTEXTS = (
    ("Today's date went well.", "evening"),
    ("She was nervous before her first date with him.", "evening"),
    ("What is the date today?", "day"),
    ("Please write the date at the top of the letter.", "day"),
    ("He ate a sweet date from the palm tree.", "fruit"),
    ("A date is brown and has a stone in it.", "fruit"),
)
"""Six sentences with the word, and its meaning, one of three."""

MORE = (
    ("They went on a date to the cinema.", "evening"),
    ("He asked her out on a date.", "evening"),
    ("Their second date ended with a kiss.", "evening"),
    ("My date was late for dinner.", "evening"),
    ("She has a date with her boyfriend tonight.", "evening"),
    ("It was a romantic date by candlelight.", "evening"),
    ("The date of the meeting has changed.", "day"),
    ("Fill in your date of birth.", "day"),
    ("The delivery date is next Monday.", "day"),
    ("No date has been set for the trial.", "day"),
    ("What was the date of the battle?", "day"),
    ("The date on the coin is 1850.", "day"),
    ("She put a date and some nuts into the cake.", "fruit"),
    ("The date was sticky and very sweet.", "fruit"),
    ("Camels carried baskets, and each man ate a date.", "fruit"),
    ("A dried date keeps for months.", "fruit"),
    ("He took the stone out of the date.", "fruit"),
    ("I would rather eat a date than a fig.", "fruit"),
)
"""Eighteen more sentences, written before any was tried. Six sentences could succeed by chance."""

NEIGHBOURS = {
    "evening": ("dinner", "romance", "couple", "kiss"),
    "day": ("day", "month", "year", "calendar"),
    "fruit": ("fruit", "plum", "fig", "grape"),
}
"""Four words for each meaning."""

SENTENCE = "The animal did not cross the street because it was too {}."
DECIDES = ("tired", "wide")
"""With the first adjective, "it" is the animal; with the second, "it" is the street."""

DECIDES_NOTHING = ("old", "big", "dark", "strange", "near", "quiet", "new", "small", "grey", "dear")
"""Adjectives that fit both nouns; a head's difference between two of them has no meaning."""


@dataclass(frozen=True)
class Meanings:
    """The results for "date" in each context and after each layer; layer 0 is the embedding.

    alike: cosines between the 24, (7, 24, 24), CONTEXTS first. nearest: for each of CONTEXTS the
    word of NEIGHBOURS with the largest cosine, 7 tuples of 6. right: the share of the 24 whose
    nearest other context has the same meaning, (7,). chance: that share for a random context.
    """

    alike: Tensor
    nearest: list[tuple[str, ...]]
    right: list[float]
    chance: float


@torch.no_grad()
def meanings(model: MiniLM) -> Meanings:
    """Follow the word through the layers."""
    sentences = [sentence for sentence, _ in (*CONTEXTS, *MORE)]
    kinds = [meaning for _, meaning in (*CONTEXTS, *MORE)]
    words = [word for group in NEIGHBOURS.values() for word in group]
    vectors = _of_word(model, sentences, [WORD] * len(sentences))  # (7, 24, 384)
    others = _of_word(model, [f"The {word}." for word in words], words)  # (7, 12, 384)
    near = (vectors[:, : len(CONTEXTS)] @ others.mT).argmax(dim=-1).tolist()
    alike = vectors @ vectors.mT
    closest = (alike - 2 * torch.eye(len(kinds))).argmax(dim=-1).tolist()
    same = [[kinds[a] == kinds[b] for a, b in enumerate(layer)] for layer in closest]
    return Meanings(
        alike,
        [tuple(words[at] for at in layer) for layer in near],
        [sum(layer) / len(layer) for layer in same],
        sum(kinds.count(kind) - 1 for kind in kinds) / len(kinds) / (len(kinds) - 1),
    )


def _of_word(model: MiniLM, sentences: list[str], words: list[str]) -> Tensor:
    """Return the vectors of a word in each sentence, of length 1, after each layer."""
    places = [model.tokens(one).index(word) for one, word in zip(sentences, words, strict=True)]
    layers = torch.stack(model.layers(sentences))  # (7, sentences, n, 384)
    return torch.nn.functional.normalize(layers[:, torch.arange(len(places)), places], dim=-1)


@dataclass(frozen=True)
class Pronoun:
    """How each head divides the weight of "it" between the two nouns.

    share: the share of "animal" in the weight from "it" on both nouns, by adjective (2, 6, 12).
    switches: True for a head that prefers the animal with the first adjective and the street with
    the second, (6, 12). by_chance: for each pair of adjectives that decide nothing, the share of
    heads that switch in either direction.
    """

    share: Tensor
    switches: Tensor
    by_chance: list[float]


def pronoun(model: MiniLM) -> Pronoun:
    """Measure all 72 heads with adjectives that decide, and then with adjectives that do not."""
    share = torch.stack([_share(model, adjective) for adjective in DECIDES])
    shares = [_share(model, adjective) for adjective in DECIDES_NOTHING]
    by_chance = []
    for one, other in combinations(shares, 2):
        for first, second in ((one, other), (other, one)):
            by_chance.append(((first > 0.5) & (second < 0.5)).double().mean().item())
    return Pronoun(share, (share[0] > 0.5) & (share[1] < 0.5), by_chance)


def _share(model: MiniLM, adjective: str) -> Tensor:
    """Return the share of "animal" in the weight from "it" on animal and street: (6, 12)."""
    sentence = SENTENCE.format(adjective)
    tokens = model.tokens(sentence)
    maps = bert_maps(model.encoder, model.batch([sentence]).ids)  # (6, 12, n, n)
    animal, street = (maps[..., tokens.index("it"), tokens.index(w)] for w in ("animal", "street"))
    return animal / (animal + street)
