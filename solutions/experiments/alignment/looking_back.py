"""Chapter 2 for one seed: train the decoder that looks back, test it, read its maps, hide words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...translators.edits import edits_by_length
from ...translators.machines import ATTENTION_STEPS, CLAUSES, LENGTHS
from ...translators.quality_by_length import LANGUAGE, Measured, measure, restore
from ...translators.training import RECURRENT, make_task
from .alone import right_alone
from .fixed_phrase import FixedPhrase, fixed_phrase
from .hiding import Trials, hide
from .ibm_model_1 import TENSION, ibm_model_1
from .maps import Map, error_rate, mapped_pairs, read_maps
from .omissions import omissions
from .passages import Faults, faults


@dataclass(frozen=True)
class LookedBack:
    """The result of one training: the quality, and the maps of sentences common to all seeds.

    trials: the words that are lost when source words are hidden. phrase: the results for a fixed
    phrase. faults: the faults in long translations, for each of the test sets of `passages`. edits:
    the mean edit accuracy for each of LENGTHS, and for BEYOND. omissions: the translations of each
    of these test sets in which a passage is missing. alone: what the words of `trials` do with one
    state, as in `right_alone`.
    """

    measured: Measured
    maps: list[Map]
    trials: Trials
    phrase: FixedPhrase
    faults: list[Faults]
    edits: list[float]
    omissions: list[int]
    alone: np.ndarray


def look_back(seed: int) -> LookedBack:
    """Train, test, read the maps, hide words, and look for faults."""
    measured = measure("attention", seed)
    model, task = restore(measured), measured.task
    maps = read_maps(model, task, mapped_pairs())
    trials = hide(model, task, maps, seed)
    phrase = fixed_phrase(model, task)
    return LookedBack(
        measured,
        maps,
        trials,
        phrase,
        faults(model, task),
        edits_by_length(model, task),
        omissions(model, task),
        right_alone(model, task, maps, seed),
    )


@dataclass(frozen=True)
class Counted:
    """The alignment error rates of IBM Model 1 on the pairs of one training run.

    plain: without a prior. diagonal: with a prior near the diagonal. longest: the share of the
    training sources that are at least as long as the last of LENGTHS.
    """

    plain: float
    diagonal: float
    longest: float


def count(seed: int) -> Counted:
    """Align by counting, on the training pairs of `look_back`."""
    pairs = make_task(LANGUAGE, CLAUSES, ATTENTION_STEPS * RECURRENT.batch, seed).pairs
    test = mapped_pairs()
    models = [ibm_model_1(pairs, tension) for tension in (0.0, TENSION)]
    plain, diagonal = (
        error_rate([model.soft_alignment(pair) for pair in test], test) for model in models
    )
    longest = np.mean([len(pair.source) >= LENGTHS[-1][0] for pair in pairs])
    return Counted(plain, diagonal, float(longest))
