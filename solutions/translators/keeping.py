"""Trained machines as bytes: for an appendix that asks one, and for the page in which one runs."""

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
"""In which the weights are kept: half of the size, and three digits of each."""

ABOUT = "machine"
"""The key of what is kept of a machine beside its weights: its name and vocabularies, as JSON."""


Machine = Callable[[int, int], Seq2Seq]

KINDS: dict[str, Machine] = {
    "bottleneck": bottleneck,
    **{name: machine for name, (machine, _, _) in MACHINES.items()},
}
"""What can be kept, by the name under which it is: how an untrained one is made."""

TIED = "decoder.read_out.to_logits.weight", "decoder.embedding.weight"
"""One matrix under two names, of which the second is kept."""


def as_bytes(name: str, task: Task, state: Mapping[str, np.ndarray]) -> bytes:
    """Return what `from_bytes` needs to have a trained machine again: safetensors.

    name: one of KINDS. task: its vocabularies. state: its weights by their names. The same machine
    gives the same bytes: safetensors writes metadata of several keys in an order drawn by chance,
    so there is one key.
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
    """Return the trained machine, and its task without the pairs."""
    length = int.from_bytes(data[:8], "little")  # of the header, which is JSON
    header = json.loads(data[8 : 8 + length])
    about = json.loads(header["__metadata__"][ABOUT])
    source, target = (Vocabulary(tokens) for tokens in about["vocabularies"])
    model = KINDS[about["name"]](len(source), len(target))
    state = {name: one.to(torch.float32) for name, one in load(data).items()}
    if TIED[0] in model.state_dict():
        state[TIED[0]] = state[TIED[1]]
    model.load_state_dict(state)
    return model.to(DEVICE).eval(), Task((), source, target)
