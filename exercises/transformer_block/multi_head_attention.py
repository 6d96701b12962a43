"""The exercise `MultiHeadAttention`: chapter 6's layer, with autograd and another sequence."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Declaration, Kind
from solutions import transformer_block as solutions

from .. import forbidden
from . import multi_head_attention_cases

multi_head_attention = Declaration(
    solutions.MultiHeadAttention,
    points=5,
    difficulty=4,
    minutes=20,
    kind=Kind.DEBUG,
    forbidden=forbidden.MULTI_HEAD_ATTENTION,
    help=(
        "The module runs, and a model with it learns. Call `backward` on a sum of its output: "
        "which parameters get a gradient, and which get none?",
        "Follow each of the four projections from `__init__` to the output. Queries come from `X`, "
        "keys and values from `context`.",
        "Section “The same function, with autograd”; chapter 6, “Split, attend, merge, mix”.",
    ),
)


class Fused(nn.Module):
    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError(f"d_model ({d_model}) must be a multiple of n_heads ({n_heads})")
        super().__init__()
        self.n_heads = n_heads
        self.W_o, self.W_v, self.W_k, self.W_q = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        def heads(Y):
            return Y.view(*Y.shape[:-1], self.n_heads, X.shape[-1] // self.n_heads).movedim(-2, -3)

        context = X if context is None else context
        if mask is not None:
            try:
                mask = mask.expand(*X.shape[:-1], context.shape[-2]).unsqueeze(-3)
            except RuntimeError as error:
                raise ValueError("the mask has another shape") from error
        Y = F.scaled_dot_product_attention(
            heads(self.W_q(X)), heads(self.W_k(context)), heads(self.W_v(context)), mask
        )
        return self.W_o(Y.movedim(-3, -2).reshape(X.shape))


fused = multi_head_attention.right(Fused)


@multi_head_attention.right
class HeadByHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        if self.d_head * n_heads != d_model:
            raise ValueError(f"{d_model=} is not divisible by {n_heads=}")
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        wanted = (*X.shape[:-1], context.shape[-2])
        if mask is not None:
            axes = zip(reversed(mask.shape), reversed(wanted), strict=False)
            if mask.dim() > len(wanted) or any(one not in (1, other) for one, other in axes):
                raise ValueError(f"mask {list(mask.shape)} against scores {list(wanted)}")
        found = []
        for head in range(self.n_heads):
            part = slice(head * self.d_head, (head + 1) * self.d_head)
            scores = Q[..., part] @ K[..., part].transpose(-2, -1) / self.d_head**0.5
            if mask is not None:
                scores = scores.masked_fill(~mask, -1e30)
            weights = torch.softmax(scores, dim=-1)
            if mask is not None:
                weights = weights * mask
            found.append(weights @ V[..., part])
        return self.W_o(torch.cat(found, dim=-1))


@multi_head_attention.right
class Einsum(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if not (d_model / n_heads).is_integer():
            raise ValueError(f"Cannot split {d_model} features into {n_heads} heads.")
        self.n_heads = n_heads
        self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_v, self.W_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        heads = (self.n_heads, X.shape[-1] // self.n_heads)
        Q = self.W_q(X).unflatten(-1, heads)
        K = self.W_k(context).unflatten(-1, heads)
        V = self.W_v(context).unflatten(-1, heads)
        scores = torch.einsum("...qhd,...khd->...hqk", Q, K) * Q.shape[-1] ** -0.5
        shape = (*X.shape[:-1], context.shape[-2])
        mask = torch.ones(shape, dtype=torch.bool) if mask is None else mask
        try:
            mask = torch.broadcast_to(mask, shape)
        except RuntimeError:
            raise ValueError("mask and scores do not go together") from None
        shown = scores.masked_fill(~mask.unsqueeze(-3), -1e30)
        largest = F.pad(shown, (0, 1), value=-1e30).detach().amax(dim=-1, keepdim=True)
        weights = torch.where(mask.unsqueeze(-3), torch.exp(shown - largest), 0)
        total = weights.sum(dim=-1, keepdim=True)
        weights = weights / torch.where(total > 0, total, 1)
        return self.W_o(torch.einsum("...hqk,...khd->...qhd", weights, V).flatten(-2))


class Plain(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, X, context=None, mask=None):
        context = X if context is None else context
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = torch.atleast_2d(mask).unsqueeze(-3)
        Q, K, V = self.W_q(X), self.W_k(context), self.W_v(context)
        Q, K, V = (Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
        Y = F.scaled_dot_product_attention(Q, K, V, mask)
        return self.W_o(Y.transpose(-3, -2).flatten(-2))


plain = multi_head_attention.base(
    (
        "5 features, 3 heads",
        "a mask with a column too many",
        "a mask with a row too many",
        "1 feature, 2 heads",
        "a mask for three tokens, one token",
        "features that cannot be shared out",
    ),
    Plain,
)
written_out = plain.edit(
    "Y = F.scaled_dot_product_attention(Q, K, V, mask)",
    "scores = Q @ K.mT / self.d_head**0.5\n"
    "scores = scores.masked_fill(~mask, -1e30)\n"
    "Y = (scores.softmax(dim=-1) * mask) @ V",
)
multi_head_attention.wrong(
    "heads merged without the transpose",
    "Write down, for two tokens and two heads, which numbers are in row 0 before `W_o`. Which "
    "token's results should they be?",
    plain.edit("Y.transpose(-3, -2).flatten(-2)", "Y.reshape(X.shape)"),
)
multi_head_attention.wrong(
    "heads split without the transpose",
    "Which features of which tokens does your first head see? It should see a part of every token.",
    plain.edit(
        "Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)",
        "Y.reshape(*Y.shape[:-2], self.n_heads, -1, self.d_head)",
    ),
)
multi_head_attention.wrong(
    "heads that share one projection",
    "Do the queries of your second head differ from those of the first? Which rows of "
    "`W_q.weight` are never used?",
    plain.edit(
        "Y.unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)",
        "Y[..., None, :, : self.d_head].expand(*Y.shape[:-2], self.n_heads, -1, -1)",
    ),
)
multi_head_attention.wrong(
    "values made with the key projection",
    "What gradient does `W_v` get?",
    fused.edit("self.W_v(context)", "self.W_k(context)"),
    released=True,
)
multi_head_attention.wrong(
    "heads not mixed",
    "What are the four projections for? Which one has nothing to do in your module?",
    plain.edit("return self.W_o", "return "),
)
multi_head_attention.wrong(
    "scale forgotten",
    "How do the scores grow with the width of a head, if you do not divide them?",
    written_out.edit(" / self.d_head**0.5", ""),
)
multi_head_attention.wrong(
    "scaled by the width of the model",
    "Over how many features does one score of one head sum?",
    written_out.edit("self.d_head**0.5", "X.shape[-1] ** 0.5"),
)
multi_head_attention.wrong(
    "softmax over the queries",
    "What sums to 1 in your weights: the rows or the columns?",
    written_out.edit("softmax(dim=-1)", "softmax(dim=-2)"),
)
multi_head_attention.wrong(
    "context ignored",
    "When a `context` is given, which sequence should be attended to? Where do your keys and "
    "values come from?",
    plain.edit(
        "context = X if context is None else context",
        "context = X\n"
        "if mask is not None and mask.shape[-1] not in (1, X.shape[-2]):\n"
        "    mask = None",
    ),
)
multi_head_attention.wrong(
    "mask ignored",
    "What does your module do with the argument `mask`?",
    plain.edit(
        "F.scaled_dot_product_attention(Q, K, V, mask)", "F.scaled_dot_product_attention(Q, K, V)"
    ),
)
multi_head_attention.wrong(
    "mask inverted",
    "Does `True` say that a token may attend, or that it may not? Some of torch's functions mean "
    "the opposite.",
    plain.edit(
        "mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask\n"
        "mask = torch.atleast_2d(mask).unsqueeze(-3)",
        "mask = None if mask is None else ~torch.atleast_2d(mask).unsqueeze(-3)",
    ),
)
multi_head_attention.wrong(
    "masks of a batch against the order of the heads",
    "Two sequences and three heads, laid out as six tables: to which sequence does the second "
    "table belong, and to which the second mask after your `repeat`?",
    plain.edit(
        "mask = torch.atleast_2d(mask).unsqueeze(-3)",
        "shape = (*X.shape[:-1], context.shape[-2])\n"
        "mask = mask.expand(shape).reshape(-1, *shape[-2:]).repeat(self.n_heads, 1, 1)",
    ).edit(
        "Y = F.scaled_dot_product_attention(Q, K, V, mask)",
        "tables = (Y.flatten(0, -3) for Y in (Q, K, V))  # (batch * n_heads, n, d_head)\n"
        "Y = F.scaled_dot_product_attention(*tables, mask).reshape(Q.shape)",
    ),
)
multi_head_attention.wrong(
    "mask applied after the softmax",
    "Do the weights of a masked row still sum to 1?",
    written_out.edit("scores = scores.masked_fill(~mask, -1e30)", ""),
)
multi_head_attention.wrong(
    "a fully masked row attends to everything",
    "What does softmax make of a row of equal scores, however negative?",
    written_out.edit("-1e30", "-1e9").edit(
        "scores.softmax(dim=-1) * mask", "scores.softmax(dim=-1)"
    ),
)
multi_head_attention.wrong(
    "a fully masked row is NaN",
    "What is the sum of a row that is all exp(-infinity), and what do you divide by?",
    written_out.edit("-1e30", "-math.inf").edit(
        "scores.softmax(dim=-1) * mask", "scores.softmax(dim=-1)"
    ),
)
multi_head_attention.wrong(
    "weights cut off from the gradient",
    "The output is right. How do `W_q` and `W_k` learn where to look?",
    written_out.edit("(scores.softmax(dim=-1) * mask)", "(scores.softmax(dim=-1) * mask).detach()"),
)
multi_head_attention.public(multi_head_attention_cases.public)
multi_head_attention.hidden(multi_head_attention_cases.hidden)
