"""Hide a source word from the decoder while it writes a target word, and see what is lost.

The decoder reads the reference (teacher forcing). At a single step, it may not look at one of the
encoder's states: the weights are shared among the rest. The encoder has read the whole sentence, so
the states of the neighbours still carry information about the hidden word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ...data.translation import Pair
from ...data.translation.words import POSSESSIVES, PRONOUNS, THE, THIS, A
from ...translators.seq2seq import Memory, Seq2Seq
from ...translators.training import Task, tensors
from .maps import Map

HIDDEN = ("peak", "gold", "other", "random", "both", "gold and third")
"""The choice of the hidden word.

"peak" has the largest weight; "gold" is the gold word; "other" has the largest weight except the
gold word; "random" is any word except the gold word and the peak. With two hidden words, "both" is
gold and other; in "gold and third", the third word has the largest weight except these two.
"""

RATIO, LEAST = 1.5, 0.1
"""The bounds for equally weighted words; see `Trials.equally_weighted`."""

KINDS = ("content", "function", "mark")
MARKS = {",", ".", "?"}
FUNCTION = {
    *(form for one in (THE, A, THIS, *POSSESSIVES) for form in one.french if form),
    *(pronoun.french for pronoun in PRONOUNS),
    *("l'", "cet", "du", "des", "au", "aux", "de", "d'", "à", "dans", "sur", "et", "mais"),
    *("que", "qu'", "qui", "si", "s'", "ne", "n'", "est-ce", "j'", "-vous"),
    *("parce", "quand", "pendant", "dès", "tant"),
}
"""French articles, pronouns, prepositions and conjunctions. All other words are content words."""


@dataclass(frozen=True)
class Trials:
    """Target words of N trials, and whether each is lost if a source word is hidden.

    Every target word was right before, and has one gold word. Columns are those of HIDDEN. places:
    (N, 2), the pair and the target token. kinds: (N,), indices of KINDS. agrees: (N,), whether the
    peak is the gold word. weights: (N, 6), the weights that are hidden. lost: (N, 6).
    """

    places: np.ndarray
    kinds: np.ndarray
    agrees: np.ndarray
    weights: np.ndarray
    lost: np.ndarray

    def losses(self, hidden: str, among: np.ndarray | None = None) -> float:
        """Return the share of words lost with `hidden`; `among` (N,) selects the words to count."""
        lost = self.lost[:, HIDDEN.index(hidden)]
        return float(lost[among].mean() if among is not None else lost.mean())

    def equally_weighted(self) -> np.ndarray:
        """Return a boolean (N,): content words whose gold word and another word weigh the same.

        That is, the two weights differ by at most a factor of RATIO, and each is at least LEAST.
        """
        two = self.weights[:, [HIDDEN.index("gold"), HIDDEN.index("other")]]
        small, large = two.min(axis=1), two.max(axis=1)
        alike: np.ndarray = (small >= LEAST) & (large <= RATIO * small)
        return alike & (self.kinds == "content")


def kind_of(token: str) -> str:
    """Return the kind of a French token, one of KINDS."""
    return "mark" if token in MARKS else "function" if token in FUNCTION else "content"


def one_gold_word(pair: Pair, row: int) -> int | None:
    """Return the source position of a target token's only link; None unless it has exactly one."""
    positions = [source for target, source in pair.possible if target == row]
    return positions[0] if len(positions) == 1 and (row, positions[0]) in pair.sure else None


def choose(weights: np.ndarray, gold: int, rng: np.random.Generator) -> list[list[int]]:
    """Return the source positions that each of HIDDEN hides, for one row of weights (n,).

    Raises ValueError if there are fewer than three words to choose from.
    """
    if len(weights) < 3:
        raise ValueError(f"{len(weights)} source words are too few to hide gold and another two")
    peak = int(weights.argmax())
    falling = np.argsort(-weights, kind="stable")
    other, third = (int(j) for j in falling[falling != gold][:2])
    left = [j for j in range(len(weights)) if j not in (gold, peak)]
    drawn = left[rng.integers(len(left))]
    return [[peak], [gold], [other], [drawn], [gold, other], [gold, third]]


def hide(model: Seq2Seq, task: Task, maps: Sequence[Map], seed: int) -> Trials:
    """Try every word of `maps` that was right and has one gold word with each of HIDDEN."""
    rng = np.random.default_rng(seed)
    tables = [[np.zeros(one.weights.shape, dtype=bool) for one in maps] for _ in HIDDEN]
    places, chosen = [], []
    for k, one in enumerate(maps):
        for i in np.flatnonzero(one.right):
            gold = one_gold_word(one.pair, int(i))
            if gold is not None:
                places.append((k, int(i)))
                chosen.append(choose(one.weights[i], gold, rng))
                for table, positions in zip(tables, chosen[-1], strict=True):
                    table[k][i, positions] = True
    found = right_without(model, task, [one.pair for one in maps], tables)
    weights = [
        [maps[k].weights[i, positions].sum() for positions in hidden]
        for (k, i), hidden in zip(places, chosen, strict=True)
    ]
    return Trials(
        places=np.array(places),
        kinds=np.array([kind_of(maps[k].pair.target[i]) for k, i in places]),
        agrees=np.array([peak == gold for peak, gold, *_ in chosen]),
        weights=np.array(weights),
        lost=np.array([[not right[k][i] for right in found] for k, i in places]),
    )


@torch.no_grad()
def right_without(
    model: Seq2Seq, task: Task, pairs: Sequence[Pair], tables: Sequence[Sequence[np.ndarray]]
) -> list[list[np.ndarray]]:
    """Return which target tokens are right if source tokens are hidden during their steps.

    tables: for each experiment and each pair a boolean (m, n), True if source token n is hidden at
    the step of target token m. Some token must stay visible. Returns for each experiment and each
    pair a boolean (m,). The state for the next step is computed without hiding.
    """
    sources, lengths, targets = tensors(task.batch(pairs))
    memory = model.encode(sources, lengths)
    hidden = torch.zeros(len(tables), *targets.shape, sources.shape[1], dtype=torch.bool)
    for table, padded in zip(tables, hidden, strict=True):
        for k, one in enumerate(table):
            padded[k, : one.shape[0], : one.shape[1]] = torch.from_numpy(one)
    hidden = hidden.to(sources.device)
    right = torch.zeros(len(tables), *targets.shape, dtype=torch.bool, device=sources.device)
    state = None
    for i in range(targets.shape[1] - 2):
        for e in range(len(tables)):
            seen = Memory(memory.states, memory.mask & ~hidden[e, :, i], memory.context)
            logits, _, _ = model.decode_step(targets[:, i], state, seen)
            right[e, :, i] = logits.argmax(dim=-1) == targets[:, i + 1]
        _, state, _ = model.decode_step(targets[:, i], state, memory)
    found = right.cpu().numpy()
    return [[rows[k, : len(pair.target)] for k, pair in enumerate(pairs)] for rows in found]
