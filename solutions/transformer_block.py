"""The Transformer's block in PyTorch: normalise, attend, transform, and add to the residual path.

The blocks are those of Vaswani et al. (2017), "Attention is all you need", with the norm after each
residual sum, or before each sublayer: Xiong et al. (2020), "On layer normalization in ...".
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

ACTIVATIONS: dict[str, Callable[..., torch.Tensor]] = {"relu": F.relu, "gelu": F.gelu}


class LayerNorm(nn.Module):
    """Normalise the features of each token on its own, then scale and shift them.

    Source: Ba, Kiros and Hinton (2016), equation 4.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        """d_model: the features of a token. eps: added to the variance, so that no root is 0.

        At the start the scale `weight` is 1 and the shift `bias` is 0.
        """
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (..., n, d_model), n may be 0. Returns the same shape.

        Before scale and shift, the features of every token have mean 0 and, but for `eps`,
        variance 1: the mean of the squared deviations. A mean far from 0 changes nothing, and
        features that are all equal become 0. No token depends on another.
        """
        centred = X - X.mean(dim=-1, keepdim=True)
        variance = (centred * centred).mean(dim=-1, keepdim=True)  # (..., n, 1)
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias


class FeedForward(nn.Module):
    """Transform each token on its own: widen, bend, and narrow again.

    Source: Vaswani et al. (2017), equation 2.
    """

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu") -> None:
        """d_model: the features of a token. d_ff: the width between `W_1` and `W_2`.

        activation: "relu", or "gelu" (the exact one); ValueError for any other.
        """
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation is {activation!r} and should be 'relu' or 'gelu'")
        self.activation = activation
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (..., n, d_model), n may be 0. Returns the same shape; no token sees another."""
        return self.W_2(ACTIVATIONS[self.activation](self.W_1(X)))  # (..., n, d_ff) in between


