"""Experiment for chapter 9: greedy search and beam search on the page's own translator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from ...data.translation.vocabulary import START, STOP
from ...transformer import Transformer, beam_search
from ...translators.quality import held_out_pairs
from ...translators.quality_by_length import LANGUAGE
from . import own

SEARCHES = ((1, 0.0), (4, 0.0), (4, 0.6))
"""The width of the beam, and the exponent of the length penalty."""
SENTENCES, MAX_LENGTH = 80, 30


def measure_searches(seed: int) -> list[float]:
    """Return the share of sentences that each of SEARCHES translates without a mistake."""
    model, task, _ = own.train_own(0.1, seed)
    pairs = held_out_pairs(LANGUAGE, own.LENGTHS, SENTENCES, own.CLAUSES)
    right = np.zeros((len(pairs), len(SEARCHES)))
    for row, pair in enumerate(pairs):
        step = continuation(model, task.source_vocabulary.encode(pair.source))
        for column, (beam, penalty) in enumerate(SEARCHES):
            ids, _ = beam_search(step, START, STOP, beam, MAX_LENGTH, penalty)
            right[row, column] = task.target_vocabulary.decode(ids) == pair.target
    return [float(share) for share in right.mean(axis=0)]


@torch.no_grad()
def continuation(model: Transformer, source: np.ndarray) -> Callable[[list[int]], np.ndarray]:
    """Return the function that a beam search calls, for the ids of one source."""
    memory = model.encoder(torch.from_numpy(source)[None])

    @torch.no_grad()
    def step(tokens: list[int]) -> np.ndarray:
        logits = model.decoder(torch.tensor([tokens]), memory)
        return logits[0, -1].log_softmax(dim=-1).double().numpy()

    return step
