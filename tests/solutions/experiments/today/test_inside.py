"""Test that chapter 12 measures inside the published model what it states."""

import pytest
import torch

from solutions.experiments.today import inside
from solutions.published.files import PublishedFileError
from solutions.published.looking_inside import look
from solutions.published.smollm2 import SIZES, SmolLM2
from solutions.published.smollm2_file import find
from solutions.today import turned
from solutions.transformer_block import split_heads

try:
    find()
except PublishedFileError as missing:
    pytest.skip(f"no published language model: {missing}", allow_module_level=True)


@pytest.fixture(scope="module")
def published() -> SmolLM2:
    return SmolLM2()


def test_texts_are_written_twice() -> None:
    ids = inside.repeated()
    assert ids.shape == (inside.TEXTS, 2 * inside.PERIOD)
    assert torch.equal(ids[:, : inside.PERIOD], ids[:, inside.PERIOD :])
    assert torch.equal(ids, inside.repeated())


def test_nats_are_those_of_the_next_token() -> None:
    logits = torch.zeros(1, 3, 4)
    logits[0, 0, 2] = 50.0
    result = inside.nats(logits, torch.tensor([[0, 2, 3]]))
    torch.testing.assert_close(result, torch.tensor([[0.0, 1.3862944]]))  # the log of 4


def test_the_score_by_distance_is_the_mean_over_all_pairs(published: SmolLM2) -> None:
    ids = inside.passages(published, 1, 24)
    scores = inside.score_by_distance(published, ids, 3)
    block, head, behind = 5, 4, 2
    attention = published.model.blocks[block].attention
    X = published.model.blocks[block].norm_1(look(published, ids).stream[block])[:, inside.LATER :]
    Q = split_heads(attention.W_q(X), 9)[0, head]  # (n, 64)
    K = split_heads(attention.W_k(X), 3)[0, head // 3]
    base = SIZES["base"]
    pairs = [turned(q[None], behind, base) @ turned(k[None], 0, base).T / 8 for q in Q for k in K]
    torch.testing.assert_close(scores[block, head, behind], torch.stack(pairs).mean())


def test_misreading_changes_the_model_only_temporarily(published: SmolLM2) -> None:
    ids = inside.passages(published, 1, 24)
    right = published.logits(ids)
    with inside.misread(published):
        assert not torch.allclose(published.logits(ids), right, atol=0.1)
    assert torch.equal(published.logits(ids), right)


def test_losses_count_the_tokens_from_later_on(published: SmolLM2) -> None:
    ids = inside.passages(published, 1, 24)
    cost = inside.nats(published.logits(ids), ids)
    free = inside.loss_without(published, ids, 0, begin=24)  # no token is hidden
    assert free == pytest.approx(float(cost[:, inside.LATER - 1 :].mean()), abs=1e-3)
    assert inside.loss_without(published, ids, 0) > free


def test_a_silent_head_is_worth_what_the_loss_rises_by(published: SmolLM2) -> None:
    ids = inside.passages(published, 1, 24)
    assert inside.loss(published, ids, [(0, 1)]) != inside.loss(published, ids)
    assert len(inside.ALL_HEADS) == len(set(inside.ALL_HEADS)) == 270