class MultiHeadAttention(nn.Module):
    """Several heads attend side by side, and `W_o` mixes what they found.

    Source: Vaswani et al. (2017), section 3.2.2, with a bias in each of the four projections.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        """d_model: the features of a token, in and out. n_heads: at least 1.

        Raises ValueError, with both numbers in its message, if d_model is not divisible by n_heads.
        """
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"{d_model} features cannot be shared out equally to {n_heads} heads")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(
        self,
        X: torch.Tensor,
        context: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """X: (..., n_q, d_model), the tokens that ask. Returns the same shape.

        context: (..., n_k, d_model), the tokens that answer; None for `X` itself. mask: boolean,
        broadcastable to (..., n_q, n_k), such as (n_k,), True where a token may attend, the same
        for all heads; ValueError if it is for another number of tokens; None lets every token
        attend to every token. n_q and n_k may be 0. The first d_model / n_heads features of a
        query, a key and a value belong to the first head, and so on. Scores are scaled dot
        products, and may be large. A token that may attend to nothing gets 0 from every head, so
        that its output is the bias of `W_o`.
        """
        context = X if context is None else context
        mask = mask_for_heads(mask, X, context)
        Q = split_heads(self.W_q(X), self.n_heads)  # (..., n_heads, n_q, d_head)
        K = split_heads(self.W_k(context), self.n_heads)
        V = split_heads(self.W_v(context), self.n_heads)
        heads = F.scaled_dot_product_attention(Q, K, V, mask)  # (..., n_heads, n_q, d_head)
        return self.W_o(heads.transpose(-3, -2).flatten(-2))  # (..., n_q, d_model)


class EncoderBlock(nn.Module):
    """Attention among the tokens, then a transformation of each; both are added to what was there.

    Its parts are called `attention`, `feed_forward` (with ReLU), `norm_1` and `norm_2`.
    Sources: Vaswani et al. (2017), section 3.1; Xiong et al. (2020), table 1.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, norm: str = "post") -> None:
        """d_model, n_heads, d_ff: the sizes of the parts; d_model is divisible by n_heads.

        norm: where the two norms stand: "post" for after each residual sum, as in 2017, or "pre"
        for at the input of each sublayer; ValueError for any other.
        """
        super().__init__()
        self.pre = norm_comes_first(norm)
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1 = LayerNorm(d_model)
        self.norm_2 = LayerNorm(d_model)

    def forward(self, X: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """X: (batch, n, d_model), n may be 0. Returns the same shape.

        mask: boolean, broadcastable to (batch, n, n), such as (n,), True where a token may attend,
        or None. A token that may attend to nothing finds what `W_o` makes of zeros.
        """
        if self.pre:
            X = X + self.attention(self.norm_1(X), mask=mask)
            return X + self.feed_forward(self.norm_2(X))
        X = self.norm_1(X + self.attention(X, mask=mask))
        return self.norm_2(X + self.feed_forward(X))


class DecoderBlock(nn.Module):
    """An encoder block that, between its two sublayers, also asks the tokens of another sequence.

    Its parts are called `self_attention`, `cross_attention`, `feed_forward` (with ReLU), and
    `norm_1`, `norm_2`, `norm_3` in the order of the sublayers.
    Sources: Vaswani et al. (2017), section 3.1; Xiong et al. (2020), table 1.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, norm: str = "post") -> None:
        """d_model, n_heads, d_ff: the sizes of the parts; d_model is divisible by n_heads.

        norm: where the three norms stand: "post" for after each residual sum, as in 2017, or "pre"
        for at the input of each sublayer; ValueError for any other. No norm touches `context`.
        """
        super().__init__()
        self.pre = norm_comes_first(norm)
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1 = LayerNorm(d_model)
        self.norm_2 = LayerNorm(d_model)
        self.norm_3 = LayerNorm(d_model)

    def forward(
        self,
        X: torch.Tensor,
        context: torch.Tensor,
        mask: torch.Tensor | None = None,
        context_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """X: (batch, n, d_model), the target's tokens. Returns the same shape.

        context: (batch, n_k, d_model), the source's tokens as the encoder left them. n and n_k may
        be 0. mask: boolean, broadcastable to (batch, n, n), for the attention of the target to
        itself: a causal mask, where it is to be causal. context_mask: boolean, broadcastable to
        (batch, n, n_k), such as (n_k,), for the attention of the target to the source. In both,
        True is where a token may attend, and None lets every token attend to every token. A token
        that may attend to nothing finds what `W_o` makes of zeros.
        """
        if self.pre:
            X = X + self.self_attention(self.norm_1(X), mask=mask)
            X = X + self.cross_attention(self.norm_2(X), context, context_mask)
            return X + self.feed_forward(self.norm_3(X))
        X = self.norm_1(X + self.self_attention(X, mask=mask))
        X = self.norm_2(X + self.cross_attention(X, context, context_mask))
        return self.norm_3(X + self.feed_forward(X))


class RMSNorm(nn.Module):
    """Divide each token by the root of the mean of its squared features, then scale it.

    Source: Zhang and Sennrich (2019), section 4.
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        """d_model: the features of a token. eps: added under the root. `weight` starts at 1."""
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (..., n, d_model), n may be 0. Returns the same shape; no token sees another."""
        return X / torch.sqrt((X * X).mean(dim=-1, keepdim=True) + self.eps) * self.weight


class SwiGLU(nn.Module):
    """Transform each token on its own: what is between `W_up` and `W_down` passes a gate.

    The gate is the SiLU of `W_gate` times the token. Source: Shazeer (2020), equation 6.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        """d_model: the features of a token. d_ff: the width in between. No bias anywhere."""
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (..., n, d_model), n may be 0. Returns the same shape; no token sees another."""
        return self.W_down(F.silu(self.W_gate(X)) * self.W_up(X))


def split_heads(X: torch.Tensor, n_heads: int) -> torch.Tensor:
    """(..., n, d_model) to (..., n_heads, n, d_head); see `solutions.multi_head.split_heads`."""
    return X.unflatten(-1, (n_heads, X.shape[-1] // n_heads)).transpose(-3, -2)


def mask_for_heads(
    mask: torch.Tensor | None, X: torch.Tensor, context: torch.Tensor
) -> torch.Tensor | None:
    """Add an axis for the heads to a mask (..., n_q, n_k). Raises ValueError if it misfits."""
    if mask is None:
        return None
    shape = (*X.shape[:-1], context.shape[-2])
    try:
        return mask.broadcast_to(shape)[..., None, :, :]
    except RuntimeError:
        raise ValueError(f"a mask of {tuple(mask.shape)} does not broadcast to {shape}") from None


def norm_comes_first(norm: str) -> bool:
    """Return True for "pre" and False for "post". Raises ValueError for any other text."""
    if norm not in ("pre", "post"):
        raise ValueError(f"norm is {norm!r} and should be 'pre' or 'post'")
    return norm == "pre"
