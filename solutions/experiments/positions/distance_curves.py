"""The score of a rotary head by distance: a sum of waves, one for each pair of features.

Averaged over the contents of the records, the score of the question on a record that stands d
positions before it is the sum over i of A_i cos(w_i d + phi_i), where w_i is the speed of pair i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from .length_generalisation import LETTERS, NUMBERS, Reader


@dataclass(frozen=True)
class Curve:
    """A head's waves, a number for each pair of features: (d_head/2,) each."""

    amplitudes: list[float]
    phases: list[float]


@torch.no_grad()
def curves_of(model: Reader, distance: int) -> list[Curve]:
    """Return each head's curve when the question asks for the record `distance` positions back.

    A score is linear in the key, so the mean score is the score of the mean key.
    """
    question, records = vectors(model, distance)
    q, k = model.heads(model.W_q(question)), model.heads(model.W_k(records)).mean(dim=0)
    q, k = q[0, :, 0].double(), k[:, 0].double()  # (HEADS, d_head) each
    # As complex numbers, the query's point times the conjugate of the key's has both lengths
    # multiplied for its length, and the angle between the two for its angle.
    waves = torch.complex(q[:, ::2], q[:, 1::2]) * torch.complex(k[:, ::2], -k[:, 1::2])
    waves = waves / q.shape[-1] ** 0.5  # (HEADS, d_head/2)
    return [Curve(one.abs().tolist(), one.angle().tolist()) for one in waves]


@torch.no_grad()
def mean_scores(model: Reader, distance: int, n: int) -> np.ndarray:
    """Return the model's own mean scores on records 1 to n positions back, (HEADS, n)."""
    question, records = vectors(model, distance)
    X = torch.cat([records.expand(-1, n, -1), question.expand(len(records), 1, -1)], dim=1)
    Q, K = model.heads(model.W_q(X[:, -1:])), model.heads(model.W_k(X))
    Q, K = model.place.turn(Q, K)
    scores = Q @ K.mT / Q.shape[-1] ** 0.5  # (records, HEADS, 1, n + 1)
    return scores.mean(dim=0)[:, 0, :-1].flip(-1).numpy()


def vectors(model: Reader, distance: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the question, (1, 1, d), and each record that there is, (LETTERS NUMBERS, 1, d)."""
    letters = torch.arange(LETTERS).repeat_interleave(NUMBERS)
    records = model.asked(letters) + model.number(torch.arange(NUMBERS).repeat(LETTERS))
    question = model.asked.weight[LETTERS - 1 + distance] + model.number.weight[NUMBERS]
    return question[None, None], records[:, None]


def score_at(curve: Curve, speeds: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Return the sum of the waves at each distance."""
    angles = np.asarray(distance)[..., None] * speeds + curve.phases  # (..., d_head/2)
    return (curve.amplitudes * np.cos(angles)).sum(axis=-1)
