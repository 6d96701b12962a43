"""Test the little language of chapter 10, and the queries of models that restore its words."""

import numpy as np
import pytest
import torch

from solutions.experiments.gpt_and_bert import hiding, restoring
from solutions.experiments.gpt_and_bert.restoring import Restorer
from solutions.experiments.gpt_and_bert.sentences import (
    BEFORE,
    BEHIND,
    LENGTH,
    MASK_ID,
    NOUNS,
    WORDS,
    known,
    product_of_known,
    pronoun_first,
    sentences,
    text_of,
)
from solutions.gpt_and_bert import IGNORED

ALL = sentences()
FIRST = pronoun_first(ALL)


def test_every_sentence_occurs_once_and_its_pronoun_fits_its_noun():
    assert ALL.shape == (2 * 16 * 12 * 12, LENGTH)
    assert len(np.unique(ALL, axis=0)) == len(ALL) == 2 * FIRST.sum()
    of_noun = {noun: pronoun for pronoun, group in NOUNS.items() for noun in group}
    for element, first in zip(ALL[::7], FIRST[::7], strict=True):
        words = text_of(element).split()
        place, noun = (BEFORE, words[5]) if first else (BEHIND, words[1])
        assert words[place] == of_noun[noun]
    assert text_of(ALL[0]) == "when he arrived , the king arrived ."


def test_the_left_decides_the_pronoun_in_one_half_and_the_right_in_the_other():
    left = [known(ALL, at, list(range(at)))[1] for at in (BEFORE, BEHIND)]
    assert left[0][FIRST] == pytest.approx(0.25)
    assert left[1][~FIRST] == pytest.approx(1)
    for place, half in ((BEFORE, FIRST), (BEHIND, ~FIRST)):
        others = [number for number in range(LENGTH) if number != place]
        assert known(ALL, place, others)[0][half] == pytest.approx(1)


def test_left_context_products_sum_to_one_and_two_sided_ones_do_not():
    left = np.prod([known(ALL, at, list(range(at)))[0] for at in range(LENGTH)], axis=0)
    assert left == pytest.approx(1 / len(ALL))
    assert product_of_known(ALL).sum() == pytest.approx(2 * len(NOUNS))


@pytest.mark.parametrize("causal", [True, False])
def test_a_restorer_sees_the_intended_tokens(causal):
    torch.manual_seed(0)
    model = Restorer(causal=causal)
    text = torch.from_numpy(ALL[:1].copy())
    changed = text.clone()
    changed[0, 5] = MASK_ID
    moved = (model(text) != model(changed)).any(dim=-1)[0].tolist()
    assert moved == [not causal] * 5 + [True] * 3


def test_a_truncated_text_ends_with_the_only_mask():
    generator = np.random.default_rng(0)
    lengths = set()
    for _ in range(60):
        inputs, targets = hiding.cut_off(ALL[:3], generator)
        lengths.add(inputs.shape[1])
        at = inputs.shape[1] - 1
        assert (inputs[:, :at] == ALL[:3, :at]).all()
        assert (inputs[:, at] == MASK_ID).all()
        assert (targets[:, :at] == IGNORED).all()
        assert (targets[:, at] == ALL[:3, at]).all()
    assert lengths == set(range(1, LENGTH + 1))


def test_any_share_hides_from_nothing_to_everything():
    batch = np.repeat(ALL[:1], 400, axis=0)
    inputs, targets = hiding.any_share(batch, np.random.default_rng(0))
    hidden = inputs == MASK_ID
    assert (inputs[~hidden] == batch[~hidden]).all()
    assert (targets[hidden] == batch[hidden]).all()
    assert (targets[~hidden] == IGNORED).all()
    assert set(hidden.sum(axis=1)) == set(range(LENGTH + 1))
    assert hidden.mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(("hide", "share"), [(hiding.masks_alone, 0.15), (hiding.half, 0.5)])
