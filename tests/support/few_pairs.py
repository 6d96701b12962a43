"""Twelve sentence pairs and the task of translating them."""

import numpy as np

from solutions.data.translation import Vocabulary, sample_pairs
from solutions.translators.training import Task

PAIRS = sample_pairs("french", 12, np.random.default_rng(3), clauses=(1, 3))
TASK = Task(
    PAIRS,
    Vocabulary.of(pair.source for pair in PAIRS),
    Vocabulary.of(pair.target for pair in PAIRS),
)
