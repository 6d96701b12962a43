"""Test that chapter 9's page trains like the experiment that is run over seeds."""

from pathlib import Path

import jupytext
import torch

from solutions.data.translation.vocabulary import PAD
from solutions.experiments.transformer import own
from solutions.translators.quality import held_out_pairs
from solutions.translators.quality_by_length import LANGUAGE

PAGE = Path(__file__).parents[4] / "book" / "transformer.md"


def test_the_page_trains_as_the_experiment_does(monkeypatch, capsys):
    cells = [cell.source for cell in jupytext.read(PAGE).cells if cell.cell_type == "code"]
    imports = cells[0]
    loop = next(cell for cell in cells if "optimiser.step()" in cell)
    assert f"STEPS, BATCH = {own.STEPS}, {own.BATCH}" in loop
    monkeypatch.setattr(own, "STEPS", 3)
    shown: dict = {}
    exec(f"{imports}\n{loop.replace('STEPS, BATCH = 400', 'STEPS, BATCH = 3')}", shown)
    _, _, losses = own.train_own(0.1, 0)
    assert len(losses) == 3
    assert shown["losses"] == losses


def test_two_trainings_of_a_seed_differ_only_in_smoothing(monkeypatch):
    monkeypatch.setattr(own, "STEPS", 1)
    machines = [own.train_own(smoothing, seed=4) for smoothing in (0.0, 0.1)]
    (plain, first, _), (smooth, second, _) = machines
    assert first.pairs == second.pairs
    assert [name for name, _ in plain.named_parameters()] == [
        name for name, _ in smooth.named_parameters()
    ]
    assert machines[0][2] != machines[1][2]


def test_translations_are_written_as_one_sentence_alone_would_be(monkeypatch):
    monkeypatch.setattr(own, "STEPS", 40)
    model, task, _ = own.train_own(0.0, 0)
    pairs = held_out_pairs(LANGUAGE, own.LENGTHS, 10, own.CLAUSES)
    result = []
    for pair in pairs:
        source = torch.from_numpy(task.source_vocabulary.encode(pair.source))[None]
        written = torch.tensor([[1]])
        with torch.no_grad():
            for _ in range(max(len(pair.target) for pair in pairs) + 7):
                best = model(source, written, source != PAD)[:, -1:].argmax(dim=-1)
                written = torch.cat([written, best], dim=1)
        result.append(task.target_vocabulary.decode(written[0].tolist()))
    assert own.write(model, task, pairs) == result
