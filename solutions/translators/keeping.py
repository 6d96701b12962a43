"""Trained machines as plain data, so that an appendix can ask what its chapter has trained."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import torch

from ..data.translation import Vocabulary
from .quality_by_length import MACHINES, Measured
from .seq2seq import Seq2Seq
from .training import DEVICE, Task


def as_plain(measured: Measured) -> dict[str, Any]:
    """Return of a training what `from_plain` needs to have its machine again, in JSON's types."""
    sides = (measured.task.source_vocabulary, measured.task.target_vocabulary)
    return {
        "name": measured.name,
        "vocabularies": [list(side.tokens) for side in sides],
        "state": {
            name: [list(array.shape), base64.b64encode(array.astype("<f4").tobytes()).decode()]
            for name, array in measured.state.items()
        },
    }


def from_plain(data: dict[str, Any]) -> tuple[Seq2Seq, Task]:
    """Return the trained machine, and its task without the pairs."""
    source, target = (Vocabulary(tokens) for tokens in data["vocabularies"])
    model = MACHINES[data["name"]][0](len(source), len(target))
    state = {
        name: np.frombuffer(base64.b64decode(text), "<f4").reshape(shape).copy()
        for name, (shape, text) in data["state"].items()
    }
    model.load_state_dict({name: torch.from_numpy(array) for name, array in state.items()})
    return model.to(DEVICE).eval(), Task((), source, target)
