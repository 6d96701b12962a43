"""The parts of the recurrent translators: an encoder, and two decoders to choose from."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..data.translation.vocabulary import PAD
from .recurrence import gru, look_and_move
from .seq2seq import Memory

D_EMBEDDING = 96


class Encoder(nn.Module):
    """A bidirectional GRU (Schuster and Paliwal 1997; Cho et al. 2014)."""

    def __init__(self, vocabulary_size: int, d_hidden: int) -> None:
        """d_hidden: the width of the state of each direction."""
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, D_EMBEDDING, padding_idx=PAD)
        self.rnn = nn.GRU(D_EMBEDDING, d_hidden, batch_first=True, bidirectional=True)

    def forward(self, sources: Tensor, lengths: Tensor) -> Memory:
        """sources: (B, n) ids, padded on the right; lengths: (B,), at least 1 each."""
        embedded = self.embedding(sources)  # (B, n, d_e)
        places = torch.arange(sources.shape[1], device=sources.device)
        mask = places < lengths[:, None]  # (B, n)
        # The second GRU reads each reversed sentence. Padding comes last in both directions, so it
        # does not affect the words before it, and no sequence must be packed, which would be
        # slower.
        turned = torch.where(mask, lengths[:, None] - 1 - places, places)[..., None]
        last = lengths[:, None, None] - 1
        forward = self._read(embedded, "")  # (B, n, d_h)
        backward = self._read(embedded.take_along_dim(turned, dim=1), "_reverse")
        context = [states.take_along_dim(last, dim=1)[:, 0] for states in (forward, backward)]
        backward = backward.take_along_dim(turned, dim=1)
        return Memory(torch.cat([forward, backward], dim=-1), mask, torch.cat(context, dim=-1))

    def _read(self, words: Tensor, end: str) -> Tensor:
        """Run the GRU of one direction, "" or "_reverse", over words (B, n, d_e)."""
        W_word, W_state, bias, state_bias = _parameters(self.rnn, end)
        told = F.linear(words.transpose(0, 1), W_word, bias)  # (n, B, 3 d_h)
        zeros = words.new_zeros(len(words), self.rnn.hidden_size)
        return gru(told, zeros, W_state, state_bias).transpose(0, 1)


def _parameters(rnn: nn.GRU, end: str = "") -> list[nn.Parameter]:
    """Return the weights and the biases of one direction, for its input and its state."""
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return [rnn.get_parameter(f"{name}_l0{end}") for name in names]


class ReadOut(nn.Module):
    """Logits of the next target token, from the matrix that embeds it (Press and Wolf 2017)."""

    def __init__(self, d_in: int, embedding: nn.Embedding) -> None:
        """embedding: the decoder's embedding, whose matrix is shared."""
        super().__init__()
        nn.init.normal_(embedding.weight, std=D_EMBEDDING**-0.5)  # rows of length about 1
        self.to_embedding = nn.Linear(d_in, D_EMBEDDING)
        self.to_logits = nn.Linear(D_EMBEDDING, embedding.num_embeddings)
        self.to_logits.weight = embedding.weight

    def forward(self, *parts: Tensor) -> Tensor:
        """Return logits (..., vocabulary_size). parts: (..., d_i) each, d_in in total.

        A part that is the same for all tokens may be (..., 1, d_i); it is then multiplied only
        once.
        """
        weights = self.to_embedding.weight.split([part.shape[-1] for part in parts], dim=1)
        products = [F.linear(part, W) for part, W in zip(parts, weights, strict=True)]
        return self.to_logits(sum(products[1:], products[0]) + self.to_embedding.bias)


def _one_vector(memory: Memory) -> Tensor:
    if memory.context is None:
        raise ValueError("a recurrent decoder starts from one vector of the source; here is none")
    return memory.context


