"""Write token after token with an attention layer, with and without a cache."""

import statistics
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from solutions.cost import cached_attention_step

from .by_length import D_MODEL, N_HEADS

LENGTHS = (64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class Written:
    """The seconds until each of LENGTHS tokens were written, and the tokens."""

    seconds: dict[int, float]
    tokens: torch.Tensor


class Writer(nn.Module):
    """A causal attention layer; its output for a token is the next token."""

    def __init__(self) -> None:
        """Create random weights; the output has no meaning but the same cost."""
        super().__init__()
        self.W_qkv = nn.Linear(D_MODEL, 3 * D_MODEL, bias=False)
        self.W_o = nn.Linear(D_MODEL, D_MODEL, bias=False)

    def roles(self, X: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return queries, keys and values, (n_heads, n, d_head) each. X: (n, D_MODEL)."""
        return tuple(
            one.unflatten(-1, (N_HEADS, -1)).transpose(0, 1) for one in self.W_qkv(X).chunk(3, -1)
        )

    def next_token(self, found: torch.Tensor, token: torch.Tensor) -> torch.Tensor:
        """Return the next token. found: (n_heads, d_head), the heads' outputs for the token."""
        return F.normalize(token + self.W_o(found.flatten()), dim=0)

    @torch.no_grad()
    def with_cache(self, token: torch.Tensor, n: int) -> Written:
        """Write n tokens; each step reads the newest token and the cache."""
        empty = torch.zeros(N_HEADS, 0, D_MODEL // N_HEADS)
        cache, tokens, seconds = (empty, empty), [token], {}
        begin = time.perf_counter()
        for length in range(1, n + 1):
            q, k, v = (one[:, 0] for one in self.roles(token[None]))
            found, cache = cached_attention_step(q, k, v, cache)
            token = self.next_token(found, token)
            tokens.append(token)
            if length in LENGTHS:
                seconds[length] = time.perf_counter() - begin
        return Written(seconds, torch.stack(tokens))

    @torch.no_grad()
    def without_cache(self, token: torch.Tensor, n: int) -> Written:
        """Write n tokens; each step reads all previous tokens again."""
        tokens, seconds = token[None], {}
        begin = time.perf_counter()
        for length in range(1, n + 1):
            Q, K, V = self.roles(tokens)
            found = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
            token = self.next_token(found[:, -1], tokens[-1])
            tokens = torch.cat([tokens, token[None]])
            if length in LENGTHS:
                seconds[length] = time.perf_counter() - begin
        return Written(seconds, tokens)


def compare(seed: int = 0, rounds: int = 3) -> tuple[Written, Written, dict[int, float]]:
    """Write the longest of LENGTHS alternately with and without the cache, from the same token.

    Returns the last round of both, and length -> the factor by which the cache is faster, the
    median over the rounds.
    """
    torch.manual_seed(seed)
    writer, token = Writer(), F.normalize(torch.randn(D_MODEL), dim=0)
    writer.with_cache(token, 32), writer.without_cache(token, 32)  # warm up
    n = LENGTHS[-1]
    pairs = [(writer.with_cache(token, n), writer.without_cache(token, n)) for _ in range(rounds)]
    faster = {
        n: statistics.median(without.seconds[n] / cached.seconds[n] for cached, without in pairs)
        for n in LENGTHS
    }
    return *pairs[-1], faster
