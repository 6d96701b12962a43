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


def as_bytes(measured: Measured) -> bytes:
    """Return of a training what `from_bytes` needs to have its machine again: safetensors."""
    sides = (measured.task.source_vocabulary, measured.task.target_vocabulary)
    about = {"name": measured.name, "vocabularies": json.dumps([list(one.tokens) for one in sides])}
    state = {name: torch.from_numpy(array).to(PRECISION) for name, array in measured.state.items()}
    return save(state, about)


def from_bytes(data: bytes) -> tuple[Seq2Seq, Task]:
    """Return the trained machine, and its task without the pairs."""
    length = int.from_bytes(data[:8], "little")  # of the header, which is JSON
    about = json.loads(data[8 : 8 + length])["__metadata__"]
    source, target = (Vocabulary(tokens) for tokens in json.loads(about["vocabularies"]))
    model = MACHINES[about["name"]][0](len(source), len(target))
    model.load_state_dict({name: one.to(torch.float32) for name, one in load(data).items()})
    return model.to(DEVICE).eval(), Task((), source, target)
