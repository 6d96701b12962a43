"""The looks of a trained decoder, compared with the gold alignment.

The decoder reads the reference translation (teacher forcing), so each row of its weights
corresponds to the gold row of the same token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from ...alignment import alignment_error_rate
from ...data.translation import Pair
from ...drawing.plots import heatmap, new_axes
from ...drawing.shapes import outline
from ...drawing.theme import COLOURS, HEAT, RULE
from ...translators.machines import CLAUSES
from ...translators.quality import held_out_pairs
from ...translators.quality_by_length import LANGUAGE
from ...translators.seq2seq import Seq2Seq
from ...translators.training import Task, tensors

MAPPED, SENTENCES = (3, 60), 200
"""Source tokens (almost any number) and number of the sentences whose maps are read."""


def mapped_pairs() -> list[Pair]:
    """Return the test sentences whose maps are read, for all machines and seeds."""
    return held_out_pairs(LANGUAGE, MAPPED, SENTENCES, CLAUSES)


@dataclass(frozen=True)
class Map:
    """The decoder's reading of a pair of sentences with m target and n source tokens.

    weights: (m, n), a row for each target token. right: (m,) boolean, whether the token of the
    reference was the likeliest.
    """

    pair: Pair
    weights: np.ndarray
    right: np.ndarray


def gold_tables(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return the sure and the possible links of `pair`, boolean (m, n) each."""
    tables = np.zeros((2, len(pair.target), len(pair.source)), dtype=bool)
    for table, links in zip(tables, (pair.sure, pair.possible), strict=True):
        for i, j in links:
            table[i, j] = True
    return tables[0], tables[1]


@torch.no_grad()
def read_maps(model: Seq2Seq, task: Task, pairs: Sequence[Pair]) -> list[Map]:
    """Read `model`'s weights for each token of the references of `pairs` (teacher forcing).

    Raises ValueError if the model's decoder does not look.
    """
    sources, lengths, targets = tensors(task.batch(pairs))  # targets (B, m + 2)
    logits, looks = model(sources, lengths, targets[:, :-1])  # the last token predicts [STOP]
    if looks is None:
        raise ValueError("a decoder that does not look at its source has no map")
    right = (logits.argmax(dim=-1) == targets[:, 1:]).cpu().numpy()  # (B, m + 1)
    weights = looks.cpu().numpy()
    sizes = [(len(pair.target), len(pair.source)) for pair in pairs]
    return [
        Map(pair, weights[k, :m, :n], right[k, :m])
        for k, (pair, (m, n)) in enumerate(zip(pairs, sizes, strict=True))
    ]


def stacked(
    tables: Sequence[np.ndarray], sure: Sequence[np.ndarray], possible: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stack the tables of many pairs, padded with zeros on the right, to one large problem.

    Its alignment error rate counts the links of all pairs together, as Och and Ney do.
    """
    widest = max(table.shape[1] for table in tables)
    wide = (
        np.concatenate([np.pad(one, ((0, 0), (0, widest - one.shape[1]))) for one in column])
        for column in (tables, sure, possible)
    )
    weights, all_sure, all_possible = wide
    return weights, all_sure, all_possible


def error_rate(tables: Sequence[np.ndarray], pairs: Sequence[Pair]) -> float:
    """Return the alignment error rate of all maps together, over the sum of their links."""
    gold = [gold_tables(pair) for pair in pairs]
    return alignment_error_rate(*stacked(tables, *zip(*gold, strict=True)))


def diagonal(pair: Pair) -> np.ndarray:
    """Return the map (m, n) that looks at the same relative position, regardless of the words."""
    return diagonal_of(len(pair.target), len(pair.source))


def diagonal_of(m: int, n: int) -> np.ndarray:
    """Return the diagonal map for m target and n source tokens."""
    return np.eye(n)[np.round(np.linspace(0, n - 1, m)).astype(int)]


def weight_scale(ax: Axes) -> None:
    """Draw the scale of weights below a heatmap."""
    scale = ax.inset_axes((0, -0.1, 0.4, 0.035))
    shares = np.linspace(0, 1, 21)
    for share in shares[:-1]:
        scale.add_patch(Rectangle((share, 0), 0.05, 1, fc=to_rgba(HEAT, share + 0.025), lw=0))
    scale.set(xlim=(0, 1), ylim=(0, 1))
    scale.set_yticks([])
    scale.set_xticks([0, 0.5, 1], ["0", "0.5", "1"], fontsize=10)
    scale.tick_params(length=2)
    scale.set_ylabel("weight", fontsize=10, rotation=0, ha="right", va="center")
    for spine in scale.spines.values():
        spine.set_edgecolor(RULE)


def alignment_heatmap(weights: np.ndarray, pair: Pair) -> Axes:
    """Draw a map with the gold links: a box for a sure link, a dashed box for a possible link."""
    m, n = weights.shape
    ax = new_axes(1.6 + 0.34 * n, 1.7 + 0.32 * m)  # narrow, because it has no numbers
    heatmap(weights, pair.target, pair.source, ax=ax, annotate=False)
    ax.tick_params(axis="x", rotation=90)
    for i, j in sorted(pair.possible):
        style = "-" if (i, j) in pair.sure else (0, (2, 1.5))
        outline(ax, (j - 0.42, i - 0.42), 0.84, 0.84, COLOURS[1], 2, style)
    weight_scale(ax)
    return ax


def map_with_a_gap(
    weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], gap: range
) -> Axes:
    """Draw a small map of a long sentence, with a dashed frame around the columns of `gap`."""
    m, n = weights.shape
    ax = new_axes(1.1 + 0.19 * n, 1.3 + 0.19 * m)
    heatmap(weights, rows, columns, ax=ax, annotate=False)
    ax.tick_params(axis="x", rotation=90, labelsize=9)
    ax.tick_params(axis="y", labelsize=9)
    outline(ax, (gap.start - 0.5, -0.5), len(gap), m, COLOURS[1], 2, (0, (2, 1)))
    weight_scale(ax)
    return ax
