"""Test IBM Model 1 on arrays against loops over dictionaries."""

from collections import defaultdict

import numpy as np
import pytest
from few_pairs import PAIRS

from solutions.experiments.alignment.ibm_model_1 import ITERATIONS, ibm_model_1, prior


def by_loops(pairs, tension):
    """Return t(target word | source word) as a dictionary."""
    table = defaultdict(lambda: 1.0)  # uniform
    for _ in range(ITERATIONS):
        counts, totals = defaultdict(float), defaultdict(float)
        for pair in pairs:
            near = prior(len(pair.target), len(pair.source), tension)
            for i, word in enumerate(pair.target):
                shares = [table[e, word] * near[i, j] for j, e in enumerate(pair.source)]
                for share, e in zip(shares, pair.source, strict=True):
                    counts[e, word] += share / sum(shares)
                    totals[e] += share / sum(shares)
        table = {(e, word): count / totals[e] for (e, word), count in counts.items()}
    return table


@pytest.mark.parametrize("tension", [0.0, 4.0])
def test_the_table_is_that_of_loops_over_dictionaries(tension):
    model, expected = ibm_model_1(PAIRS, tension), by_loops(PAIRS, tension)
    for (e, word), value in expected.items():
        assert model.table[model.source_ids[e], model.target_ids[word]] == pytest.approx(value)
    np.testing.assert_allclose(model.table.sum(axis=1), 1)


def test_a_map_is_one_table_row_shared_out_for_each_target_word():
    model, pair = ibm_model_1(PAIRS, 4.0), PAIRS[0]
    result = model.soft_alignment(pair)
    near = prior(len(pair.target), len(pair.source), 4.0)
    columns = [model.source_ids[e] for e in pair.source]
    for i, word in enumerate(pair.target):
        shares = model.table[columns, model.target_ids[word]] * near[i]
        np.testing.assert_allclose(result[i], shares / shares.sum(), atol=1e-9)


def test_the_prior_is_1_on_the_diagonal_and_falls_by_its_tension():
    np.testing.assert_allclose(np.diag(prior(5, 5, 4.0)), 1)
    assert prior(5, 5, 4.0)[0, 4] == pytest.approx(np.exp(-4.0))
    np.testing.assert_array_equal(prior(3, 7, 0.0), 1)


def test_an_unseen_word_still_gets_a_distribution():
    model = ibm_model_1(PAIRS[1:], 4.0)
    np.testing.assert_allclose(model.soft_alignment(PAIRS[0]).sum(axis=1), 1)
