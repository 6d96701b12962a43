"""The exercise `greedy_translate`: a batch of sentences that end at different steps. To debug."""

import numpy as np
import torch

from autograder.exercise.declaring import Case, Declaration, Kind, SourceFunction, Tensor
from solutions.variants import translating as solutions

greedy_translate = Declaration(
    solutions.greedy_translate,
    points=3,
    difficulty=2,
    minutes=15,
    kind=Kind.DEBUG,
    help=(
        "Only one line is wrong. Follow two sentences on paper, one of which ends two steps "
        "before the other.",
        "Print `ended` after each step for a batch whose sentences have different lengths. It "
        "should never go from True to False.",
        "Section “A Transformer of your own”: the same search for one sentence.",
    ),
)


@greedy_translate.right
def sentence_by_sentence(model, sources, start, stop, pad, max_len):
    rows: list = []
    for source in sources:
        row = [start]
        while len(row) <= max_len and (len(row) == 1 or stop not in row[1:]):
            logits = model(source[None], torch.tensor([row]))
            row.append(int(logits[0, -1].argmax()))
        rows.append(row[1:])
    longest = max(map(len, rows), default=0)
    table = torch.full((len(rows), longest), pad)
    for i, row in enumerate(rows):
        table[i, : len(row)] = torch.tensor(row, dtype=torch.int64)
    return table


@greedy_translate.right
def padded_afterwards(model, sources, start, stop, pad, max_len):
    inputs = sources.new_full((sources.shape[0], 1), start)
    for _ in range(max_len):
        if bool((inputs[:, 1:] == stop).any(dim=1).all()):
            break
        best = model(sources, inputs).max(dim=-1).indices
        inputs = torch.cat((inputs, best[:, -1:]), dim=-1)
    tokens = inputs[:, 1:]
    before = (tokens == stop).long().cumsum(dim=1) - (tokens == stop).long()
    return tokens.masked_fill(before > 0, pad)


@greedy_translate.right
def open_rows_only(model, sources, start, stop, pad, max_len):
    table = torch.full((len(sources), max_len + 1), pad)
    table[:, 0] = start
    opened = torch.arange(len(sources))
    length = 0
    while length < max_len and len(opened):
        logits = model(sources[opened], table[opened, : length + 1])
        length += 1
        table[opened, length] = logits[:, -1].sort(dim=-1, descending=True, stable=True)[1][:, 0]
        opened = opened[table[opened, length] != stop]
    return table[:, 1 : length + 1]


@greedy_translate.wrong(
    "the end forgotten after one step",
    "A sentence ended two steps ago, and its neighbours go on. What does `ended` say about it now?",
    released=True,
)
def given(model, sources, start, stop, pad, max_len):
    written = torch.full((len(sources), 1), start)
    ended = torch.zeros(len(sources), dtype=torch.bool)
    while written.shape[1] <= max_len and not ended.all():
        following = model(sources, written)[:, -1].argmax(dim=-1)
        following = torch.where(ended, pad, following)
        ended = following == stop
        written = torch.cat([written, following[:, None]], dim=1)
    return written[:, 1:]


plain = greedy_translate.right(
    given.edit("ended = following == stop", "ended = ended | (following == stop)")
)
greedy_translate.wrong(
    "over when the first ends",
    "One sentence of three has ended. May the other two be cut off there?",
    plain.edit("ended.all", "ended.any").edit("following = torch.where(ended, pad, following)", ""),
)
greedy_translate.wrong(
    "written on after the end",
    "A sentence has ended, and another has not. What should the first one's row contain from "
    "then on?",
    plain.edit("following = torch.where(ended, pad, following)", ""),
)
greedy_translate.wrong(
    "stop replaced by padding",
    "Which is the last token of a sentence that has ended: `stop`, or the one before?",
    plain.edit(
        "following = torch.where(ended, pad, following)\nended = ended | (following == stop)",
        "ended = ended | (following == stop)\nfollowing = torch.where(ended, pad, following)",
    ),
)
greedy_translate.wrong(
    "start kept",
    "Did the model write `start`, or did you?",
    plain.edit("return written[:, 1:]", "return written"),
)
greedy_translate.wrong(
    "always to the last step",
    "All sentences have ended after four tokens, and `max_len` is 9. How many columns does the "
    "result have?",
    plain.edit("while written.shape[1] <= max_len and not ended.all()", "for _ in range(max_len)"),
)
greedy_translate.wrong(
    "one token too few",
    "`max_len` is 1. How many tokens may be written? Does `start` count?",
    plain.edit("<= max_len", "< max_len"),
)
greedy_translate.wrong(
    "the first row of the logits",
    "Three tokens are written. Which row of the logits scores the fourth?",
    plain.edit("[:, -1].argmax", "[:, 0].argmax"),
)
greedy_translate.wrong(
    "the last token alone shown to the model",
    "What does the model need to read before it can say what comes fourth?",
    plain.edit("model(sources, written)", "model(sources, written[:, -1:])"),
)
greedy_translate.wrong(
    "padding taken for the end",
    "The model chose the id of `pad` in the middle of a sentence. Has the sentence ended?",
    plain.edit("ended | (following == stop)", "(following == stop) | (following == pad)"),
)


