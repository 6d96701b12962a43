"""What training costs: the operations of the way back, and the bytes that wait for it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from ...gpt_and_bert import GPT, causal_language_model_loss
from .by_length import D_FF, D_MODEL, N_HEADS

VOCABULARY, N_BLOCKS, BATCH = 512, 2, 2
STORED_AT = (256, 512, 1024, 2048)
"""The lengths at which stored bytes are measured."""

WAYS = ("whole table", "in blocks", "again")
"""The table of weights is stored; attention recomputes it; every block is computed again."""


class Trained(nn.Module):
    """A GPT that stores its blocks' activations in one of WAYS."""

    def __init__(self, way: str, most: int = STORED_AT[-1]) -> None:
        """way: one of WAYS. most: the longest text."""
        super().__init__()
        torch.manual_seed(0)
        self.way = way
        self.inputs: list[Tensor] = []  # of the blocks, in the last text
        self.gpt = GPT(VOCABULARY, D_MODEL, N_HEADS, D_FF, N_BLOCKS, most)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens: ids (batch, n). Returns the scalar loss."""
        gpt, n = self.gpt, tokens.shape[1]
        causal = torch.ones(n, n, dtype=torch.bool).tril()
        X = gpt.embedding(tokens) + gpt.positions.weight[:n]
        self.inputs = []
        for block in gpt.blocks:
            self.inputs.append(X)
            if self.way == "again":
                X = checkpoint(block, X, causal, use_reentrant=False)
            else:
                X = block(X, causal)
        return causal_language_model_loss(gpt.norm(X) @ gpt.embedding.weight.T, tokens)


@dataclass(frozen=True)
class Operations:
    """forward, backward: operations of one batch. again: both, if blocks are computed again.

    parameters: of all matrices that multiply, the embedding once, as the matrix that writes.
    tokens: in the batch.
    """

    forward: int
    backward: int
    again: int
    parameters: int
    tokens: int


def operations(n: int = 64) -> Operations:
    """Count the operations of one training step with texts of n tokens."""
    ids = torch.randint(VOCABULARY, (BATCH, n), generator=torch.Generator().manual_seed(0))
    counts = {}
    with sdpa_kernel(SDPBackend.MATH):
        for way in ("whole table", "again"):
            model = Trained(way, n)
            with FlopCounterMode(display=False) as counter:
                loss = model(ids)
                forward = int(counter.get_total_flops())
                loss.backward()
            counts[way] = forward, int(counter.get_total_flops())
    gpt = Trained("whole table", n).gpt
    parameters = sum(one.weight.numel() for one in gpt.modules() if isinstance(one, nn.Linear))
    forward, both = counts["whole table"]
    return Operations(
        forward, both - forward, counts["again"][1], parameters + gpt.embedding.weight.numel(),
        ids.numel(),
    )  # fmt: skip


def stored_bytes(model: Trained, ids: Tensor) -> int:
    """Return the bytes that a text stores for the way back, without parameters and leaves."""
    stored: dict[int, int] = {}
    parameters = {one.untyped_storage().data_ptr() for one in model.parameters()}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if not tensor.is_leaf and storage.data_ptr() not in parameters:  # nor a view of one
            stored[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model(ids)
    for kept in model.inputs:  # `checkpoint` keeps them where no hook sees them
        pack(kept)
    return sum(stored.values())


def stored(lengths: tuple[int, ...] = STORED_AT) -> dict[str, dict[int, int]]:
    """Return way -> length -> the bytes that one text of that length stores."""
    found: dict[str, dict[int, int]] = {}
    for way in WAYS:
        model = Trained(way, max(lengths))
        backend = SDPBackend.MATH if way == "whole table" else SDPBackend.FLASH_ATTENTION
        with sdpa_kernel(backend):
            found[way] = {
                n: stored_bytes(model, torch.zeros(1, n, dtype=torch.long)) for n in lengths
            }
    return found
