"""A test that detects, from training losses, a model that reads the tokens it should predict."""

from __future__ import annotations

from collections.abc import Callable

import torch


def test_reads_no_answer(
    implementation: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
) -> None:
    """Test the losses of a Transformer in training: it must not have read what it is asked for.

    It is called `implementation(sources, targets)`. sources: (batch, n), targets: (batch, m), whole
    numbers: 1 to 9 for a token, and 0 for padding, which stands at the end of a row; every row has
    a token. It makes the decoder's inputs and all masks itself. It should return a tensor of
    float32 or float64, (batch, m): at every place -log p, where p is the probability of the
    target's token there, and 0 at padding. The probabilities of the nine tokens that may stand at a
    place sum to 1. They depend on all tokens of the source and on all those of the target before
    that place, and on nothing else: not on padding, and not on the other rows. The machine is
    unknown. Raises AssertionError if the implementation is wrong. It may differ in the fifth digit.
    """
    source, target = torch.tensor([[3, 1, 4, 1]]), torch.tensor([[2, 7, 1, 8]])
    sources = torch.tensor([[3, 1, 4, 1, 0], [5, 9, 2, 6, 5]])
    targets = torch.tensor([[2, 7, 1, 8, 0], [2, 8, 1, 8, 2]])
    alone, together = implementation(source, target)[0], implementation(sources, targets)[0]
    assert torch.allclose(together, torch.cat((alone, 0 * alone[:1])), atol=1e-4)
    for place in range(4):
        tried = target.repeat(9, 1)
        tried[:, place] = torch.arange(1, 10)  # all real tokens
        losses = implementation(source.expand(9, 4), tried)
        assert abs(float(torch.exp(-losses[:, place]).sum()) - 1) < 1e-4
        moved = losses.std(dim=0)
        assert (moved[:place] < 1e-4).all()
        assert (moved[place + 1 :] > 1e-4).all()
        tried = source.repeat(9, 1)
        tried[:, place] = torch.arange(1, 10)
        assert (implementation(tried, target.expand(9, 4)).std(dim=0) > 1e-4).all()
