"""Trained captioners as bytes, for the page in which they run."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import torch
from safetensors.torch import load, save

from ...data.pictures import VOCABULARY
from ...translators.keeping import ABOUT, PRECISION
from .captioner import Captioner

COUNT = "num_batches_tracked"
"""What batch normalisation counts beside its statistics, and needs in training only."""


def as_bytes(state: Mapping[str, np.ndarray]) -> bytes:
    """Return what `from_bytes` needs to have a captioner that attends again: safetensors.

    state: its weights and the statistics of its batch normalisation, by their names. The same
    captioner gives the same bytes.
    """
    about = {"name": "captioner", "vocabularies": [list(VOCABULARY.tokens)]}
    kept = {
        name: torch.from_numpy(array).to(PRECISION)
        for name, array in state.items()
        if not name.endswith(COUNT)
    }
    return save(kept, {ABOUT: json.dumps(about, sort_keys=True)})


def from_bytes(data: bytes) -> Captioner:
    """Return the trained captioner, in evaluation mode."""
    model = Captioner()
    state = {name: one.to(torch.float32) for name, one in load(data).items()}
    counts = {name: one for name, one in model.state_dict().items() if name.endswith(COUNT)}
    model.load_state_dict(state | counts)
    return model.eval()
