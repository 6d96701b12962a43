"""Test two heads that copy or do not, and the looks that are hidden from them."""

import pytest
import torch

from solutions.experiments.gpt_and_bert import copying
from solutions.experiments.gpt_and_bert.copying import SHOWN, TwoHeads, causal, looks, repeated


def model(stacked):
    torch.manual_seed(0)
    return TwoHeads(stacked=stacked)


def test_a_text_is_different_tokens_and_the_same_once_more():
    texts = repeated(50, 9, torch.Generator().manual_seed(0))
    assert texts.shape == (50, 18)
    assert (texts[:, :9] == texts[:, 9:]).all()
    assert all(len(set(text.tolist())) == 9 for text in texts)


def test_both_models_begin_with_the_same_weights():
    pairs = zip(model(True).named_parameters(), model(False).named_parameters(), strict=True)
    for (name, model_), (other_name, other) in pairs:
        assert name == other_name
        assert torch.equal(model_, other)


def test_only_a_stacked_second_head_reads_what_the_first_wrote():
    text = repeated(1, 9, torch.Generator().manual_seed(0))
    for stacked in (True, False):
        heads = model(stacked)
        before = heads.maps(text, causal(18))
        with torch.no_grad():
            heads.heads[0].W_v.weight.mul_(2)
        after = heads.maps(text, causal(18))
        assert torch.equal(before[:, 0], after[:, 0])
        assert torch.equal(before[:, 1], after[:, 1]) is not stacked


def test_maps_are_what_the_heads_attend_with():
    heads = model(stacked=True)
    text = repeated(1, 9, torch.Generator().manual_seed(0))
    start = heads.embedding(text) + heads.positions[:18]
    head = heads.heads[0]
    result = head.W_o(heads.maps(text, causal(18))[:, 0] @ head.W_v(start))
    torch.testing.assert_close(result, head(start, mask=causal(18)[0]))


def test_no_head_sees_what_comes_later():
    heads = model(stacked=True)
    text = repeated(1, 9, torch.Generator().manual_seed(0))
    changed = text.clone()
    changed[0, 12] = (changed[0, 12] + 1) % copying.VOCAB_SIZE
    moved = (heads(text, causal(18)) != heads(changed, causal(18))).any(dim=-1)[0]
    assert moved.tolist() == [False] * 12 + [True] * 6


def test_looks_are_hidden_from_exactly_one_head():
    masks = looks(SHOWN)
    both = causal(2 * SHOWN)
    for name, mask in masks.items():
        head = int(name.startswith("second"))
        assert torch.equal(mask[1 - head], both[1 - head])
        hidden = both[head] & ~mask[head]
        rows, columns = hidden.nonzero(as_tuple=True)
        expected = {
            "token before": 1,
            "two before": 2,
            "what followed": SHOWN - 1,
            "the copy": SHOWN,
        }
        if name.endswith("off"):
            assert not mask[head].any()
        else:
            assert set((rows - columns).tolist()) == {expected[name.split(": ")[1]]}


def test_without_order_the_model_guesses_among_the_remaining_tokens():
    right, nats = copying.without_order([4])
    assert right == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert nats == pytest.approx(torch.tensor([1.0, 2, 3]).log().mean().item())


def test_a_single_period_can_be_guessed_by_place_and_many_cannot():
    assert copying.by_place([9]) == pytest.approx(1)
    assert copying.by_place([8, 16]) == pytest.approx(1)  # their second copies do not overlap
    # Places 3 and 4 have period 3; 4, 5 and 6 have period 4: at place 4, the former is likelier.
    assert copying.by_place([3, 4]) == pytest.approx((2 * 1 / 2 + 2 * 1 / 3) / 2)
    assert copying.by_place() < 0.3
