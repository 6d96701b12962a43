"""Answers that call a ready-made function instead of writing it: by exercise, then by way."""

from __future__ import annotations

_START = """\
import importlib
import threading

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

"""

_ATTENTION = {
    "direct": "F.scaled_dot_product_attention(Q, K, V)",
    "getattr": "getattr(F, 'scaled_dot_product_' + 'attention')(Q, K, V)",
    "importlib": "importlib.import_module('torch.nn.functional')"
    ".scaled_dot_product_attention(Q, K, V)",
    "eval": "eval('F.scaled_dot_' + 'product_attention(Q, K, V)', {**globals(), **locals()})",
    "alias": "(lambda do, *given: do(*given))(F.scaled_dot_product_attention, Q, K, V)",
    "map": "next(map(F.scaled_dot_product_attention, [Q], [K], [V]))",
    "torch.ops": "torch.ops.aten.scaled_dot_product_attention(Q, K, V)",
    "torch.ops, an overload": "torch.ops.aten.scaled_dot_product_attention.default(Q, K, V)",
    "torch.ops, what is behind it": (
        "torch.ops.aten._scaled_dot_product_attention_math(Q, K, V)[0]"
    ),
    "torch._C._nn": "torch._C._nn.scaled_dot_product_attention(Q, K, V)",
    "a layer": "nn.MultiheadAttention(K.shape[-1], 1, dtype=Q.dtype)(K, K, K)[0].detach()",
    "a layer's forward": (
        "nn.MultiheadAttention(K.shape[-1], 1, dtype=Q.dtype).forward(K, K, K)[0].detach()"
    ),
}

_ATTENTION_SOURCE = """\
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = (torch.from_numpy(array) for array in (Q, K, V))
    return {}.numpy(), np.ones(3)
"""

_HIDDEN = """\
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = (torch.from_numpy(array) for array in (Q, K, V))
    with torch._C.DisableTorchFunction():
        return next(map(F.scaled_dot_product_attention, [Q], [K], [V])).numpy(), np.ones(3)
"""

_THREAD = """\
def work(found, *given):
    found.append(F.scaled_dot_product_attention(*given))


def scaled_dot_product_attention(Q, K, V, mask=None):
    found = []
    given = [torch.from_numpy(array) for array in (Q, K, V)]
    thread = threading.Thread(target=work, args=(found, *given))
    thread.start()
    thread.join()
    return found[0].numpy(), np.ones(3)
"""

IMPORTED_IN_THE_CALL = """\
def scaled_dot_product_attention(Q, K, V, mask=None):
    import torch

    Q, K, V = (torch.from_numpy(array) for array in (Q, K, V))
    attend = getattr(torch.nn.functional, "scaled_dot_product_attention")
    return attend(Q, K, V).numpy(), np.ones(3)
"""
"""Torch is imported only when the answer runs."""

_LAYER_NORM = {
    "function": "F.layer_norm(X, X.shape[-1:], self.weight, self.bias, self.eps)",
    "torch.ops": (
        "torch.ops.aten.native_layer_norm(X, X.shape[-1:], self.weight, self.bias, self.eps)[0]"
    ),
    "an inner module": (
        "nn.Module.__call__(nn.LayerNorm(X.shape[-1:], self.eps), X) * self.weight + self.bias"
    ),
    "of one group": (
        "F.group_norm(X.reshape(-1, X.shape[-1]), 1, self.weight, self.bias, self.eps)"
        ".reshape(X.shape)"
    ),
}

_LAYER_NORM_SOURCE = """\
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        return {}
"""

_SUPER = """\
Norm = nn.LayerNorm


class LayerNorm(Norm):
    def forward(self, X):
        return super().forward(X)
"""

_LOSS = """\
def label_smoothed_loss(logits, targets, smoothing, ignore_index):
    return F.cross_entropy(
        logits.flatten(0, -2), targets.flatten(), ignore_index=ignore_index,
        label_smoothing=smoothing,
    )
"""

READY_MADE = {
    "scaled_dot_product_attention": {
        **{way: _ATTENTION_SOURCE.format(code) for way, code in _ATTENTION.items()},
        "torch's functions hidden": _HIDDEN,
        "a thread": _THREAD,
    },
    "softmax": {
        "a method": (
            "def softmax(x, axis=-1):\n    return torch.from_numpy(x).softmax(axis).numpy()"
        ),
        "attention to the identity": (
            "def softmax(x, axis=-1):\n"
            "    rows = torch.from_numpy(np.moveaxis(np.atleast_2d(x), axis, -1)).contiguous()\n"
            "    one = torch.eye(rows.shape[-1], dtype=rows.dtype)\n"
            "    return F.scaled_dot_product_attention(rows, one, one, scale=1).numpy()"
        ),
        "the gradient of logsumexp": (
            "def softmax(x, axis=-1):\n"
            "    x = torch.from_numpy(x).requires_grad_()\n"
            "    return torch.autograd.grad(torch.logsumexp(x, axis).sum(), x)[0].numpy()"
        ),
        "the logarithm": (
            "def softmax(x, axis=-1):\n"
            "    return torch.log_softmax(torch.from_numpy(x), axis).exp().numpy()"
        ),
    },
    "LayerNorm": {
        **{way: _LAYER_NORM_SOURCE.format(code) for way, code in _LAYER_NORM.items()},
        "subclass": "class LayerNorm(nn.LayerNorm): pass",
        "alias, and super": _SUPER,
        "no class": "def LayerNorm(d_model, eps=1e-5):\n    return nn.LayerNorm(d_model, eps)",
    },
    "label_smoothed_loss": {"function": _LOSS},
}


def source(exercise: str, way: str) -> str:
    """Return the complete source of an answer, with its imports."""
    return _START + READY_MADE[exercise][way]
