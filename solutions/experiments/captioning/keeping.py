"""Trained captioners as bytes, for the page that runs them."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import torch
from safetensors.torch import load, save

from ...data.pictures import VOCABULARY
from ...translators.keeping import ABOUT, PRECISION
from .captioner import D_EMBEDDING, Captioner

COUNT = "num_batches_tracked"
"""The counters of batch normalisation, which only training needs."""


def as_bytes(state: Mapping[str, np.ndarray]) -> bytes:
    """Return a captioner that attends as safetensors, for `from_bytes`.

    state: name -> weights and statistics of the batch normalisation. The same captioner gives the
    same bytes.
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
    kept = load(data)
    model = Captioner(told=kept["rnn.weight_ih"].shape[1] - D_EMBEDDING)
    state = {name: one.to(torch.float32) for name, one in kept.items()}
    counts = {name: one for name, one in model.state_dict().items() if name.endswith(COUNT)}
    model.load_state_dict(state | counts)
    return model.eval()