def test_the_controls_hide_a_fixed_share_behind_masks(hide, share):
    batch = np.repeat(ALL[:1], 400, axis=0)
    inputs, targets = hide(batch, np.random.default_rng(0))
    hidden = inputs == MASK_ID
    assert (inputs == np.where(hidden, MASK_ID, batch)).all()
    assert (targets == np.where(hidden, batch, IGNORED)).all()
    assert hidden.mean() == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("name", ["more steps", "larger batches"])
def test_a_control_hides_as_many_words_as_half_of_them_in_all(name):
    control, half = restoring.CONTROLS[name], restoring.CONTROLS["half"]
    drawn = control.steps * control.batch / (half.steps * half.batch)
    assert hiding.PROBABILITY * drawn == pytest.approx(0.5, rel=0.02)


class Knows(torch.nn.Module):
    """An ideal restorer of masks: it counts the sentences that fit what is not hidden."""

    def forward(self, tokens):
        logits = torch.full((*tokens.shape, len(WORDS)), -100.0)
        for row, example in enumerate(tokens.numpy()):
            seen = example != MASK_ID
            fits = ALL[(ALL[:, seen] == example[seen]).all(axis=1)]
            for at in range(LENGTH):
                shares = np.bincount(fits[:, at], minlength=len(WORDS)) / max(len(fits), 1)
                logits[row, at] = torch.from_numpy(np.log(np.maximum(shares, 1e-40)))
        return logits


@pytest.mark.parametrize("name", restoring.ORDERS)
def test_an_ideal_restorer_writes_in_any_order_at_the_least_cost(name):
    draws = np.random.default_rng(0)
    order = restoring.orders(name, 12, draws)
    assert (np.sort(order, axis=1) == np.arange(LENGTH)).all()
    assert (order == np.arange(LENGTH)).all() == (name == "left to right")
    nats = restoring.uncovered(Knows(), ALL[:: len(ALL) // 11][:12], order)
    assert nats == pytest.approx(np.log(len(ALL)), abs=1e-4)
    assert restoring.sentences_among(restoring.filled_in(Knows(), order, draws)) == 1


def test_words_that_are_drawn_together_need_not_fit():
    draws = np.random.default_rng(0)
    order = restoring.orders("random", 200, draws)
    texts = restoring.filled_in(Knows(), order, draws, at_once=LENGTH)
    assert (texts != MASK_ID).all()
    assert restoring.sentences_among(texts) < 0.2


class Counts(torch.nn.Module):
    """An ideal restorer: it returns everything that the left context determines."""

    def forward(self, tokens):
        n = tokens.shape[1]
        logits = torch.full((*tokens.shape, len(WORDS)), -100.0)
        for row, example in enumerate(tokens.numpy()):
            fits = ALL[(ALL[:, : n - 1] == example[: n - 1]).all(axis=1), n - 1]
            shares = np.bincount(fits, minlength=len(WORDS)) / max(len(fits), 1)
            logits[row, -1] = torch.from_numpy(np.log(np.maximum(shares, 1e-40)))
        return logits


def test_an_exact_left_to_right_model_reaches_the_entropy_and_writes_sentences():
    model = Counts()
    assert restoring.appended(model, ALL[::500]) == pytest.approx(np.log(len(ALL)), abs=1e-4)
    own = restoring.written(model, 20, seed=0)
    assert {tuple(text) for text in own} <= {tuple(text) for text in ALL}
    assert len(np.unique(own, axis=0)) > 10


def test_under_a_causal_mask_products_are_the_probability_that_appended_masks_give():
    torch.manual_seed(0)
    model = Restorer(causal=True)
    sentence = ALL[40:41]
    assert restoring.sum_of_products(model, sentence) == pytest.approx(
        np.exp(-restoring.appended(model, sentence)), rel=1e-4
    )
    assert 0 < restoring.sum_of_products(model, ALL[:200]) < 1


def test_masks_do_not_change_the_texts():
    before = ALL.copy()
    restoring.at_blank(Restorer(causal=False), ALL[:4], BEFORE)
    hiding.cut_off(ALL, np.random.default_rng(0))
    assert (before == ALL).all()
