"""Test multi-head attention against torch and by hand, and the experiment."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from solutions.experiments.multi_head.two_relations import (
    SHARES,
    TIMES,
    GivenShares,
    TwoRelations,
    accuracies,
    places,
    sequences,
    train,
)
from solutions.experiments.queries_keys_values.associative_recall import NUMBERS
from solutions.multi_head import (
    fuse_projections,
    head_importance,
    merge_heads,
    multi_head_attention,
    multi_head_cross_attention,
    split_heads,
)
from solutions.queries_keys_values import padding_mask

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 2**32 - 1)
DTYPES = st.sampled_from([np.float64, np.float32])
TOLERANCE = {np.float64: 1e-6, np.float32: 1e-5}


def torch_layer(rng, d_model, n_heads, dtype):
    """Return torch's module with random weights, and the weights in the course's order."""
    torch_model = torch.nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True)
    torch_model = torch_model.to(torch.from_numpy(np.zeros(0, dtype)).dtype)
    W_q, W_k, W_v, W_o = (rng.normal(size=(d_model, d_model)).astype(dtype) for _ in range(4))
    W_q, W_k, W_v, W_o = (W / d_model**0.5 for W in (W_q, W_k, W_v, W_o))
    with torch.no_grad():
        torch_model.in_proj_weight.copy_(torch.from_numpy(np.concatenate([W_q.T, W_k.T, W_v.T])))
        torch_model.out_proj.weight.copy_(torch.from_numpy(W_o.T))
    return torch_model, (W_q, W_k, W_v, W_o)


@settings(deadline=None)  # the first call of PyTorch takes long
@given(SEEDS, st.integers(1, 3), SIZES, SIZES, SIZES, DTYPES, st.sampled_from(["", "any", "pad"]))
def test_equals_torch_over_shapes_masks_and_dtypes(seed, batch, n, n_heads, d_head, dtype, kind):
    rng = np.random.default_rng(seed)
    reference, actual = torch_layer(rng, n_heads * d_head, n_heads, dtype)
    X = rng.normal(size=(batch, n, n_heads * d_head)).astype(dtype)
    lengths = rng.integers(1, n + 1, size=batch)
    mask, masks = None, {}
    if kind == "any":  # PyTorch's True means "may not attend"
        mask = (rng.random((n, n)) < 0.5) | np.eye(n, dtype=bool)
        masks = {"attn_mask": torch.from_numpy(~mask)}
    if kind == "pad":
        mask = padding_mask(lengths, n)
        masks = {"key_padding_mask": torch.from_numpy(~mask[:, 0])}
    tokens = torch.from_numpy(X)
    expected = reference(tokens, tokens, tokens, average_attn_weights=False, **masks)
    result = multi_head_attention(X, *actual, n_heads, mask)
    for part, expected_part in zip(result, expected, strict=True):
        assert part.dtype == dtype
        np.testing.assert_allclose(
            part, expected_part.detach().numpy(), rtol=0, atol=TOLERANCE[dtype]
        )


def test_heads_by_hand():
    X = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
    heads = [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    assert split_heads(X, 2).tolist() == heads
    assert merge_heads(np.array(heads)).tolist() == X.tolist()


@pytest.mark.parametrize(("d_model", "n_heads"), [(6, 4), (4, 8), (4, 0), (4, -2)])
def test_heads_that_do_not_divide_the_width_are_an_error(d_model, n_heads):
    with pytest.raises(ValueError, match=f"{d_model} features .* {n_heads} heads"):
        split_heads(np.zeros((3, d_model)), n_heads)


@pytest.mark.parametrize("shape", [(4, 4), (3, 4), (2,), (5, 1, 3), (2, 2, 3, 3)])
def test_a_mask_that_does_not_broadcast_is_an_error(shape):
    X, square, mask = np.ones((2, 3, 4)), np.ones((4, 4)), np.ones(shape, dtype=bool)
    with pytest.raises(ValueError, match=r"broadcast|dimensions"):
        multi_head_attention(X, *[square] * 4, 2, mask)
    with pytest.raises(ValueError, match=r"broadcast|dimensions"):
        multi_head_cross_attention(X, X, *[square] * 4, 2, mask)


def test_cross_attention_equals_torch_with_a_context_of_another_width():
    rng = np.random.default_rng(0)
    reference = torch.nn.MultiheadAttention(
        6, 2, bias=False, kdim=5, vdim=5, batch_first=True, dtype=torch.float64
    )
    X, context = rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 4, 5))
    mask = padding_mask(np.array([4, 2]), 4)
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    W = [getattr(reference, name).detach().numpy().T for name in names]
    W_o = reference.out_proj.weight.detach().numpy().T
    expected = reference(
        *(torch.from_numpy(array) for array in (X, context, context)),
        key_padding_mask=torch.from_numpy(~mask[:, 0]),
        average_attn_weights=False,
    )
    result = multi_head_cross_attention(X, context, *W, W_o, 2, mask)
    for part, expected_part in zip(result, expected, strict=True):
        np.testing.assert_allclose(part, expected_part.detach().numpy(), rtol=0, atol=1e-12)


def test_fusing_by_hand():
    W_q, W_k, W_v = (np.array([[number, number + 1]]) for number in (10, 20, 30))
    assert fuse_projections(W_q, W_k, W_v, 2).tolist() == [[10, 20, 30, 11, 21, 31]]


def test_importance_by_hand():
    weights = np.ones((2, 1, 1))
    values = np.array([[[3.0]], [[4.0]]])
    np.testing.assert_allclose(head_importance(weights, values, np.eye(2)), [0.6, 0.8])
    opposed = np.array([[1.0], [-0.5]])  # 3 - 2 = 1: each head is larger than the whole
    np.testing.assert_allclose(head_importance(weights, values, opposed), [3.0, 2.0])
    cancelling = np.array([[4.0], [-3.0]])  # 12 - 12 = 0: no norm to divide by
    assert head_importance(weights, values, cancelling).tolist() == [0, 0]


def test_a_sequence_holds_both_answers():
    letters, numbers, asked, answers = sequences(200, torch.Generator().manual_seed(7))
    for row in range(200):
        stored = dict(zip(letters[row].tolist(), numbers[row].tolist(), strict=True))
        letter = int(asked[row])
        assert answers[row].tolist() == [stored[letter], stored[letter ^ 1]]
    result = places(letters, asked)
    assert (letters.gather(1, result) == torch.stack([asked, asked ^ 1], dim=1)).all()


def test_removing_heads_removes_only_their_contributions():
    torch.manual_seed(0)
    model = TwoRelations(2)
    test = sequences(6, torch.Generator().manual_seed(1))
    letters, numbers, asked, _ = test
    with torch.no_grad():
        full = model(letters, numbers, asked)[0]
        parts = [model.without([h])(letters, numbers, asked)[0] for h in (0, 1)]
        nothing = model.without([0, 1])(letters, numbers, asked)[0]
        torch.testing.assert_close(parts[0] + parts[1], full + nothing)
        bias = model.read_out.bias.reshape(2, NUMBERS)
        torch.testing.assert_close(nothing, bias.expand_as(nothing))
        torch.testing.assert_close(model(letters, numbers, asked)[0], full)  # the model is whole
    assert accuracies(model, test)[0] <= min(accuracies(model, test)[1:])


def test_importance_in_the_model_is_measured_on_its_output():
    torch.manual_seed(0)
    model = TwoRelations(2)
    letters, numbers, asked, _ = test = sequences(6, torch.Generator().manual_seed(1))
    question, keys, values = (
        model.letter(asked)[:, None],
        model.letter(letters),
        model.number(numbers),
    )
    with torch.no_grad():
        full = model.attend(question, keys, values)[0][:, 0]
        for h, result in enumerate(model.importance(test).tolist()):
            rest = model.without([h]).attend(question, keys, values)[0][:, 0]
            change = (full - rest).norm(dim=-1) / full.norm(dim=-1)
            assert result == pytest.approx(change.mean().item(), rel=1e-4)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**31), st.permutations(range(NUMBERS)))
def test_one_head_cannot_answer_four_sequences_of_three_numbers(seed, drawn):
    """Check the chapter's two-line proof on random models: the sums of margins are coupled."""
    torch.manual_seed(seed)
    model = TwoRelations(1).double()
    letters, numbers, asked, _ = sequences(1, torch.Generator().manual_seed(seed))
    own, partner = places(letters, asked)[0].tolist()
    numbers[:] = torch.tensor(drawn[: letters.shape[1]])
    x, y, third = drawn[-3:]  # not among the numbers of the others

    def margin(pair, relation):
        """Return the margin of the right answer of y and x over the wrong one."""
        numbers[0, own], numbers[0, partner] = pair
        logits = model(letters, numbers, asked)[0][0, relation]
        right = pair[relation]
        return (logits[right] - logits[y if right == x else x]).item()

    alpha, beta = model(letters, numbers, asked)[1][0, 0, [own, partner]].tolist()
    for relation, share, other in ((1, beta, alpha), (0, alpha, beta)):
        turned = margin((x, y), relation) + margin((y, x), relation)
        pairs = ((third, x), (third, y)) if relation else ((x, third), (y, third))
        beside = sum(margin(pair, relation) for pair in pairs)
        # if all four were positive, `share` would exceed `other`; for both relations: impossible
        assert turned * share == pytest.approx(beside * (share - other), abs=1e-9)


def test_stored_shares_are_at_their_positions():
    letters, numbers, asked, _ = sequences(5, torch.Generator().manual_seed(1))
    model = GivenShares(1, 3)
    logits, weights = model(letters, numbers, asked)
    assert logits.shape == (5, 2, NUMBERS)
    result = weights[:, 0].gather(1, places(letters, asked))
    torch.testing.assert_close(result, torch.tensor([SHARES] * 5))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(5, 1))


def test_the_rate_is_not_chosen_on_the_reported_seeds():
    run = train(partial(TwoRelations, 2), 0.003, seed=0, steps=2 * TIMES)
    assert run.validation != run.complete[0]
