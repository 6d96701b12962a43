"""What `test_norm_first` tells apart: sublayers with the norm first, right ones and mutants.

Each is written out, because only its own lines reach the process in which it runs.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from ...judging.written_tests import mutant, right

TORCH = ("import torch", "import torch.nn.functional as F")


def with_layer_norm(X, W_1, W_2):
    return X + F.relu(F.layer_norm(X, X.shape[-1:]) @ W_1) @ W_2


def with_var(X, W_1, W_2):
    variance, mean = torch.var_mean(X, dim=-1, correction=0, keepdim=True)
    return torch.clamp((X - mean) * torch.rsqrt(variance + 1e-6) @ W_1, min=0) @ W_2 + X


def token_by_token(X, W_1, W_2):
    rows = []
    for token in X.flatten(0, 1):
        centred = token - token.sum() / len(token)
        length = torch.linalg.vector_norm(centred) / len(token) ** 0.5
        hidden = centred / length.clamp(min=1e-3) @ W_1
        rows.append(token + hidden.where(hidden > 0, 0.0) @ W_2)
    return torch.stack(rows).reshape(X.shape)


def in_double(X, W_1, W_2):
    wide = X.double()
    normed = (wide - wide.mean(-1, keepdim=True)) / wide.std(-1, keepdim=True, correction=0)
    update = torch.einsum("bnd,df,fe->bne", normed, W_1.double(), torch.eye(W_1.shape[1]).double())
    return (wide + update.relu() @ W_2.double()).to(X.dtype)


def over_time(X, W_1, W_2):
    centred = X - X.mean(dim=1, keepdim=True)
    normed = centred / torch.sqrt(centred.square().mean(dim=1, keepdim=True) + 1e-5)
    return X + F.relu(normed @ W_1) @ W_2


def over_all(X, W_1, W_2):
    return X + F.relu(F.layer_norm(X, X.shape[1:]) @ W_1) @ W_2


def on_the_residual(X, W_1, W_2):
    X = F.layer_norm(X, X.shape[-1:])
    return X + F.relu(X @ W_1) @ W_2


def no_residual(X, W_1, W_2):
    return F.relu(F.layer_norm(X, X.shape[-1:]) @ W_1) @ W_2


def norm_last(X, W_1, W_2):
    return F.layer_norm(X + F.relu(X @ W_1) @ W_2, X.shape[-1:])


def no_norm(X, W_1, W_2):
    return X + F.relu(X @ W_1) @ W_2


def one_less(X, W_1, W_2):
    normed = (X - X.mean(-1, keepdim=True)) / (X.std(-1, keepdim=True) + 1e-6)
    return X + F.relu(normed @ W_1) @ W_2


def not_centred(X, W_1, W_2):
    normed = X / torch.sqrt(X.square().mean(-1, keepdim=True) + 1e-6)
    return X + F.relu(normed @ W_1) @ W_2


def no_root(X, W_1, W_2):
    centred = X - X.mean(-1, keepdim=True)
    normed = centred / (centred.square().mean(-1, keepdim=True) + 1e-6)
    return X + F.relu(normed @ W_1) @ W_2


def no_bend(X, W_1, W_2):
    return X + F.layer_norm(X, X.shape[-1:]) @ W_1 @ W_2


def bent_late(X, W_1, W_2):
    return F.relu(X + F.layer_norm(X, X.shape[-1:]) @ W_1 @ W_2)


def update_normed(X, W_1, W_2):
    return X + F.layer_norm(F.relu(X @ W_1) @ W_2, X.shape[-1:])


def over_the_batch(X, W_1, W_2):
    centred = X - X.mean(dim=(0, 1))
    normed = centred / torch.sqrt(centred.square().mean(dim=(0, 1)) + 1e-5)
    return X + F.relu(normed @ W_1) @ W_2


STYLES = (
    right("torch's layer_norm", with_layer_norm, *TORCH),
    right("token by token", token_by_token, *TORCH),
    right("mean and variance, a smaller epsilon", with_var, *TORCH),
    right("computed in float64", in_double, *TORCH),
)
PUBLIC = (
    mutant("a norm over the tokens of a sequence", over_time, *TORCH),
    mutant("the norm on the residual path too", on_the_residual, *TORCH),
    mutant("the norm after the sum", norm_last, *TORCH),
    mutant("no residual", no_residual, *TORCH),
    mutant("no norm", no_norm, *TORCH),
    mutant("the variance divided by one less", one_less, *TORCH),
    mutant("the mean not taken off", not_centred, *TORCH),
)
UNSEEN = (
    mutant("a norm over all numbers of a sequence", over_all, *TORCH),
    mutant("a norm over the batch", over_the_batch, *TORCH),
    mutant("divided by the variance, not by its root", no_root, *TORCH),
    mutant("no ReLU", no_bend, *TORCH),
    mutant("the ReLU at the end", bent_late, *TORCH),
    mutant("the norm behind the transformation", update_normed, *TORCH),
)
