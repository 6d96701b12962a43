"""Baselines of the score-function estimator: what a decoder's state leads one to expect.

The linear one is fitted by least squares. The moving average is that of Xu et al. (2015), section
4.1. Recent draws count more in both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from .captioner import D_STATE

KEPT = 0.95
"""The weight of a batch in a fit, relative to the next batch."""


class Baseline(Protocol):
    """An expected reward that no current draw enters, and that learns from past ones."""

    def fit(self, states: Tensor, rewards: Tensor) -> None:
        """Learn from N draws. states: (N, d). rewards: (N,)."""

    def __call__(self, states: Tensor) -> Tensor:
        """Return the expected rewards (...) in the states (..., d)."""


class Linear:
    """A linear function of the decoder's state."""

    def __init__(self) -> None:
        """Start without draws."""
        self.square = torch.eye(D_STATE + 1) / 100
        self.product = torch.zeros(D_STATE + 1)
        self.solution = torch.zeros(D_STATE + 1)

    @torch.no_grad()
    def fit(self, states: Tensor, rewards: Tensor) -> None:
        """Add N draws to the least-squares fit. states: (N, d). rewards: (N,)."""
        table = torch.cat([states, torch.ones(len(states), 1)], dim=-1)  # (N, d + 1)
        self.square = KEPT * self.square + table.T @ table
        self.product = KEPT * self.product + table.T @ rewards
        self.solution = torch.linalg.solve(self.square, self.product)

    @torch.no_grad()
    def __call__(self, states: Tensor) -> Tensor:
        """Return the expected rewards (...) in the states (..., d)."""
        return states @ self.solution[:-1] + self.solution[-1]


class MovingAverage:
    """One number for all states."""

    def __init__(self) -> None:
        """Start without draws."""
        self.total, self.count = torch.zeros(()), 0.0

    @torch.no_grad()
    def fit(self, states: Tensor, rewards: Tensor) -> None:
        """Add N draws to the average. states: (N, d), unused. rewards: (N,)."""
        self.total = KEPT * self.total + rewards.sum()
        self.count = KEPT * self.count + len(rewards)

    @torch.no_grad()
    def __call__(self, states: Tensor) -> Tensor:
        """Return the average for the states (..., d): (...)."""
        return (self.total / max(self.count, 1)).expand(states.shape[:-1])


class Nothing:
    """No baseline: 0, whatever was drawn."""

    def fit(self, states: Tensor, rewards: Tensor) -> None:
        """Learn nothing."""

    def __call__(self, states: Tensor) -> Tensor:
        """Return 0 for the states (..., d): (...)."""
        return torch.zeros(states.shape[:-1])


BASELINES: dict[str, Callable[[], Baseline]] = {
    "linear": Linear,
    "moving average": MovingAverage,
    "none": Nothing,
}
"""Name -> the function that makes a baseline."""