COPIES = SourceFunction(
    "model",
    """
def model(sources, inputs):
    # copies the source; after the end it would go on with whatever is there, and then start again
    places = np.arange(inputs.shape[1]) % sources.shape[1]
    ids = sources.new_tensor(range(10))
    return -(ids - sources[:, places, None]).double().abs()
""",
)
"Ten ids; the model ignores what has been written."


WALKS = SourceFunction(
    "model",
    """
def model(sources, inputs):
    # each token is the sum of the one before and of a token of the source, modulo 10
    places = np.arange(inputs.shape[1]) % sources.shape[1]
    ids = sources.new_tensor(range(10))
    return -(ids - ((sources[:, places] + inputs) % 10)[..., None]).float().abs()
""",
)
"Ten ids; from a different beginning the model writes a different sentence."


@greedy_translate.public
def _(rng):
    one = _ids([[5, 4, 2, 7, 7]])
    yield Case("one sentence", (COPIES, one, 1, 2, 0, 9)).holds(
        "model(sources, inputs) is a trained Transformer: of ids (batch, i) that begin with "
        "`start` it returns logits (batch, i, V), and row j scores what follows token j.",
        "sources: ids (batch, n); the batch may be empty.",
    )
    several = _ids([[5, 4, 2, 7, 7, 8], [6, 2, 5, 5, 3, 9], [3, 8, 9, 4, 2, 6]])
    yield Case("three lengths", (COPIES, several, 1, 2, 0, 9)).holds(
        "sources: ids…",
        "A sentence ends with its first `stop`, which belongs to it; behind it its row holds "
        "`pad`.",
        "Returns ids (batch, m), without `start`; m is the number of tokens of the longest "
        "sentence.",
    )
    yield Case("room for three tokens", (COPIES, several, 1, 2, 0, 3)).holds(
        "The search is over when all sentences have ended, or when `max_len` tokens are written, "
        "0 or more."
    )
    yield Case("no room at all", (COPIES, several, 1, 2, 0, 0)).holds("The search…")
    yield Case("room for one token", (COPIES, _ids([[2, 4, 4], [4, 2, 4]]), 1, 2, 0, 1))
    yield Case("all of one length", (COPIES, _ids([[5, 4, 2, 7], [6, 3, 2, 8]]), 1, 2, 0, 9)).holds(
        "The search…", "Returns ids…"
    )
    yield Case("no sentence ends", (COPIES, _ids([[5, 4], [6, 3]]), 1, 2, 0, 5)).holds(
        "The search…"
    )
    yield Case("sources of one token", (COPIES, _ids([[2], [5]]), 1, 2, 0, 3))
    yield Case(
        "padding chosen as a token", (COPIES, _ids([[5, 0, 4, 2], [2, 5, 6, 6]]), 1, 2, 0, 9)
    ).holds("A `pad` that is chosen before the end is a token like any other.")
    yield Case("an empty batch", (COPIES, Tensor(np.zeros((0, 4), dtype=int)), 1, 2, 0, 6)).holds(
        "sources: ids…"
    )
    yield _drawn(rng, "what is written matters", 3).holds("model(sources, inputs)…")
    yield _drawn(rng, "another padding, start and stop", 4).holds("A sentence…")


@greedy_translate.hidden
def _(rng):
    yield _drawn(rng, "one sentence", 1)
    yield _drawn(rng, "two sentences", 2)
    yield _drawn(rng, "what is written matters", 5)
    yield _drawn(rng, "another padding, start and stop", 4)
    words = rng.integers(3, 9, size=(3, 6))
    words[0, 1] = words[1, 4] = words[2, 3] = 2
    yield Case("three lengths", (COPIES, _ids(words), 1, 2, 0, 9))
    yield Case("room for three tokens", (COPIES, _ids(words), 1, 2, 0, 3))
    yield Case("no sentence ends", (COPIES, _ids(rng.integers(3, 9, size=(2, 3))), 1, 2, 0, 7))
    pads = words.copy()
    pads[1, 1] = pads[2, 0] = 0
    yield Case("padding chosen as a token", (COPIES, _ids(pads), 1, 2, 0, 9))
    yield Case("no room at all", (COPIES, _ids(words), 1, 2, 0, 0))
    yield Case("sources of one token", (COPIES, _ids([[4], [2]]), 1, 2, 0, 3))


def _ids(rows: object) -> Tensor:
    return Tensor(np.array(rows))


def _drawn(rng: np.random.Generator, note: str, batch: int) -> Case:
    """Sentences of different lengths, all of which end in time, under drawn ids."""
    while True:
        start, stop, pad = (int(one) for one in rng.permutation(10)[:3])
        sources = rng.integers(1, 10, size=(batch, int(rng.integers(4, 8))))
        found = solutions.greedy_translate(
            WALKS.load(), torch.from_numpy(sources), start, stop, pad, 12
        ).numpy()
        lengths = {int(row.tolist().index(stop)) for row in found if stop in row}
        ended = all(stop in row for row in found) and found.shape[1] > 3
        if ended and len(lengths) >= min(batch, 3) and min(lengths) > 0:
            return Case(note, (WALKS, Tensor(sources), start, stop, pad, 12))
