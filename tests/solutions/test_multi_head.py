"""Test properties of multi-head attention, its equality with torch, and the experiment."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from solutions.experiments.multi_head.two_relations import (
    HEADS,
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
    folded_heads_attention,
    fuse_projections,
    head_importance,
    head_scales_backward,
    merge_heads,
    multi_head_attention,
    multi_head_cross_attention,
    prune_heads,
    split_heads,
    unfuse_projections,
)
from solutions.queries_keys_values import causal_mask, padding_mask, scaled_dot_product_attention

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 2**32 - 1)
BATCHES = st.sampled_from([(), (1,), (3,), (2, 3)])
DTYPES = st.sampled_from([np.float64, np.float32])
TOLERANCE = {np.float64: 1e-6, np.float32: 1e-5}


def layer(rng, tokens, n_heads, d_k, d_v, d_out):
    d = tokens[-1]
    shapes = (d, n_heads * d_k), (d, n_heads * d_k), (d, n_heads * d_v), (n_heads * d_v, d_out)
    return (rng.normal(size=tokens), *(rng.normal(size=shape) for shape in shapes), n_heads)


def torch_layer(rng, d_model, n_heads, dtype):
    """Return torch's layer with random weights, and the weights in the course's order."""
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


def test_a_token_that_may_attend_to_nothing_gets_zeros_where_torch_gives_nan():
    rng = np.random.default_rng(0)
    torch_model, actual = torch_layer(rng, 6, 2, np.float64)
    X = rng.normal(size=(1, 3, 6))
    mask = np.array([[True, True, False], [False, False, False], [True, True, True]])
    output, weights = multi_head_attention(X, *actual, 2, mask)
    tokens = torch.from_numpy(X)
    other, others = torch_model(
        tokens, tokens, tokens, attn_mask=torch.from_numpy(~mask), average_attn_weights=False
    )
    assert (weights[..., 1, :] == 0).all()
    assert (output[:, 1] == 0).all()
    assert torch.isnan(others[..., 1, :]).all()
    assert torch.isnan(other[:, 1]).all()
    np.testing.assert_allclose(output[:, ::2], other[:, ::2].detach().numpy(), atol=1e-12)


@given(SEEDS, BATCHES, st.integers(0, 4), SIZES, SIZES, DTYPES)
def test_splitting_and_merging_undo_each_other(seed, batch, n, n_heads, d_head, dtype):
    X = np.random.default_rng(seed).normal(size=(*batch, n, n_heads * d_head)).astype(dtype)
    heads = split_heads(X, n_heads)
    assert heads.shape == (*batch, n_heads, n, d_head)
    assert heads.dtype == dtype
    for h in range(n_heads):
        own = X[..., h * d_head : (h + 1) * d_head]
        np.testing.assert_array_equal(heads[..., h, :, :], own)
    np.testing.assert_array_equal(merge_heads(heads), X)
    np.testing.assert_array_equal(split_heads(merge_heads(heads), n_heads), heads)


def test_heads_by_hand():
    X = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
    heads = [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    assert split_heads(X, 2).tolist() == heads
    assert merge_heads(np.array(heads)).tolist() == X.tolist()


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, SIZES, SIZES, SIZES)
def test_each_head_is_a_separate_attention(seed, batch, n, d, n_heads, d_k, d_v, d_out):
    rng = np.random.default_rng(seed)
    inputs = layer(rng, (*batch, n, d), n_heads, d_k, d_v, d_out)
    X, W_q, W_k, W_v, W_o, _ = inputs
    mask = rng.random((*batch, n, n)) < 0.6  # another mask in every sequence; rows may be empty
    output, weights = multi_head_attention(*inputs, mask)
    assert weights.shape == (*batch, n_heads, n, n)
    expected = np.zeros((*batch, n, d_out))
    for h in range(n_heads):
        k, v = slice(h * d_k, (h + 1) * d_k), slice(h * d_v, (h + 1) * d_v)
        alone = scaled_dot_product_attention(X @ W_q[:, k], X @ W_k[:, k], X @ W_v[:, v], mask)
        np.testing.assert_allclose(weights[..., h, :, :], alone[1], atol=1e-10)
        expected += alone[0] @ W_o[v]
    np.testing.assert_allclose(output, expected, atol=1e-9)
    closed = ~mask.any(axis=-1)
    assert (output[closed] == 0).all()


@given(SEEDS, SIZES, SIZES)
def test_order_of_tokens_carries_over_and_order_of_heads_does_not_matter(seed, n, n_heads):
    rng = np.random.default_rng(seed)
    X, W_q, W_k, W_v, W_o, _ = layer(rng, (n, 4), n_heads, 2, 3, 5)
    output, weights = multi_head_attention(X, W_q, W_k, W_v, W_o, n_heads)
    tokens, heads = rng.permutation(n), rng.permutation(n_heads)
    moved, moved_weights = multi_head_attention(X[tokens], W_q, W_k, W_v, W_o, n_heads)
    np.testing.assert_allclose(moved, output[tokens], atol=1e-10)
    np.testing.assert_allclose(moved_weights, weights[:, tokens][:, :, tokens], atol=1e-10)
    k, v = (np.arange(n_heads * d).reshape(n_heads, d)[heads].ravel() for d in (2, 3))
    swapped, _ = multi_head_attention(X, W_q[:, k], W_k[:, k], W_v[:, v], W_o[v], n_heads)
    np.testing.assert_allclose(swapped, output, atol=1e-9)


@given(SEEDS, st.integers(2, 5), SIZES)
def test_the_past_does_not_depend_on_the_future(seed, n, n_heads):
    inputs = layer(np.random.default_rng(seed), (n, 4), n_heads, 2, 2, 4)
    before, _ = multi_head_attention(*inputs, causal_mask(n))
    inputs[0][-1] += 100
    after, _ = multi_head_attention(*inputs, causal_mask(n))
    np.testing.assert_array_equal(before[:-1], after[:-1])


def test_one_token_attends_to_itself():
    inputs = layer(np.random.default_rng(0), (1, 4), 3, 2, 2, 5)
    X, _, _, W_v, W_o, n_heads = inputs
    output, weights = multi_head_attention(*inputs)
    assert weights.tolist() == [[[1.0]]] * n_heads
    np.testing.assert_allclose(output, X @ W_v @ W_o)


@pytest.mark.parametrize("mask", [None, np.zeros((0, 0), dtype=bool)])
def test_no_token_gets_no_output(mask):
    inputs = layer(np.random.default_rng(0), (2, 0, 4), 3, 2, 2, 5)
    output, weights = multi_head_attention(*inputs, mask)
    assert output.shape == (2, 0, 5)
    assert weights.shape == (2, 3, 0, 0)


@pytest.mark.parametrize(("d_model", "n_heads"), [(6, 4), (4, 8), (4, 0), (4, -2)])
def test_heads_that_do_not_divide_the_width_are_an_error(d_model, n_heads):
    square = np.zeros((d_model, d_model))
    message = f"{d_model} features .* {n_heads} heads"
    with pytest.raises(ValueError, match=message):
        split_heads(np.zeros((3, d_model)), n_heads)
    with pytest.raises(ValueError, match=message):
        multi_head_attention(np.zeros((3, d_model)), *[square] * 4, n_heads)


@pytest.mark.parametrize("shape", [(4, 4), (3, 4), (2,), (5, 1, 3), (2, 2, 3, 3)])
def test_a_mask_that_does_not_broadcast_is_an_error(shape):
    inputs = layer(np.random.default_rng(0), (2, 3, 4), 2, 2, 2, 4)
    with pytest.raises(ValueError, match=r"broadcast|dimensions"):
        multi_head_attention(*inputs, np.ones(shape, dtype=bool))


@pytest.mark.parametrize("shape", [(), (3,), (1, 3), (3, 3), (2, 1, 3), (1, 3, 3), (2, 3, 3)])
def test_every_mask_that_broadcasts_is_the_same_for_all_heads(shape):
    rng = np.random.default_rng(0)
    inputs = layer(rng, (2, 3, 4), 2, 2, 2, 4)  # as many sentences as heads
    mask = rng.random(shape) < 0.6
    _, weights = multi_head_attention(*inputs, mask)
    full = np.broadcast_to(mask, (2, 3, 3))[:, None]
    np.testing.assert_array_equal(weights > 0, np.broadcast_to(full, weights.shape))


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, SIZES, st.integers(1, 3))
def test_cross_attention_to_the_same_sequence_is_self_attention(
    seed, batch, n, d, n_heads, d_k, d_v
):
    rng = np.random.default_rng(seed)
    X, *rest = layer(rng, (*batch, n, d), n_heads, d_k, d_v, 5)
    mask = rng.random((*batch, n, n)) < 0.6
    result = multi_head_cross_attention(X, X, *rest, mask)
    for part, expected in zip(result, multi_head_attention(X, *rest, mask), strict=True):
        np.testing.assert_array_equal(part, expected)


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


@given(SEEDS, SIZES, SIZES, SIZES, SIZES)
def test_a_fused_projection_computes_all_three_and_comes_apart_again(seed, d, n_heads, d_k, d_v):
    rng = np.random.default_rng(seed)
    X, W_q, W_k, W_v, *_ = layer(rng, (4, d), n_heads, d_k, d_v, 1)
    fused = fuse_projections(W_q, W_k, W_v, n_heads)
    heads = split_heads(X @ fused, n_heads)  # (n_heads, n, 2 * d_k + d_v)
    parts = np.split(heads, [d_k, 2 * d_k], axis=-1)
    for part, W in zip(parts, (W_q, W_k, W_v), strict=True):
        np.testing.assert_allclose(part, split_heads(X @ W, n_heads), atol=1e-12)
    apart = unfuse_projections(fused, n_heads, d_k)
    for actual_part, W in zip(apart, (W_q, W_k, W_v), strict=True):
        np.testing.assert_array_equal(actual_part, W)


def test_fusing_by_hand():
    W_q, W_k, W_v = (np.array([[number, number + 1]]) for number in (10, 20, 30))
    assert fuse_projections(W_q, W_k, W_v, 2).tolist() == [[10, 20, 30, 11, 21, 31]]


@given(SEEDS, BATCHES, st.integers(1, 5), SIZES, SIZES, st.data())
def test_pruning_equals_silencing_the_removed_heads(seed, batch, n_heads, d_k, d_v, data):
    rng = np.random.default_rng(seed)
    X, *matrices, _ = layer(rng, (*batch, 3, 4), n_heads, d_k, d_v, 5)
    removed = data.draw(st.lists(st.integers(0, n_heads - 1), max_size=n_heads + 1))
    if set(removed) == set(range(n_heads)):
        removed = []
    zeroed = matrices[3].copy().reshape(n_heads, d_v, 5)
    zeroed[removed] = 0
    zeroed = zeroed.reshape(matrices[3].shape)
    expected, _ = multi_head_attention(X, *matrices[:3], zeroed, n_heads)
    rest = n_heads - len(set(removed))
    small = prune_heads(*matrices, n_heads, np.array(removed, dtype=int))
    result, weights = multi_head_attention(X, *small, rest)
    np.testing.assert_allclose(result, expected, atol=1e-9)
    assert weights.shape[-3] == rest
    assert small[0].shape == (4, rest * d_k)


@given(SEEDS, st.integers(1, 4), st.integers(1, 4), SIZES, SIZES, SIZES)
def test_heads_folded_into_the_batch_find_the_same(seed, batch, n, n_heads, d_k, d_v):
    rng = np.random.default_rng(seed)
    widths = n_heads * d_k, n_heads * d_k, n_heads * d_v
    Q, K, V = (rng.normal(size=(batch, n, width)) for width in widths)
    lengths = rng.integers(1, n + 1, size=batch)
    merged, weights = folded_heads_attention(Q, K, V, n_heads, lengths)
    heads = (split_heads(matrix, n_heads) for matrix in (Q, K, V))
    mask = padding_mask(lengths, n)[:, None]
    expected, expected_weights = scaled_dot_product_attention(*heads, mask)
    np.testing.assert_allclose(merged, merge_heads(expected), atol=1e-12)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-12)


def test_the_gradient_of_a_scale_by_hand():
    Q, K = np.ones((1, 1, 1)), np.array([[[0.0], [np.log(3)]]])  # with scale 1: weights 1/4, 3/4
    V = np.array([[[0.0], [8.0]]])
    result = head_scales_backward(Q, K, V, np.array([1.0]), np.ones((1, 1)))
    np.testing.assert_allclose(result, [8 * 3 / 16 * np.log(3)])  # w(1-w) times both differences


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, SIZES, SIZES)
def test_importance_is_what_removing_a_head_changes(seed, batch, n_heads, n_q, n_k, d_v, d_out):
    rng = np.random.default_rng(seed)
    weights = rng.random((*batch, n_heads, n_q, n_k))
    values = rng.normal(size=(*batch, n_heads, n_k, d_v))
    W_o = rng.normal(size=(n_heads * d_v, d_out))
    result = head_importance(weights, values, W_o)
    assert result.shape == (*batch, n_heads)
    output = merge_heads(weights @ values) @ W_o
    for h in range(n_heads):
        rest = values.copy()
        rest[..., h, :, :] = 0
        change = output - merge_heads(weights @ rest) @ W_o
        expected = np.sqrt((change**2).sum(axis=(-2, -1)) / (output**2).sum(axis=(-2, -1)))
        np.testing.assert_allclose(result[..., h], expected, rtol=1e-6)
    np.testing.assert_allclose(head_importance(weights, values, W_o * 10), result, rtol=1e-9)


def test_importance_by_hand():
    weights = np.ones((2, 1, 1))
    values = np.array([[[3.0]], [[4.0]]])
    np.testing.assert_allclose(head_importance(weights, values, np.eye(2)), [0.6, 0.8])
    opposed = np.array([[1.0], [-0.5]])  # 3 - 2 = 1: each head is larger than the whole
    np.testing.assert_allclose(head_importance(weights, values, opposed), [3.0, 2.0])
    cancelling = np.array([[4.0], [-3.0]])  # 12 - 12 = 0: no norm to divide by
    assert head_importance(weights, values, cancelling).tolist() == [0, 0]


@pytest.mark.parametrize("n", [0, 2])
def test_importance_of_no_heads_is_empty(n):
    result = head_importance(np.zeros((3, n, n)), np.ones((3, n, 2)), np.ones((6, 4)))
    assert result.tolist() == [0, 0, 0]


def test_importance_with_a_w_o_of_other_heads_is_an_error():
    with pytest.raises(ValueError, match="reshape"):
        head_importance(np.ones((2, 3, 3)), np.ones((2, 3, 4)), np.ones((6, 5)))


def test_a_sequence_holds_both_answers():
    letters, numbers, asked, answers = sequences(200, torch.Generator().manual_seed(7))
    for row in range(200):
        stored = dict(zip(letters[row].tolist(), numbers[row].tolist(), strict=True))
        letter = int(asked[row])
        assert answers[row].tolist() == [stored[letter], stored[letter ^ 1]]
    result = places(letters, asked)
    assert (letters.gather(1, result) == torch.stack([asked, asked ^ 1], dim=1)).all()


def test_models_differ_only_in_their_heads():
    shapes = {
        tuple((name, parameter.shape) for name, parameter in TwoRelations(n).named_parameters())
        for n in HEADS
    }
    assert len(shapes) == 1
    letters, numbers, asked, _ = sequences(5, torch.Generator().manual_seed(1))
    for n_heads in HEADS:
        logits, weights = TwoRelations(n_heads)(letters, numbers, asked)
        assert logits.shape == (5, 2, NUMBERS)
        assert weights.shape == (5, n_heads, letters.shape[1])
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(5, n_heads))


def test_weights_do_not_depend_on_the_numbers():
    model = TwoRelations(2)
    letters, numbers, asked, _ = sequences(5, torch.Generator().manual_seed(1))
    first, second = (model(letters, some, asked)[1] for some in (numbers, numbers.flip(1)))
    torch.testing.assert_close(first, second, rtol=0, atol=0)


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


def test_two_heads_learn_what_one_cannot():
    one, two = (train(partial(TwoRelations, n_heads), 0.01, seed=0) for n_heads in (1, 2))
    assert one.parameters == two.parameters
    assert one.complete[0] < 2 / 3
    assert two.complete[0] > 0.95
    assert sorted(np.argmax(two.weight_on, axis=1)) == [0, 1]  # a head for each relation
    assert two.fewer["least important first"][0] == two.complete[0]
    assert len(two.accuracy) == TIMES + 1


@pytest.mark.parametrize("n_heads", HEADS)
def test_the_example_asks_every_letter_of_four_pairs(n_heads):
    example = train(partial(TwoRelations, n_heads), 0.01, seed=0, steps=TIMES).example
    codes = [ord(letter) - ord("A") for letter in example["letters"]]
    assert {code ^ 1 for code in codes} == set(codes)
    weights = np.array(example["weights"])
    assert weights.shape == (n_heads, len(codes), len(codes))
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-5)


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
