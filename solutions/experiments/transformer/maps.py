"""Every attention map of a Transformer, for each layer and head of the encoder and the decoder.

The decoder reads the reference translation (teacher forcing), as in chapter 2's `read_maps`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ...data.translation import Pair
from ...transformer_block import DecoderBlock, EncoderBlock, MultiHeadAttention
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task, tensors
from ..transformer_block.weights import attention_weights


@dataclass(frozen=True)
class Maps:
    """The weights of L layers of H heads for a pair of n source and m target tokens.

    encoder: (L, H, n, n), from source to source tokens. decoder: (L, H, m, m), from target to
    target tokens. cross: (L, H, m, n), from target to source tokens. Row i of the last two chooses
    target token i; it has read token i - 1, or [START] for the first. Column i of `decoder` is the
    token read in row i. right: (m,) boolean, whether the token of the reference was the likeliest.
    """

    pair: Pair
    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    right: np.ndarray


@torch.no_grad()
def read_maps(model: Seq2Seq, task: Task, pairs: Sequence[Pair]) -> list[Maps]:
    """Read every map of `model`'s blocks for the references of `pairs` (teacher forcing)."""
    sources, lengths, targets = tensors(task.batch(pairs))  # targets (B, m + 2)
    found: dict[str, list[np.ndarray]] = {"encoder": [], "decoder": [], "cross": []}

    def keep(name: str, attention: MultiHeadAttention) -> torch.utils.hooks.RemovableHandle:
        def hook(
            module: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], _: torch.Tensor
        ) -> None:
            weights = attention_weights(module, *arguments, **keywords)
            found[name].append(weights.expand(len(pairs), -1, -1, -1).cpu().numpy())

        return attention.register_forward_hook(hook, with_kwargs=True)

    with ExitStack() as hooks:
        for module in model.modules():  # in the order of creation, and so of the layers
            if isinstance(module, EncoderBlock):
                hooks.enter_context(keep("encoder", module.attention))
            elif isinstance(module, DecoderBlock):
                hooks.enter_context(keep("decoder", module.self_attention))
                hooks.enter_context(keep("cross", module.cross_attention))
        logits, _ = model(sources, lengths, targets[:, :-1])
    right = (logits.argmax(dim=-1) == targets[:, 1:]).cpu().numpy()
    layers = {name: np.stack(maps, axis=1) for name, maps in found.items()}  # (B, L, H, ...)
    return [
        Maps(
            pair,
            layers["encoder"][k, :, :, : len(pair.source), : len(pair.source)],
            layers["decoder"][k, :, :, : len(pair.target), : len(pair.target)],
            layers["cross"][k, :, :, : len(pair.target), : len(pair.source)],
            right[k, : len(pair.target)],
        )
        for k, pair in enumerate(pairs)
    ]
