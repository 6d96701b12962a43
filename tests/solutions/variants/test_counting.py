"""Test that repeated steps of IBM Model 1 give the table of the chapter's implementation."""

import numpy as np
from few_pairs import PAIRS

from solutions.experiments.alignment.ibm_model_1 import ITERATIONS, ibm_model_1
from solutions.variants.counting import expected_counts


def test_steps_over_all_sentences_find_the_table_of_the_chapter():
    model = ibm_model_1(PAIRS)
    table = np.full(model.table.shape, 1 / model.table.shape[1])
    for _ in range(ITERATIONS):
        counts = np.zeros_like(table)
        for pair in PAIRS:
            source = np.array([model.source_ids[word] for word in pair.source])
            target = np.array([model.target_ids[word] for word in pair.target])
            weights, of_pair = expected_counts(table, source, target)
            np.testing.assert_allclose(of_pair.sum(), len(target))
            np.testing.assert_allclose(weights.sum(axis=1), 1)
            counts += of_pair
        table = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(table, model.table)
