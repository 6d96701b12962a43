"""Test the references of four exercises of chapter 9 on the examples of its notebook."""

import numpy as np
import pytest
import torch

from solutions.variants.translating import (
    beam_step,
    greedy_translate,
    tied_embedding_backward,
    train_step,
)

STOP, PAD, START = 2, 0, 1


def squares(weights, batch):
    return ((weights[0] - batch) ** 2).sum() / 2, len(batch)


@pytest.mark.parametrize(("max_norm", "expected"), [(100.0, 5.3), (1.0, 5.1)])
def test_a_step_on_two_batches_equals_a_step_on_their_four_numbers(max_norm, expected):
    weights = [torch.tensor(5.0)]
    batches = [torch.tensor([2.0]), torch.tensor([10.0, 10.0, 10.0])]
    (new,), loss = train_step(weights, squares, batches, 0.1, max_norm)
    assert new.item() == pytest.approx(expected)
    assert loss.item() == pytest.approx(10.5)
    assert weights[0].item() == 5


def test_sentences_of_a_batch_end_at_different_steps():
    answers = torch.tensor([[5, 2, 9, 9], [6, 7, 8, 2]])

    def model(sources, inputs):
        return torch.nn.functional.one_hot(sources[:, : inputs.shape[1]], 10).double()

    result = greedy_translate(model, answers, START, STOP, PAD, 9)
    assert result.tolist() == [[5, 2, 0, 0], [6, 7, 8, 2]]


@pytest.mark.parametrize(
    ("ended", "sums", "continues", "tokens"),
    [(False, [0.30, 0.28], [0, 1], [1, 0]), (True, [0.40, 0.30], [1, 0], [0, 1])],
)
def test_a_beam_keeps_the_two_best_of_six(ended, sums, continues, tokens):
    before = torch.tensor([[0.5, 0.4]]).log()
    follow = torch.tensor([[[0.1, 0.6, 0.3], [0.7, 0.2, 0.1]]]).log()
    result = beam_step(before, follow, torch.tensor([[False, ended]]), PAD)
    assert np.allclose(result[0].exp(), [sums])
    assert result[1].tolist() == [continues]
    assert result[2].tolist() == [tokens]


def test_a_tied_table_has_a_gradient_from_either_end():
    E = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    result = tied_embedding_backward(E, np.array([0]), np.array([2]))
    expected = [[0.267, -0.267], [0.155, 0.0], [-0.578, 0.0]]
    assert np.allclose(result, expected, atol=6e-4)
