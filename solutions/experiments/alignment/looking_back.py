"""One seed of chapter 2: train the decoder that looks back, test it, read its maps, hide words."""

from __future__ import annotations

from dataclasses import dataclass

from ...translators.machines import CLAUSES
from ...translators.quality import held_out_pairs
from ...translators.quality_by_length import LANGUAGE, Measured, measure, restore
from .fixed_phrase import FixedPhrase, fixed_phrase
from .hiding import Trials, hide
from .maps import Map, read_maps

MAPPED = (3, 60)
"""Source tokens of the sentences whose maps are read, as many as the course has."""
SENTENCES = 200


@dataclass(frozen=True)
class LookedBack:
    """What one training gave: the quality, and the maps of the same SENTENCES for every seed.

    trials: what is lost when words are hidden in them. phrase: what a fixed phrase needs.
    """

    measured: Measured
    maps: list[Map]
    trials: Trials
    phrase: FixedPhrase


def look_back(seed: int) -> LookedBack:
    """Train, test, read the maps, and hide words."""
    measured = measure("attention", seed)
    model, task = restore(measured), measured.task
    maps = read_maps(model, task, held_out_pairs(LANGUAGE, MAPPED, SENTENCES, CLAUSES))
    trials = hide(model, task, maps, seed)
    return LookedBack(measured, maps, trials, fixed_phrase(model, task))
