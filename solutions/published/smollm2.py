"""SmolLM2-135M-Instruct in this course's own `TodayModel`: it reads, writes and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor, nn

from ..today import TodayModel, today_names
from .smollm2_file import SmolLM2File, Vocabulary

SIZES = {
    "vocab_size": 49_152,
    "d_model": 576,
    "n_heads": 9,
    "n_kv_heads": 3,
    "d_ff": 1536,
    "n_layers": 30,
    "base": 100_000.0,
    "eps": 1e-5,
}
CONTEXT = 8192
"""The largest number of tokens that the model was trained to read."""

BEGIN, END = "<|im_start|>", "<|im_end|>"
"""The tokens that begin and end a turn of a conversation."""

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
"""The system message at the start of every conversation in training."""


class SmolLM2:
    """The published language model, made of this course's blocks or of yours."""

    def __init__(
        self, model: Callable[..., nn.Module] = TodayModel, dtype: torch.dtype = torch.float32
    ) -> None:
        """model: makes the model with the sizes in `SIZES`: your own `TodayModel`, for example.

        dtype: the type of the weights; bfloat16 takes half the memory and is less exact. Raises
        PublishedFileError, with the command to type in its message, if the file or a package is
        missing, and ValueError if the model's parameters have other names or shapes.
        """
        file = SmolLM2File()
        with torch.device("meta"):
            self.model = model(**SIZES)
        fill(self.model, file, dtype)
        vocabulary = file.vocabulary()
        self.tokenizer = tokenizer_of(vocabulary)
        self.begin, self.end = (vocabulary.tokens.index(one) for one in (BEGIN, END))

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text. The beginning or end mark of a turn is read as ordinary text.

        Raises TypeError if the argument is not text, and ValueError for more than `CONTEXT` tokens.
        """
        if not isinstance(text, str):
            raise TypeError(
                f"the prompt is {type(text).__name__}, not text: decode it first, as in "
                "data.decode('utf-8')"
            )
        found: list[int] = self.tokenizer.encode(text).ids
        return found

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of `ids`; invalid UTF-8 becomes the replacement character."""
        said: str = self.tokenizer.decode(list(ids), skip_special_tokens=False)
        return said

    def question(self, turns: Sequence[str]) -> list[int]:
        """Return the ids of a conversation in which the model speaks next.

        turns: your messages and the model's answers, alternating; yours are the first and the last.
        """
        line = self.ids("\n")

        def turn(who: str, said: str) -> list[int]:
            return [self.begin, *self.ids(f"{who}\n{said}"), self.end, *line]

        found: list[int] = turn("system", SYSTEM)
        for number, said in enumerate(turns):
            found += turn(("user", "assistant")[number % 2], said)
        return [*found, self.begin, *self.ids("assistant\n")]

    @torch.no_grad()
    def logits(self, ids: Tensor) -> Tensor:
        """Return the logits (batch, n, vocab_size). ids: (batch, n), n at least 1."""
        found: Tensor = self.model(checked(ids))[0]
        return found

    @torch.no_grad()
    def write(self, ids: Sequence[int], most: int) -> Iterator[int]:
        """Continue `ids` with the likeliest next token each time, using a cache.

        Stops before the end mark of a turn, after `most` tokens, or when the context is full.
        Raises ValueError for no token or for more than `CONTEXT` tokens.
        """
        seen = checked(torch.tensor([list(ids)], dtype=torch.long))
        length = seen.shape[1]
        caches = None
        for _ in range(min(most, CONTEXT - length)):
            logits, caches = self.model(seen, caches)
            token = int(logits[0, -1].argmax())
            if token == self.end:
                return
            yield token
            seen = torch.tensor([[token]])


def checked(ids: Tensor) -> Tensor:
    """Return the ids (batch, n). Raises ValueError for no token or for more than `CONTEXT`."""
    n = ids.shape[-1]
    if n == 0:
        raise ValueError("there is no token to go on from: the prompt is empty")
    if n > CONTEXT:
        raise ValueError(
            f"the prompt has {n:,} tokens, and the model reads {CONTEXT:,}: shorten it"
        )
    return ids


def tokenizer_of(vocabulary: Vocabulary) -> Tokenizer:
    """Return the tokenizer: byte pairs within words, where each digit is a separate word."""
    ids = {token: at for at, token in enumerate(vocabulary.tokens)}
    pairs = (one.partition(" ") for one in vocabulary.merges)
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=[(first, last) for first, _, last in pairs]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    control = [vocabulary.tokens[one] for one in vocabulary.control]
    tokenizer.add_special_tokens([AddedToken(one, normalized=False) for one in control])
    tokenizer.encode_special_tokens = True
    return tokenizer


def fill(model: nn.Module, file: SmolLM2File, dtype: torch.dtype) -> None:
    """Load the file's weights, one at a time, into a model on the meta device.

    Raises ValueError if a name or a shape differs.
    """
    own = {name: tuple(one.shape) for name, one in model.named_parameters()}
    names = today_names(file.names)
    if missing := sorted(own.keys() ^ set(names.values())):
        raise ValueError(f"the published model and yours differ in {missing[0]!r}")
    state = {}
    for published, weights in file.weights():
        name = names[published]
        if own[name] != weights.shape:
            raise ValueError(f"{name!r} has shape {own[name]}, and the weights {weights.shape}")
        state[name] = torch.from_numpy(weights).to(dtype)
    model.load_state_dict(state, assign=True)
    model.eval().requires_grad_(False)
