"""Two widths of `c`: what differs between the machines, and what a run gives."""

import pytest
import torch

from solutions.experiments.context_bottleneck import everything, widths
from solutions.running.seeds import SEEDS


def test_only_what_meets_c_differs():
    narrow, wide = (
        {name: p.shape for name, p in widths.machine(50, 60, width).named_parameters()}
        for width in widths.WIDTHS
    )
    assert {name for name in narrow if narrow[name] != wide[name]} == {
        "encoder.squeeze.weight",
        "encoder.squeeze.bias",
        "decoder.to_state.weight",
        "decoder.rnn.weight_ih_l0",
        "decoder.read_out.to_embedding.weight",
    }


def test_the_decoder_knows_the_source_by_c_alone():
    torch.manual_seed(0)
    model = widths.machine(50, 60, 8).eval()
    sources, lengths = torch.randint(4, 50, (2, 5)), torch.tensor([5, 3])
    assert model.encode(sources, lengths).context.shape == (2, 8)


def test_the_rate_rises_and_then_halves_with_four_times_the_steps():
    rates = [widths.rate(step) for step in range(1000)]
    peak = rates.index(max(rates))
    assert max(rates) == pytest.approx(1)
    assert rates[: peak + 1] == sorted(rates[: peak + 1])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert rates[799] == pytest.approx(rates[199] / 2)


def test_a_short_run_fills_every_field(monkeypatch):
    monkeypatch.setattr(widths, "CHECKPOINTS", (1, 2))
    monkeypatch.setattr(widths, "SENTENCES", 3)
    found = widths.measure(0)
    assert tuple(found) == widths.WIDTHS
    for run in found.values():
        assert len(run.learning) == 2
        assert len(run.by_length) == len(widths.LENGTHS)
        assert run.seconds > 0


def test_every_experiment_is_run_with_every_seed(monkeypatch):
    monkeypatch.setattr(everything, "over_seeds", lambda run, jobs: [run(job) for job in jobs])
    for name in everything.EXPERIMENTS:
        monkeypatch.setitem(everything.EXPERIMENTS, name, lambda seed, name=name: (name, seed))
    done = everything.run_all()
    assert list(done) == list(everything.EXPERIMENTS)
    for name, runs in done.items():
        assert [one.found for one in runs] == [(name, seed) for seed in SEEDS]
