"""Test that the references of the derive exercises equal torch's automatic differentiation."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from keys import EXERCISES, drawn_cases, shown_cases

from autograder.exercise.model import Kind
from autograder.judging.judge import judge
from autograder.judging.keys import build_key, observe_quietly

DERIVED = [param for param in EXERCISES if param.values[0].kind is Kind.DERIVE]


def attention(Q, K, V, d_output, mask=None):
    """Return the inputs, the layer's output, and the loss's gradient with respect to it."""
    scores = Q @ K.mT / K.shape[-1] ** 0.5
    allowed = torch.ones_like(scores, dtype=torch.bool) & (True if mask is None else mask)
    weights = torch.softmax(torch.where(allowed, scores, -1e300), -1)
    weights = torch.where(allowed.any(-1, keepdim=True), weights * allowed, 0)
    return (Q, K, V), weights @ V, d_output


def self_attention(X, d_Y):
    """Return the same for self-attention without weights: X serves as Q, K and V."""
    return (X,), torch.softmax(X @ X.mT, -1) @ X, d_Y


def scaled_heads(Q, K, V, scales, d_merged):
    """Return merged heads with a learned scale for each, and the loss's gradient for them."""
    weights = torch.softmax(scales[:, None, None] * (Q @ K.mT), -1)
    merged = (weights @ V).transpose(-3, -2).flatten(-2)
    return (scales,), merged, d_merged


def switched_heads(heads, switches, W_o, W_r, answers):
    """Return the loss of a linear read-out behind heads with switches, which is differentiated."""
    logits = (switches[:, None] * heads).flatten(1) @ W_o @ W_r
    return (switches,), torch.nn.functional.cross_entropy(logits, answers), None


def relative_scores(Q, K, table, d_scores):
    """Return the scores of chapter 7, and the loss's gradient for them."""
    r = len(table) // 2
    distance = torch.arange(K.shape[-2]) - torch.arange(Q.shape[-2])[:, None]
    vectors = table[distance.clamp(-r, r) + r]
    scores = Q @ K.mT + torch.einsum("...id,ijd->...ij", Q, vectors)
    return (Q, K, table), scores / Q.shape[-1] ** 0.5, d_scores


def rnn_cell(x, h, W_xh, W_hh, b, d_next):
    """Return one step of chapter 1's network, and the gradient of the next state."""
    return (x, h, W_xh, W_hh, b), torch.tanh(x @ W_xh + h @ W_hh + b), d_next


def blended_states(scores, mask, H, d_context):
    """Return the context of chapter 2 from its scores, and the loss's gradient for it."""
    weights = torch.softmax(torch.where(mask, scores, -1e300), -1)
    weights = torch.where(mask.any(-1, keepdim=True), weights * mask, 0)
    return (scores,), (weights[..., None] * H).sum(-2), d_context


def relaxed_look(scores, noise, temperature, d_look):
    """Return a relaxed hard look, as its backward pass sees it, and the loss's gradient."""
    return (
        (scores, temperature),
        torch.softmax((scores + noise) / temperature[..., None], -1),
        d_look,
    )


def tied_embedding(E, tokens, targets):
    """Return the loss of chapter 9's smallest language model, with one table for both ends."""
    loss = torch.nn.functional.cross_entropy(E[tokens] @ E.mT, targets)
    return (E,), loss, torch.ones_like(loss)


def causal_language_model_loss(logits, tokens):
    """Return the mean cross-entropy of chapter 10, which is differentiated."""
    losses = -logits[..., :-1, :].log_softmax(-1).gather(-1, tokens[..., 1:, None])
    return (logits,), losses.mean(), None


def layer_norm(X, weight, d_output):
    """Return a layer normalisation without a shift, and the loss's gradient for its output."""
    return (X,), torch.nn.functional.layer_norm(X, X.shape[-1:], weight), d_output


FORWARD: dict[str, Callable] = {
    "causal_language_model_loss_backward": causal_language_model_loss,
    "head_scales_backward": scaled_heads,
    "head_switches_backward": switched_heads,
    "layer_norm_backward": layer_norm,
    "relative_scores_backward": relative_scores,
    "rnn_cell_backward": rnn_cell,
    "scaled_dot_product_attention_backward": attention,
    "scores_backward": blended_states,
    "self_attention_backward": self_attention,
    "straight_through_backward": relaxed_look,
    "tied_embedding_backward": tied_embedding,
}
"""By exercise, a function that returns the inputs, the output, and the gradient of the output."""


@pytest.mark.parametrize("exercise", DERIVED)
def test_the_reference_equals_automatic_differentiation(exercise):
    for case in (*shown_cases(exercise), *drawn_cases(exercise, 0), *drawn_cases(exercise, 1)):
        arguments = [
            torch.from_numpy(array) for array in (*case.arguments, *case.keywords.values())
        ]
        arguments = [g.double().requires_grad_() if g.is_floating_point() else g for g in arguments]
        inputs, output, d_output = FORWARD[exercise.name](*arguments)
        right = torch.autograd.grad(output, inputs, d_output)
        results = exercise.reference(*case.arguments, **case.keywords)
        results = results if isinstance(results, tuple) else (results,)
        single = case.arguments[0].dtype == np.float32
        for result, expected in zip(results, right, strict=True):
            size = float(expected.abs().max()) or 1.0
            close = 1e-5 if single else 1e-9
            largest = max(float(g.detach().abs().max()) for g in arguments if g.requires_grad)
            close = close * size + 1e-14 * largest  # values near a million are rounded at 1e-10
            assert np.allclose(result, expected.numpy(), rtol=0, atol=close), case.note


def test_finite_differences_are_rejected_as_a_derivative():
    name = "scaled_dot_product_attention_backward"
    exercise = next(
        parameter.values[0] for parameter in DERIVED if parameter.values[0].name == name
    )
    key = build_key(exercise, shown_cases(exercise), ())
    for step in (1e-4, 1e-5, 1e-6):  # other steps are less exact
        assert not judge(key, observe_quietly(_by_differences(step), key.cases)).passed


def _by_differences(step):
    def answer(Q, K, V, d_output, mask=None):
        inputs = [array_.astype(float) for array_ in (Q, K, V)]
        gradients = [np.zeros_like(array_) for array_ in inputs]
        mask = None if mask is None else torch.from_numpy(mask)
        for array, gradient in zip(inputs, gradients, strict=True):
            for place in np.ndindex(array.shape):
                original = array[place]
                ends = []
                for moved in (original - step, original + step):
                    array[place] = moved
                    _, output, _ = attention(*map(torch.from_numpy, inputs), None, mask)
                    ends.append((output.numpy() * d_output).sum())
                array[place] = original
                gradient[place] = (ends[1] - ends[0]) / (2 * step)
        return tuple(array_.astype(Q.dtype) for array_ in gradients)

    return answer
