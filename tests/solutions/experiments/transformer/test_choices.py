"""Test the task with three right answers: their shares, and the beam's correctness."""

import math

import numpy as np
import torch

from solutions.experiments.transformer import choices
from solutions.transformer import beam_search


def test_each_word_has_three_right_answers():
    D, A, C = 3, 0, 2
    result = choices.answers([D, A, C])
    assert result["in order"] == [choices.UP, A, C, D]
    assert result["in opposite order"] == [choices.DOWN, D, C, A]
    assert result["as it is"] == [choices.DOWN, D, A, C]
    assert {*result} == {*choices.SHARES}
    assert math.isclose(sum(choices.SHARES.values()), 1)


def test_answers_are_drawn_with_their_shares():
    torch.manual_seed(0)
    words, targets = choices.draw(4000)
    assert words.shape == (4000, choices.LENGTH)
    assert all(len({*word}) == choices.LENGTH for word in words.tolist())
    assert (targets[:, -1] == choices.STOP).all()
    names = []
    for word, target in zip(words.tolist(), targets[:, :-1].tolist(), strict=True):
        right = choices.answers(word)
        names.append(next(name for name, item in right.items() if item == target))
    for name, share in choices.SHARES.items():
        assert abs(names.count(name) / 4000 - share) < 0.03


def test_greedy_search_on_the_true_distribution_writes_the_less_probable_answer():
    word = [4, 1, 6, 0, 2]
    right = {
        tuple([*answer, choices.STOP]): choices.SHARES[name]
        for name, answer in choices.answers(word).items()
    }

    def step(tokens):
        beginning = tuple(tokens[1:])
        mass = np.zeros(len(choices.NAMES))
        for answer, share in right.items():
            if answer[: len(beginning)] == beginning and len(answer) > len(beginning):
                mass[answer[len(beginning)]] += share
        with np.errstate(divide="ignore"):
            return np.log(mass / max(mass.sum(), 1e-9))

    limits = (choices.LENGTH + 2, 0.0)
    for beam, share in ((1, 0.3), (2, 0.4), (4, 0.4)):  # two answers have 0.3, and either is right
        result, total = beam_search(step, choices.START, choices.STOP, beam, *limits)
        assert math.isclose(right[(*result, choices.STOP)], share)
        assert math.isclose(math.exp(total), share)