class BottleneckDecoder(nn.Module):
    """A GRU that knows the source only through the context vector `c` (Cho et al. 2014).

    `c` sets its first state and is an input of every step, so the state need not remember it.
    """

    def __init__(self, vocabulary_size: int, d_context: int, d_hidden: int) -> None:
        """d_context: the width of `c`. d_hidden: the width of the decoder's state."""
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, D_EMBEDDING)
        self.to_state = nn.Linear(d_context, d_hidden)
        self.rnn = nn.GRU(D_EMBEDDING + d_context, d_hidden, batch_first=True)
        self.read_out = ReadOut(d_hidden + d_context + D_EMBEDDING, self.embedding)

    def start(self, memory: Memory) -> Tensor:
        """Return the first state (B, d_h)."""
        return self.to_state(_one_vector(memory)).tanh()

    def step(
        self, previous: Tensor, state: Tensor, memory: Memory
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """See `Decoder.step`; this decoder never looks at the source tokens."""
        logits, state = self._run(previous[:, None], state, _one_vector(memory))
        return logits[:, 0], state, None

    def forward(self, inputs: Tensor, memory: Memory) -> tuple[Tensor, Tensor | None]:
        """See `Decoder.forward`. The part of `c` is the same at every step, and computed once."""
        return self._run(inputs, self.start(memory), _one_vector(memory))[0], None

    def _run(self, inputs: Tensor, state: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        embedded = self.embedding(inputs)  # (B, m, d_e)
        W_input, W_state, bias, state_bias = _parameters(self.rnn)
        W_word, W_context = W_input.split([D_EMBEDDING, context.shape[-1]], dim=1)
        told = F.linear(embedded.transpose(0, 1), W_word, bias)  # (m, B, 3 d_h)
        told = told + F.linear(context, W_context)  # the same at every step
        states = gru(told, state, W_state, state_bias).transpose(0, 1)
        return self.read_out(states, context[:, None], embedded), states[:, -1]


class AttentionDecoder(nn.Module):
    """A GRU that looks at every encoder state before each step (Bahdanau et al. 2015)."""

    def __init__(self, vocabulary_size: int, d_context: int, d_hidden: int) -> None:
        """d_context: the width of an encoder state. d_hidden: the width of a decoder state."""
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, D_EMBEDDING)
        self.to_state = nn.Linear(d_context, d_hidden)
        self.W_s = nn.Linear(d_hidden, d_hidden, bias=False)
        self.W_h = nn.Linear(d_context, d_hidden, bias=False)
        self.v = nn.Linear(d_hidden, 1, bias=False)
        self.rnn = nn.GRUCell(D_EMBEDDING + d_context, d_hidden)
        self.read_out = ReadOut(d_hidden + d_context + D_EMBEDDING, self.embedding)

    def start(self, memory: Memory) -> tuple[Tensor, Tensor]:
        """Return the first state (B, d_h), and the source's side of the scores (B, n, d_h)."""
        return self.first_state(memory), self.W_h(memory.states)

    def first_state(self, memory: Memory) -> Tensor:
        """Return the state (B, d_h) before the first step."""
        found: Tensor = self.to_state(_one_vector(memory)).tanh()
        return found

    def step(
        self, previous: Tensor, state: tuple[Tensor, Tensor], memory: Memory
    ) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor | None]:
        """See `Decoder.step`."""
        embedded = self.embedding(previous)  # (B, d_e)
        s, context, weights = self._look(embedded, *state, memory)
        return self.read_out(s, context, embedded), (s, state[1]), weights

    def forward(self, inputs: Tensor, memory: Memory) -> tuple[Tensor, Tensor | None]:
        """See `Decoder.forward`.

        The same steps as in `_look`, with the backward pass written out.
        """
        embedded = self.embedding(inputs)  # (B, m, d_e)
        s, source_side = self.start(memory)
        sizes = [D_EMBEDDING, memory.states.shape[-1]]
        W_word, W_context = self.rnn.weight_ih.split(sizes, dim=1)
        words = embedded.transpose(0, 1)  # (m, B, d_e): all are known before the first step
        found = look_and_move(
            F.linear(words, W_word, self.rnn.bias_ih),
            s,
            (source_side, memory.states, memory.mask),
            self.W_s.weight,
            self.v.weight[0],
            W_context,
            self.rnn.weight_hh,
            self.rnn.bias_hh,
        )
        states, contexts, weights = (one.transpose(0, 1) for one in found)
        return self.read_out(states, contexts, embedded), weights

    def _look(
        self, embedded: Tensor, s: Tensor, source_side: Tensor, memory: Memory
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Attend to the source and update the state: chapter 2's `attention_decoder_step`."""
        scores = self.v((self.W_s(s)[:, None] + source_side).tanh())[..., 0]  # (B, n)
        weights = scores.masked_fill(~memory.mask, -torch.inf).softmax(dim=-1)
        context = (weights[:, None] @ memory.states)[:, 0]  # (B, d_c)
        return self.rnn(torch.cat([embedded, context], dim=-1), s), context, weights
