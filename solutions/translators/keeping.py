"""Trained machines as bytes, so that an appendix can ask what its chapter has trained."""

from __future__ import annotations

import json

import torch
from safetensors.torch import load, save

from ..data.translation import Vocabulary
from .quality_by_length import MACHINES, Measured
from .seq2seq import Seq2Seq
from .training import DEVICE, Task

PRECISION = torch.float16
"""In which the weights are kept: half of the size, and three digits of each."""

ABOUT = "machine"
"""The key of what is kept of a machine beside its weights: its name and vocabularies, as JSON."""


def as_bytes(measured: Measured) -> bytes:
    """Return of a training what `from_bytes` needs to have its machine again: safetensors.

    The same machine gives the same bytes: safetensors writes metadata of several keys in an order
    drawn by chance, so there is one key.
    """
    sides = (measured.task.source_vocabulary, measured.task.target_vocabulary)
    about = {"name": measured.name, "vocabularies": [list(one.tokens) for one in sides]}
    state = {name: torch.from_numpy(array).to(PRECISION) for name, array in measured.state.items()}
    return save(state, {ABOUT: json.dumps(about, sort_keys=True)})


def from_bytes(data: bytes) -> tuple[Seq2Seq, Task]:
    """Return the trained machine, and its task without the pairs."""
    length = int.from_bytes(data[:8], "little")  # of the header, which is JSON
    header = json.loads(data[8 : 8 + length])
    about = json.loads(header["__metadata__"][ABOUT])
    source, target = (Vocabulary(tokens) for tokens in about["vocabularies"])
    model = MACHINES[about["name"]][0](len(source), len(target))
    model.load_state_dict({name: one.to(torch.float32) for name, one in load(data).items()})
    return model.to(DEVICE).eval(), Task((), source, target)
