"""Compare the translators that run in a page with the same translators in PyTorch."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from book._ext.live_models import packed
from solutions.data.translation import Pair
from solutions.translators.machines import TRANSFORMER_SIZES
from solutions.translators.seq2seq import Memory, Seq2Seq
from solutions.translators.training import Task, tensors

STEPS = Path(__file__).parents[1] / "web" / "live" / "steps.mjs"


def in_the_page(
    weights: bytes, cases: Sequence[dict[str, Any]], folder: Path, kernel: str = "wasm"
) -> list[dict[str, Any]]:
    """Return the page's report on each case; see steps.mjs for the fields of a case."""
    model, request = folder / "machine.model", folder / "cases.json"
    model.write_bytes(packed(weights))
    request.write_text(json.dumps(cases), encoding="utf-8")
    command = ["node", str(STEPS), str(model), str(request), kernel]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    reports: list[dict[str, Any]] = json.loads(done.stdout)
    return reports


def read_case(task: Task, pair: Pair) -> dict[str, Any]:
    """Return the case in which the reference is read and nothing is changed."""
    _, _, targets = tensors(task.batch([pair]))
    return {"source": pair.source, "target": targets[0, :-1].tolist(), "changed": {}}


@torch.no_grad()
def largest_error(
    model: Seq2Seq, task: Task, pairs: Sequence[Pair], reports: Sequence[dict[str, Any]]
) -> float:
    """Return the largest difference of a logit from PyTorch's, over all steps of all pairs."""
    errors = []
    for pair, report in zip(pairs, reports, strict=True):
        sources, lengths, targets = tensors(task.batch([pair]))
        expected, _ = model(sources, lengths, targets[:, :-1])
        logits = torch.tensor([step["logits"] for step in report["steps"]])
        errors.append((logits - expected[0]).abs().max())
    return float(torch.stack(errors).max())


def hiding(model: Seq2Seq, hidden: Sequence[int]) -> None:
    """Forbid the decoder to look at some positions of every source."""

    def encode(sources: Tensor, lengths: Tensor) -> Memory:
        memory = model.encoder(sources, lengths)
        mask = memory.mask.clone()
        mask[:, list(hidden)] = False
        return Memory(memory.states, mask, memory.context)

    model.encode = encode  # type: ignore[method-assign]


def without_head(model: Seq2Seq, block: int, head: int) -> None:
    """Make one of the Transformer's cross-attention heads read nothing."""
    weight = model.decoder.stack.blocks[block].cross_attention.W_o.weight
    width = weight.shape[1] // TRANSFORMER_SIZES["n_heads"]
    with torch.no_grad():
        weight[:, head * width : (head + 1) * width] = 0
