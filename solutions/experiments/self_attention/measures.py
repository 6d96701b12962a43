"""Measure a reader from inside: its gradients, its weights, and what it does with other weights."""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor, nn

from .models import AttentionBody, MeanBody, Reader
from .sequences import N_TOKENS, one_payload
from .training import accuracy


def path_lengths(sees: np.ndarray) -> np.ndarray:
    """Return the smallest number of layers (or steps) from each token to each output.

    sees: boolean (n, n), True where one layer lets output i read token j. Returns whole numbers of
    shape (n, n): entry (i, j) is the number of layers from token j to output i; -1 if no number of
    layers is sufficient.
    """
    reached = np.eye(len(sees), dtype=bool)
    lengths = np.where(reached, 0, -1)
    for layer in range(1, len(sees)):
        reached = reached | (sees @ reached)
        lengths[reached & (lengths < 0)] = layer
    return lengths


def gradient_norm(model: Reader, distance: int, generator: torch.Generator) -> float:
    """Return the norm of d(v . output) / d(payload's embedding), the root mean square of 256.

    The output is the body's vector at the last position; v is a random direction of length 1. The
    mean is over 256 sequences.
    """
    tokens, _ = one_payload(torch.full((256,), distance), generator)
    X = model.embedding(tokens).detach().requires_grad_()
    output = model.body(X)
    v = nn.functional.normalize(torch.randn(output.shape, generator=generator), dim=-1)
    (gradient,) = torch.autograd.grad((output * v).sum(), X)  # (batch, n, d)
    return float(gradient[:, N_TOKENS - 1 - distance].square().sum(dim=-1).mean().sqrt())


@torch.no_grad()
def payload_weight(model: Reader, tokens: Tensor, payload: Tensor) -> float:
    """Return the median weight that the probe gives to the payload.

    model: a reader with self-attention. tokens: (batch, n). payload: (batch,).
    """
    assert isinstance(model.body, AttentionBody)
    weights = model.body.weights(model.embedding(tokens))[:, -1]  # (batch, n), those of the probe
    return float(weights[tokens == payload[:, None]].median())


def accuracy_of_the_mean(model: Reader, tokens: Tensor, answer: Tensor) -> float:
    """Return the accuracy of a trained model whose body is replaced by the mean of all tokens."""
    swapped = copy.deepcopy(model)
    swapped.body = MeanBody()
    return accuracy(swapped, tokens, answer)
