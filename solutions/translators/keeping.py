"""Trained translators as bytes, for an appendix that tests one and for the page that runs one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import numpy as np
import torch
from safetensors.torch import load, save

from ..data.translation import Vocabulary
from .machines import bottleneck
from .quality_by_length import MACHINES
from .seq2seq import Seq2Seq
from .training import DEVICE, Task

PRECISION = torch.float16
"""The type of the stored weights: half the size of float32, with three digits."""

ABOUT = "machine"
"""The metadata key of a translator's name and vocabularies, stored as JSON with its weights."""


Machine = Callable[[int, int], Seq2Seq]

KINDS: dict[str, Machine] = {
    "bottleneck": bottleneck,
    **{name: machine for name, (machine, _, _) in MACHINES.items()},
}
"""Name of a translator that can be stored -> the function that makes an untrained one."""

TIED = "decoder.read_out.to_logits.weight", "decoder.embedding.weight"
"""A matrix with two names; the second name is stored."""


def as_bytes(name: str, task: Task, state: Mapping[str, np.ndarray]) -> bytes:
    """Return a trained translator as safetensors, for `from_bytes`.

    name: a key of KINDS. task: contains the vocabularies. state: name -> weights. The same
    translator gives the same bytes. That is why there is only one metadata key: safetensors writes
    several keys in random order.
    """
    sides = (task.source_vocabulary, task.target_vocabulary)
    about = {"name": name, "vocabularies": [list(one.tokens) for one in sides]}
    kept = {
        key: torch.from_numpy(array).to(PRECISION)
        for key, array in state.items()
        if key != TIED[0] or TIED[1] not in state
    }
    return save(kept, {ABOUT: json.dumps(about, sort_keys=True)})


def from_bytes(data: bytes) -> tuple[Seq2Seq, Task]:
    """Return the trained translator, and its task without the pairs."""
    length = int.from_bytes(data[:8], "little")  # of the JSON header
    header = json.loads(data[8 : 8 + length])
    about = json.loads(header["__metadata__"][ABOUT])
    source, target = (Vocabulary(tokens) for tokens in about["vocabularies"])
    model = KINDS[about["name"]](len(source), len(target))
    state = {name: one.to(torch.float32) for name, one in load(data).items()}
    if TIED[0] in model.state_dict():
        state[TIED[0]] = state[TIED[1]]
    model.load_state_dict(state)
    return model.to(DEVICE).eval(), Task((), source, target)
