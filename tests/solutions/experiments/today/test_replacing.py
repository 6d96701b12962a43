"""Test that one thing inside the published model is replaced, and is itself again afterwards."""

import pytest
import torch

from solutions.experiments.today import inside, replacing
from solutions.published.files import PublishedFileError
from solutions.published.looking_inside import look
from solutions.published.smollm2 import SmolLM2
from solutions.published.smollm2_file import find

try:
    find()
except PublishedFileError as missing:
    pytest.skip(f"no published language model: {missing}", allow_module_level=True)


@pytest.fixture(scope="module")
def published() -> SmolLM2:
    return SmolLM2()


def test_a_token_without_values_is_looked_at_as_before(published: SmolLM2) -> None:
    ids = inside.passages(published, 1, 12)
    free = look(published, ids)
    with replacing.without_value(3, begin=5):
        emptied = look(published, ids)
    torch.testing.assert_close(emptied.weights[0], free.weights[0])
    torch.testing.assert_close(emptied.logits[:, :5], free.logits[:, :5])
    assert not torch.allclose(emptied.logits[:, 5:], free.logits[:, 5:], atol=0.1)
    assert torch.equal(look(published, ids).logits, free.logits)


def test_a_token_that_sees_itself_alone_computes_what_it_would_as_the_only_one(
    published: SmolLM2,
) -> None:
    ids = inside.passages(published, 1, 8)
    free = look(published, ids)
    with replacing.alone(3):
        seen = look(published, ids)
    only = look(published, ids[:, 3:4]).logits[:, 0]
    torch.testing.assert_close(seen.logits[:, 3], only, rtol=1e-3, atol=1e-2)
    torch.testing.assert_close(seen.logits[:, :3], free.logits[:, :3])
    assert not torch.allclose(seen.logits[:, 4:], free.logits[:, 4:], atol=0.1)
    assert all(one[:, :, 3].eq(torch.eye(8)[3]).all() for one in seen.weights)


def test_without_a_turn_the_order_of_what_was_seen_makes_no_difference(
    published: SmolLM2,
) -> None:
    ids = inside.passages(published, 1, 6)
    swapped = ids[:, [1, 0, 2, 3, 4, 5]]
    with replacing.not_turned(published):
        one, other = (look(published, texts).weights[0][:, :, 5] for texts in (ids, swapped))
    torch.testing.assert_close(one[..., [1, 0, 2, 3, 4, 5]], other)
    one, other = (look(published, texts).weights[0][:, :, 5] for texts in (ids, swapped))
    assert not torch.allclose(one[..., [1, 0, 2, 3, 4, 5]], other, atol=1e-3)


def test_a_head_at_its_mean_finds_the_same_everywhere(published: SmolLM2) -> None:
    ids = inside.passages(published, 2, 12)
    means = replacing.mean_findings(published, ids)
    assert means.shape == (30, 9, 64)
    free = look(published, ids).logits
    with replacing.at_their_means(published, [], means):
        assert torch.equal(look(published, ids).logits, free)
    silent = look(published, ids, [(4, 2)]).logits
    with replacing.at_their_means(published, [(4, 2)], torch.zeros_like(means)):
        torch.testing.assert_close(look(published, ids).logits, silent)
    with replacing.at_their_means(published, [(4, 2)], means):
        assert not torch.allclose(look(published, ids).logits, silent, atol=1e-3)
